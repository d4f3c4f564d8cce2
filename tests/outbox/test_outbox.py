"""A draft is never lost, and changes only as a person says."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from copilot.errors import ConnectorError, NotFoundError, OutboxError, UsageError
from copilot.outbox import Draft, Outbox, Posted
from copilot.redact import Redactor
from tests.bench import NOW

INCIDENT = "inc-1"


def outbox_in(folder: Path) -> Outbox:
    places = {"desk": ("OPS", "grid")}
    return Outbox(folder / "outbox", places, redact=Redactor(b"k").redact, now=lambda: NOW)


def proposed(folder: Path, text: str = "It is the disk.") -> Draft:
    return outbox_in(folder).propose(INCIDENT, "desk", "OPS-7", text)


def posts(draft: Draft) -> Posted:
    return Posted("17", "made")


def refuses(draft: Draft) -> Posted:
    raise ConnectorError("Jira is away")


def must_not_post(draft: Draft) -> Posted:
    raise AssertionError("posted")


def test_a_draft_is_read_back_as_it_was_by_another_process(tmp_path: Path) -> None:
    draft = proposed(tmp_path, "It is the disk.\n\n```\n☃ \x1b[2J\n```")

    assert outbox_in(tmp_path).get(draft.id) == draft
    assert draft.status == "draft"


def test_only_its_owner_may_read_a_draft(tmp_path: Path) -> None:
    draft = proposed(tmp_path)

    assert (tmp_path / "outbox").stat().st_mode & 0o077 == 0
    assert (tmp_path / "outbox" / f"{draft.id}.json").stat().st_mode & 0o077 == 0


def test_the_same_proposal_made_twice_is_one_draft(tmp_path: Path) -> None:
    """A step is done again after a kill."""
    assert proposed(tmp_path) == proposed(tmp_path)
    assert len(outbox_in(tmp_path).listing().drafts) == 1


def test_a_proposal_that_was_rejected_stays_rejected_when_it_is_made_again(tmp_path: Path) -> None:
    outbox_in(tmp_path).reject(proposed(tmp_path).id, "ada", "not now")

    assert proposed(tmp_path).status == "rejected"


def test_a_secret_in_the_text_never_reaches_the_disk(tmp_path: Path) -> None:
    draft = proposed(tmp_path, "use password=hunter2secret")

    assert "hunter2secret" not in draft.text
    assert b"hunter2secret" not in (tmp_path / "outbox" / f"{draft.id}.json").read_bytes()


@pytest.mark.parametrize("key", ["SECRET-1", "OPS", "OPS-7/../SECRET-1", "", "OPS-7\nSECRET-1"])
def test_a_key_out_of_the_configured_projects_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(UsageError):
        outbox_in(tmp_path).propose(INCIDENT, "desk", key, "x")

    assert not (tmp_path / "outbox").exists()


@pytest.mark.parametrize("key", ["OPS-7 ", "ops-7", "GRID-7"])
def test_a_key_is_taken_in_either_case(tmp_path: Path, key: str) -> None:
    draft = outbox_in(tmp_path).propose(INCIDENT, "desk", key, "x")

    assert draft.key == key.strip().upper()


@pytest.mark.parametrize("text", ["", " \n", "```\n```", "```"])
@pytest.mark.bad_input("B023")
def test_a_comment_without_words_is_refused(tmp_path: Path, text: str) -> None:
    """Jira takes no empty text node."""
    with pytest.raises(UsageError, match="no words"):
        proposed(tmp_path, text)


def test_a_model_in_a_loop_fills_no_disk(tmp_path: Path) -> None:
    for number in range(20):
        proposed(tmp_path, f"number {number}")

    with pytest.raises(UsageError, match="a person must look first"):
        proposed(tmp_path, "one more")


def test_a_draft_is_approved_on_disk_before_anything_is_sent(tmp_path: Path) -> None:
    draft = proposed(tmp_path)
    seen = []

    def look(approved: Draft) -> Posted:
        seen.append(outbox_in(tmp_path).get(draft.id))
        return Posted("17", "made")

    decided = outbox_in(tmp_path).approve(draft.id, "ada", look)

    assert [(one.status, one.by) for one in seen] == [("approved", "ada")]
    assert (decided.draft.status, decided.draft.comment, decided.done) == ("posted", "17", "made")
    assert outbox_in(tmp_path).get(draft.id) == decided.draft


def test_approving_twice_changes_nothing(tmp_path: Path) -> None:
    draft = proposed(tmp_path)
    first = outbox_in(tmp_path).approve(draft.id, "ada", posts)

    again = outbox_in(tmp_path).approve(draft.id, "eve", must_not_post)

    assert (again.draft, again.done) == (first.draft, "unchanged")


def test_a_post_that_failed_is_told_and_can_be_tried_again(tmp_path: Path) -> None:
    draft = proposed(tmp_path)

    with pytest.raises(ConnectorError):
        outbox_in(tmp_path).approve(draft.id, "ada", refuses)
    failed = outbox_in(tmp_path).get(draft.id)
    posted = outbox_in(tmp_path).approve(draft.id, "ada", posts).draft

    assert (failed.status, failed.why) == ("failed", "Jira is away")
    assert (posted.status, posted.why) == ("posted", "")


def test_a_rejected_draft_is_kept_and_never_posted(tmp_path: Path) -> None:
    draft = proposed(tmp_path)
    rejected = outbox_in(tmp_path).reject(draft.id, "ada", "wrong, token=hunter2secretvalue")

    with pytest.raises(UsageError, match="rejected by ada"):
        outbox_in(tmp_path).approve(draft.id, "eve", must_not_post)

    assert outbox_in(tmp_path).get(draft.id) == rejected
    assert "hunter2secretvalue" not in rejected.why


@pytest.mark.parametrize("status", ["approved", "posted"])
def test_what_may_be_on_the_ticket_cannot_be_rejected(tmp_path: Path, status: str) -> None:
    draft = proposed(tmp_path)

    def killed(_: Draft) -> Posted:
        raise KeyboardInterrupt

    if status == "posted":
        outbox_in(tmp_path).approve(draft.id, "ada", posts)
    else:
        with pytest.raises(KeyboardInterrupt):
            outbox_in(tmp_path).approve(draft.id, "ada", killed)

    with pytest.raises(UsageError, match="may be on OPS-7"):
        outbox_in(tmp_path).reject(draft.id, "ada")
    assert outbox_in(tmp_path).get(draft.id).status == status


def test_two_decisions_at_once_are_one_and_a_refusal(tmp_path: Path) -> None:
    draft = proposed(tmp_path)

    def decide_again(_: Draft) -> Posted:
        with pytest.raises(OutboxError, match="at this moment"):
            outbox_in(tmp_path).approve(draft.id, "eve", must_not_post)
        return Posted("17", "made")

    assert outbox_in(tmp_path).approve(draft.id, "ada", decide_again).draft.by == "ada"


def test_a_proposal_does_not_wait_for_a_decision(tmp_path: Path) -> None:
    draft = proposed(tmp_path)

    def propose_another(_: Draft) -> Posted:
        return Posted(proposed(tmp_path, "another").id, "made")

    assert outbox_in(tmp_path).approve(draft.id, "ada", propose_another).draft.status == "posted"


def test_a_project_that_was_closed_meanwhile_gets_nothing(tmp_path: Path) -> None:
    draft = proposed(tmp_path)
    narrowed = outbox_in(tmp_path)
    narrowed.places = {"desk": ("GRID",)}

    with pytest.raises(UsageError, match="OPS-7 is not open here"):
        narrowed.approve(draft.id, "ada", must_not_post)


@pytest.mark.parametrize("name", ["0123456789ab", "../../etc", "", "0123456789AB", "x" * 300])
def test_an_unknown_draft_is_told_in_words(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFoundError, match="no such draft"):
        outbox_in(tmp_path).get(name)


def link_to_itself(path: Path) -> None:
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


def as_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:40])


def another_state(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"draft"', b'"granted"'))


def another_id(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(path.stem.encode(), b"0123456789ab"))


@pytest.mark.parametrize("spoil", [link_to_itself, as_a_pipe, half, another_state, another_id])
def test_a_spoilt_file_hides_no_other_and_is_not_posted(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    good, bad = proposed(tmp_path), proposed(tmp_path, "another")
    spoil(tmp_path / "outbox" / f"{bad.id}.json")

    listing = outbox_in(tmp_path).listing()

    assert (listing.drafts, listing.unreadable) == ((good,), (bad.id,))
    with pytest.raises(OutboxError):
        outbox_in(tmp_path).approve(bad.id, "ada", must_not_post)


def test_a_folder_that_cannot_be_written_loses_no_draft(tmp_path: Path) -> None:
    (tmp_path / "outbox").write_text("a file in the way")

    with pytest.raises(OutboxError, match="cannot be written"):
        proposed(tmp_path)


def test_what_a_draft_would_replace_is_known(tmp_path: Path) -> None:
    outbox = outbox_in(tmp_path)
    first, second = proposed(tmp_path), proposed(tmp_path, "another")

    before = outbox.replaced_by(second)
    posted = outbox.approve(first.id, "ada", posts).draft

    assert before is None
    assert outbox.replaced_by(second) == posted
    assert outbox.replaced_by(posted) is None
    assert outbox.replaced_by(replace(second, incident="inc-2")) is None
