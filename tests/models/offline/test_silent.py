"""Programs that stop without an error line: said as possible, with what would settle it."""

from pathlib import Path

import pytest

from copilot.values import list_at, object_at, text_at

from .made_up import MadeUp
from .silent import SILENT, stops
from .test_made_up import cited, investigated


@pytest.mark.parametrize("incident", SILENT, ids=lambda item: item.name)
def test_a_stop_is_told_only_where_others_go_on(incident: MadeUp, tmp_path: Path) -> None:
    _, ending, report = investigated(incident, tmp_path)
    cause = text_at(object_at(report, "cause"), "claim")
    assert incident.says in f"{cause} {ending.report.summary}"
    for text in incident.cites:
        assert text in cited(report)
    for text in incident.never:
        assert text not in f"{cause} {ending.report.summary}"
    assert ending.report.verdict in incident.verdicts
    assert text_at(object_at(report, "cause"), "status") in incident.statuses
    assert not ending.page.unsupported


def test_a_stop_says_what_would_settle_it(tmp_path: Path) -> None:
    _, _, report = investigated(stops(), tmp_path)
    assert any("whether it still runs" in str(step) for step in list_at(report, "next_steps"))
