"""Claims about runbooks: ours are right, the fitting ones are found, and a wrong one is refused."""

from pathlib import Path

import pytest

from copilot.errors import ConfigError
from policies.runbook import Runbook, fitting, load_runbooks

OURS = (
    "agent-not-submitting",
    "killed-for-memory-or-time",
    "recovery-collection-too-large",
    "site-or-transfer-problem",
    "waiting-on-purpose",
    "work-queue-without-locations",
)


def names(runbooks: tuple[Runbook, ...]) -> list[str]:
    return [one.name for one in runbooks]


def skill(folder: Path, name: str, text: str) -> Path:
    """A runbook of a workspace with that text, and the folder of all."""
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return folder


def test_every_shipped_runbook_is_valid() -> None:
    assert set(OURS) < set(names(load_runbooks()))


@pytest.mark.parametrize("name", OURS)
def test_a_shipped_runbook_is_short_and_says_when_and_what(name: str) -> None:
    (found,) = (one for one in load_runbooks() if one.name == name)

    assert 60 <= found.text.count("\n") <= 120
    for heading in (
        "When it applies",
        "What to look at first",
        "What rules it out",
        "What to report",
    ):
        assert f"## {heading}\n" in found.text
    assert found.alertnames
    assert len(found.description) <= 300


@pytest.mark.parametrize(
    ("labels", "annotations", "wanted"),
    [
        ({"alertname": "CrabTaskFailing"}, {}, "site-or-transfer-problem"),
        ({"alertname": "X", "exit_code": "50660"}, {}, "killed-for-memory-or-time"),
        ({"alertname": "X", "component": "JobSubmitterPoller"}, {}, "agent-not-submitting"),
        ({"runbook": "waiting-on-purpose"}, {}, "waiting-on-purpose"),
        ({}, {"runbook_url": "https://wiki/runbooks/waiting-on-purpose.md"}, "waiting-on-purpose"),
    ],
)
def test_the_fitting_runbook_is_found_by_the_alert(
    labels: dict[str, str], annotations: dict[str, str], wanted: str
) -> None:
    assert wanted in names(fitting(load_runbooks(), labels, annotations))


def test_none_fits_an_alert_of_another_world() -> None:
    assert fitting(load_runbooks(), {"alertname": "KubePodCrashLooping"}, {}) == ()


def test_a_runbook_of_the_workspace_hides_ours(tmp_path: Path) -> None:
    own = skill(tmp_path, OURS[0], f"---\nname: {OURS[0]}\ndescription: our own\n---\nDo this.\n")

    assert "our own" in [one.description for one in load_runbooks(own)]
    assert names(load_runbooks(own)) == names(load_runbooks())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# no front matter\n", "SKILL.md:1: begin with a front matter"),
        ("---\nname: other\ndescription: d\n---\nx\n", "SKILL.md:2: name: 'other' must be 'mine'"),
        ("---\nname: mine\ndescription: d\n---\n\n", "SKILL.md:4: nothing follows"),
        ("---\nname: mine\ndescription: d\nalerts: x\n---\nx\n", "SKILL.md:4: alerts: "),
        (f"---\nname: mine\ndescription: {'d' * 1025}\n---\nx\n", "SKILL.md:3: description: "),
        (
            "---\nname: mine\ndescription: d\nmetadata:\n  labels: site\n---\nx\n",
            "SKILL.md:5: metadata.labels: 'site' must be name=value",
        ),
    ],
)
def test_a_wrong_runbook_is_refused_with_file_and_line(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_runbooks(skill(tmp_path, "mine", text))

    assert says in str(caught.value)
