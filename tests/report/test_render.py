"""The page says what each piece of evidence is: a line, a search that found nothing, or neither."""

from decimal import Decimal
from pathlib import Path

import pytest

from copilot.report.render import Cost, Page, as_json, as_markdown
from copilot.report.values import Claim, Evidence, Report
from copilot.scratch.store import Scratch


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    """One line as R0001 and one search that found nothing as R0002."""
    scratch = Scratch(tmp_path, "inc-1")
    scratch.put(
        [{"source": "app.log", "line": 4, "message": "cannot resolve host"}],
        tool="search_logbook",
        arguments={},
    )
    scratch.put([], tool="search_logbook", arguments={"text": "disk full", "since": "2026-11-30"})
    return scratch


def page(reference: str, quote: str) -> Page:
    """A page whose one claim has that evidence."""
    evidence = (Evidence(reference=reference, quote=quote),)
    report = Report(
        verdict="inconclusive",
        summary="s",
        evidence=(Claim(claim="it is so", status="likely", evidence=evidence),),
    )
    return Page("inc-1", "t", report, (), "model", "", Cost("m", 1, 1, Decimal(0)))


def test_an_absence_says_what_was_searched(scratch: Scratch) -> None:
    shown = page("R0002", "")

    text = as_markdown(shown, scratch)
    evidence = as_json(shown, scratch)["evidence"]

    call = 'search_logbook {"since":"2026-11-30","text":"disk full"}'
    assert f"R0002: {call}, complete, found nothing" in text
    assert str({"reference": "R0002", "absent": True, "searched": call}) in str(evidence)


@pytest.mark.parametrize(
    ("reference", "quote", "why"),
    [
        ("R0001:1", "no such words", "does not say"),
        ("R0001:9", "cannot resolve", "does not resolve"),
        ("R0009", "", "no result R0009"),
        ("R0001", "cannot resolve", "names a whole result"),
    ],
)
def test_what_can_no_longer_be_shown_is_not_shown_as_an_absence(
    scratch: Scratch, reference: str, quote: str, why: str
) -> None:
    shown = page(reference, quote)

    text = as_markdown(shown, scratch)
    data = str(as_json(shown, scratch)["evidence"])

    assert f"{reference} can no longer be shown (" in text
    assert why in text
    assert "found nothing" not in text
    assert ("unresolved" in data, "absent" in data) == (True, False)


def test_a_swept_line_is_named_as_swept(scratch: Scratch) -> None:
    for file in (scratch.root / scratch.incident).glob("R0001-*.jsonl"):
        file.unlink()

    assert "were swept" in as_markdown(page("R0001:1", "cannot resolve"), scratch)
