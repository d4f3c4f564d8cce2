"""Claims about runbooks: ours are right, the fitting ones are found, and a wrong one is left out."""

import json
import re
from pathlib import Path

import pytest

from copilot.errors import ConfigError
from copilot.tools.catalogue import TOOLS
from policies.runbook import Runbook, Shelf, read_shelf
from policies.runbook_checks import doubts

OURS = (
    "agent-not-submitting",
    "killed-for-memory-or-time",
    "recovery-collection-too-large",
    "site-or-transfer-problem",
    "waiting-on-purpose",
    "work-queue-without-locations",
)
CALL = re.compile(r"`(\w+) (\{.*?\})`(?=[\s,.]|$)", re.MULTILINE)
RULE_CLEANER = {
    "alertname": "ms-rulecleaner: Not archived workflow: user_task_T_201217_222725_8395",
    "service": "ms-rulecleaner", "severity": "medium", "tag": "wmcore",
}  # fmt: skip
"""The labels that the services of the first users send with an alert; so below."""
WATCHDOG = {
    "alertname": "AgentWatchdogScanner", "service": "AgentWatchdogScanner@agent-s4.example.org",
    "severity": "low", "tag": "wmcore",
}  # fmt: skip
NOWHERE = Path("/nonexistent/runbooks")


def shelf() -> Shelf:
    """The runbooks that come with the copilot."""
    return read_shelf(NOWHERE)


def names(runbooks: tuple[Runbook, ...]) -> list[str]:
    return [one.name for one in runbooks]


def skill(folder: Path, name: str, text: str) -> Path:
    """A runbook of a workspace with that text, and the folder of all."""
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return folder


def right(name: str, metadata: str = "") -> str:
    """The text of a runbook that is right."""
    return f"---\nname: {name}\ndescription: d\n{metadata}---\n\nDo this.\n"


def test_every_shipped_runbook_is_right_and_leaves_no_doubt() -> None:
    assert set(OURS) < set(names(shelf().runbooks))
    assert shelf().problems == ()
    assert [doubt for one in shelf().runbooks for doubt in doubts(one, ())] == []


@pytest.mark.parametrize("name", OURS)
def test_a_shipped_runbook_is_short_and_says_all_that_a_person_on_call_needs(name: str) -> None:
    (found,) = (one for one in shelf().runbooks if one.name == name)

    assert 60 <= found.text.count("\n") <= 120
    for heading in (
        "When it applies",
        "What to look at first",
        "How to tell the causes apart",
        "What rules it out",
        "What to report",
        "Who can settle it",
    ):
        assert f"## {heading}\n" in found.text
    assert found.alertnames
    assert found.labels
    assert len(found.description) <= 300


@pytest.mark.parametrize("name", OURS)
def test_every_call_that_a_shipped_runbook_names_is_one_that_its_tool_takes(name: str) -> None:
    (found,) = (one for one in shelf().runbooks if one.name == name)
    by_name = {tool.name: tool for tool in TOOLS}

    calls = CALL.findall(found.text)

    assert len(calls) >= 5
    assert len(calls) == len(re.findall(r"`\w+ \{", found.text))
    for tool, arguments in calls:
        by_name[tool].arguments.model_validate(json.loads(arguments), strict=False)


@pytest.mark.parametrize(
    ("labels", "annotations", "wanted"),
    [
        ({"alertname": "CrabTaskFailing"}, {}, "site-or-transfer-problem"),
        ({"alertname": "X", "exit_code": "60311"}, {}, "site-or-transfer-problem"),
        ({"alertname": "X", "exit_code": "50660"}, {}, "killed-for-memory-or-time"),
        ({"alertname": "X", "component": "JobSubmitterPoller"}, {}, "agent-not-submitting"),
        ({"alertname": "X", "JobExitCode": "60322"}, {}, "site-or-transfer-problem"),
        ({"alertname": "X", "ExitCode": "71305"}, {}, "killed-for-memory-or-time"),
        (RULE_CLEANER, {}, "waiting-on-purpose"),
        (WATCHDOG, {}, "agent-not-submitting"),
        ({"workflow": "user_ACDC0_task_1"}, {}, "recovery-collection-too-large"),
        ({"ticket": "OPS-1", "labels": "tape announced"}, {}, "waiting-on-purpose"),
        ({"runbook": "waiting-on-purpose"}, {}, "waiting-on-purpose"),
        ({}, {"runbook_url": "https://wiki/runbooks/waiting-on-purpose.md"}, "waiting-on-purpose"),
    ],
)
def test_the_fitting_runbook_is_found_by_the_alert(
    labels: dict[str, str], annotations: dict[str, str], wanted: str
) -> None:
    assert names(shelf().fitting(labels, annotations)) == [wanted]


@pytest.mark.parametrize(
    "labels",
    [
        {"alertname": "KubePodCrashLooping", "namespace": "shop"},
        {"alertname": "SiteCertificateExpires"},
        {"alertname": "AgentDown", "component": "scheduler"},
        {"alertname": "HostHighMemoryUsage"},
        {"alertname": "TransferLagHigh", "status": "degraded"},
        {"alertname": "JobFailed", "exit_code": "6"},
        {"labels": "agents queueing unstaged"},
    ],
)
def test_none_fits_an_alert_of_another_world(labels: dict[str, str]) -> None:
    assert shelf().fitting(labels, {}) == ()


@pytest.mark.parametrize(
    ("better", "worse", "why"),
    [
        ("", "alertnames: Stalled", "the alert names it"),
        ("alertnames: Stall*\n  labels: site=*", "alertnames: Stalled", "more labels fit"),
        ("labels: site=*", "alertnames: Stalled", "a label says more than the alert's name"),
        ("alertnames: Stalled", "alertnames: Stal*", "an exact name says more than a pattern"),
        ("labels: site=T2_*", "labels: site=T*", "a longer pattern says more"),
        ("alertnames: Stalled", "alertnames: S*, St*, Stal*", "one label counts once"),
    ],
)
def test_the_better_fit_comes_first(tmp_path: Path, better: str, worse: str, why: str) -> None:
    skill(tmp_path, "worse", right("worse", f"metadata:\n  {worse}\n"))
    skill(tmp_path, "z", right("z", f"metadata:\n  {better}\n" if better else ""))
    labels = {"alertname": "Stalled", "site": "T2_XX", **({} if better else {"runbook": "z"})}

    assert names(read_shelf(tmp_path).fitting(labels, {})) == ["z", "worse"], why


def test_of_equal_fits_the_name_decides_and_each_says_why(tmp_path: Path) -> None:
    for name in ("bb", "aa"):
        skill(
            tmp_path, name, right(name, "metadata:\n  alertnames: Stall*, S*\n  labels: site=*\n")
        )
    labels = {"alertname": "Stalled", "site": "T2"}

    found = read_shelf(tmp_path).fitting(labels, {})

    assert names(found) == ["aa", "bb"]
    assert found[0].fit(labels, {}).why == ("alertname=Stall*", "site=*")


def test_each_label_of_a_ticket_counts(tmp_path: Path) -> None:
    skill(tmp_path, "aa", right("aa", "metadata:\n  labels: labels=tape\n"))
    skill(tmp_path, "bb", right("bb", "metadata:\n  labels: labels=tape, labels=stuck\n"))

    assert names(read_shelf(tmp_path).fitting({"labels": "stuck tape"}, {})) == ["bb", "aa"]


def test_the_runbook_about_one_cause_comes_before_the_general_one() -> None:
    assert names(shelf().fitting({"alertname": "WorkflowStalled"}, {})) == [
        "work-queue-without-locations",
        "stalled-workflow",
    ]


def test_the_folder_of_a_workspace_holds_all_of_its_runbooks(tmp_path: Path) -> None:
    assert read_shelf(tmp_path).runbooks == ()

    own = skill(tmp_path, "own", right("own"))

    assert names(read_shelf(own).runbooks) == ["own"]


def test_a_wrong_runbook_is_left_out_and_the_others_stay(tmp_path: Path) -> None:
    skill(tmp_path, "good", right("good"))
    skill(tmp_path, "bad", "nothing above\n")

    found = read_shelf(tmp_path)

    assert names(found.runbooks) == ["good"]
    assert len(found.problems) == 1
    with pytest.raises(ConfigError, match=r"bad/SKILL.md:1: begin with a front matter"):
        found.check()


def test_every_key_of_the_standard_is_taken(tmp_path: Path) -> None:
    keys = 'license: MIT\ncompatibility: any\nallowed-tools: Read Grep\nmetadata:\n  version: "1"\n'

    read_shelf(skill(tmp_path, "mine", right("mine", keys))).check()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# no front matter\n", "SKILL.md:1: begin with a front matter"),
        ("---\nname: other\ndescription: d\n---\nx\n", "SKILL.md:2: name: 'other' must be 'mine'"),
        ("---\nname: mine\ndescription: d\n---\n\n", "SKILL.md:4: nothing follows"),
        ("---\nname: mine\ndescription: d\nalerts: x\n---\nx\n", "SKILL.md:4: alerts: "),
        (f"---\nname: mine\ndescription: {'d' * 1025}\n---\nx\n", "SKILL.md:3: description: "),
        (right("mine", f"compatibility: {'c' * 501}\n"), "SKILL.md:4: compatibility: "),
        (right("mine", "metadata:\n  labels: site\n"), "SKILL.md:5: metadata.labels: 'site' must"),
        (right("mine") + "x" * (64 << 10), "SKILL.md:1: longer than 65,536 bytes"),
    ],
)
def test_a_wrong_runbook_is_named_with_file_and_line(tmp_path: Path, text: str, says: str) -> None:
    (problem,) = read_shelf(skill(tmp_path, "mine", text)).problems

    assert says in problem


@pytest.mark.parametrize(
    ("metadata", "more", "says"),
    [
        ("", "", "SKILL.md:1: metadata has no alertnames and no labels"),
        (
            "metadata:\n  labels: sitee=*\n",
            "",
            "SKILL.md:5: metadata.labels: no alert so far had a label sitee",
        ),
        (
            "metadata:\n  labels: site=*\n",
            "See [it](../gone/SKILL.md).\n",
            "SKILL.md:9: the link '../gone/SKILL.md' leads nowhere",
        ),
        ("metadata:\n  labels: site=*\n", "x\n" * 500, "SKILL.md:500: 509 lines"),
    ],
)
def test_what_a_person_should_look_at_is_told(
    tmp_path: Path, metadata: str, more: str, says: str
) -> None:
    (found,) = read_shelf(skill(tmp_path, "mine", right("mine", metadata) + more)).runbooks

    (doubt,) = doubts(found, {"alertname", "site"})

    assert says in doubt


def test_a_link_that_leads_somewhere_or_outside_is_no_doubt(tmp_path: Path) -> None:
    links = "[a](../mine/SKILL.md#x) [b](https://example.org/x) [c](#here)\n"
    text = right("mine", "metadata:\n  alertnames: X\n") + links
    (found,) = read_shelf(skill(tmp_path, "mine", text)).runbooks

    assert list(doubts(found, {"site"})) == []
