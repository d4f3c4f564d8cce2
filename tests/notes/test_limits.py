"""A STATE.md has a largest size, and what was folded to keep it is counted."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from copilot.notes.limits import fit
from copilot.notes.page import Aside
from copilot.notes.sections import Artifact, Done, Finding, Moment
from copilot.notes.state import State, parse, render

START = datetime(2026, 1, 31, tzinfo=UTC)
LARGE = State(
    artifacts=tuple(Artifact("host", f"node{n}", "R0001:1", count=n) for n in range(50)),
    findings=tuple(
        Finding(f"finding {n}", "possible" if n % 2 else "confirmed") for n in range(50)
    ),
    already_done=tuple(Done(f"search {n} {'x' * 300}") for n in range(100)),
    timeline=tuple(Moment(START + timedelta(seconds=n), f"moment {n}") for n in range(50)),
)
ROOM = 20_000


def size(state: State) -> int:
    """Return the bytes of the page."""
    return len(render(state).encode())


def test_a_small_page_is_left_alone() -> None:
    """Nothing is folded before it must be."""
    assert fit(LARGE) is LARGE


def test_the_oldest_searches_go_first_and_are_counted() -> None:
    """What was done is missed least."""
    fitted = fit(LARGE, ROOM)

    assert size(fitted) <= ROOM
    assert fitted.already_done == LARGE.already_done[-len(fitted.already_done) :]
    assert fitted.folded["already_done"] == 100 - len(fitted.already_done)
    assert fitted.timeline == LARGE.timeline
    assert fitted.findings == LARGE.findings


def test_what_was_folded_is_still_counted_after_reading_it_again() -> None:
    """The count is in the page, and folding goes on from it."""
    once = fit(LARGE, ROOM)
    again = parse(render(once))

    assert again == once
    more = replace(again, already_done=(*again.already_done, Done("y" * 400)))
    assert fit(more, ROOM).folded["already_done"] > once.folded["already_done"]
    assert "entries are in this file's history" in render(once)


def test_artifacts_seen_least_and_findings_least_sure_go_first() -> None:
    """Where everything must shrink, the best stays."""
    fitted = fit(LARGE, 4_000)

    assert size(fitted) <= 4_000
    assert min(one.count for one in fitted.artifacts) >= 30
    assert all(one.status == "confirmed" for one in fitted.findings)


def test_an_operators_lines_are_never_folded_and_stay_in_place() -> None:
    """Her line stood between two entries; it stands between what is left of them."""
    hers = Aside("already_done", 95, "called Ann " * 3000)
    fitted = fit(replace(LARGE, asides=(hers,)), ROOM)

    (kept,) = fitted.asides
    assert kept.text == hers.text
    assert fitted.already_done[kept.after] == LARGE.already_done[95]


def test_the_smallest_room_still_holds_a_page() -> None:
    """Nothing is left to fold, and nothing fails."""
    fitted = fit(LARGE, 10)

    assert fitted.findings == ()
    assert parse(render(fitted)) == fitted
