"""The offline investigator on logbooks that hold the louder troubles of other programs."""

from pathlib import Path

import pytest

from copilot.values import JsonObject, list_at, object_at, text_at

from .made_up import MadeUp
from .mixed import FOREIGN, MIXED, same_minute, three_files
from .test_made_up import cited, investigated


def asserted(report: JsonObject) -> str:
    """The summary, the cause and what followed, with the lines that they cite."""
    claims = [object_at(report, "cause"), *list_at(report, "chain"), *list_at(report, "evidence")]
    texts = [text_at(report, "summary")]
    for claim in claims:
        texts.append(text_at(claim, "claim"))
        texts += [
            f"{text_at(i, 'source')} {text_at(i, 'text')}" for i in list_at(claim, "evidence")
        ]
    return "\n".join(texts)


@pytest.mark.parametrize("incident", MIXED, ids=lambda item: item.name)
def test_nothing_is_told_of_programs_that_share_nothing(incident: MadeUp, tmp_path: Path) -> None:
    _, ending, report = investigated(incident, tmp_path)
    cause = text_at(object_at(report, "cause"), "claim")
    assert incident.says in f"{cause} {ending.report.summary}"
    for text in incident.cites:
        assert text in cited(report)
    for text in (*incident.never, *FOREIGN):
        assert text not in asserted(report)
    assert ending.report.verdict in incident.verdicts
    assert text_at(object_at(report, "cause"), "status") in incident.statuses


@pytest.mark.parametrize("incident", [three_files(), same_minute()], ids=lambda item: item.name)
def test_what_followed_is_told_of_the_alerts_own(incident: MadeUp, tmp_path: Path) -> None:
    _, _, report = investigated(incident, tmp_path)
    assert any("routed late" in text_at(claim, "claim") for claim in list_at(report, "chain"))


def test_other_trouble_is_named_as_not_looked_into(tmp_path: Path) -> None:
    _, _, report = investigated(same_minute(), tmp_path)
    assert any("share nothing" in str(text) for text in list_at(report, "not_checked"))
