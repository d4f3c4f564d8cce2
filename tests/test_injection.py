"""Text that speaks to the model is flagged, in any dress; logs and tickets are not."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot.injection import folded, is_instruction_like, sign
from copilot.safe_text import safe_text
from copilot.values import Json
from tests.injection_held_out import SPLIT, attacks, harmless
from tests.injection_phrases import DISGUISED, HARMLESS, PHRASES, PLAIN

ROOT = Path(__file__).resolve().parents[1]
MOST = 0.001
"""The share of lines of public logs that may be flagged."""


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_text_that_speaks_to_the_model_is_flagged_hidden_signs_shown_or_not(phrase: str) -> None:
    assert len(PHRASES) >= 60
    assert is_instruction_like(phrase)
    assert is_instruction_like(safe_text(phrase))
    assert is_instruction_like(f"2026-11-30 10:00:00 ERROR mover: user-agent said\n{phrase}\nend")


def test_the_attacks_that_were_written_blind_are_flagged_but_for_a_few() -> None:
    """A floor, not a promise: these texts have been read since. docs/explanation has the figures."""
    one = [attack for attack in attacks() if attack.kind != SPLIT]
    missed = [attack.rows for attack in one if not is_instruction_like(safe_text(attack.rows[0]))]

    assert len(one) == 115
    assert len(missed) <= 7, missed


def test_hardly_a_harmless_line_full_of_the_same_words_is_flagged() -> None:
    flagged = [line for line in harmless() if is_instruction_like(safe_text(line))]

    assert len(harmless()) == 264
    assert len(flagged) <= 2, flagged


@pytest.mark.parametrize("text", HARMLESS)
def test_what_operators_write_is_not_flagged(text: str) -> None:
    assert not is_instruction_like(text)


def test_hardly_a_line_of_public_logs_is_flagged(shared_data: Path) -> None:
    logs = (shared_data / "loghub").glob("*.log")
    lines = [line for log in logs for line in log.read_text(errors="replace").splitlines()]

    flagged = [line for line in lines if is_instruction_like(line)]

    assert len(lines) >= 12_000
    assert len(flagged) <= MOST * len(lines), flagged[:5]


def test_no_public_ticket_or_log_of_a_real_incident_is_flagged(shared_data: Path) -> None:
    files = [
        path
        for folder in ("threads", "jira", "alerts", "cms_wmcore", "nezha")
        for path in sorted((shared_data / folder).rglob("*"))
        if path.suffix in (".json", ".log", ".txt", ".md", ".csv")
    ]

    flagged = [
        line[:200]
        for path in files
        for line in path.read_text(errors="replace").splitlines()
        if is_instruction_like(line)
    ]

    assert files
    assert flagged == []


def test_no_runbook_of_ours_is_flagged() -> None:
    runbooks = sorted((ROOT / "policies" / "runbooks").glob("*/SKILL.md"))

    assert runbooks
    assert [path.parent.name for path in runbooks if is_instruction_like(path.read_text())] == []


def test_a_sign_counts_rows_and_names_what_is_said_beside_them() -> None:
    rows: list[Json] = [
        {"message": "ok"},
        {"message": "fine", PLAIN: 1},
        {"nested": [{"deep": PLAIN}]},
    ]

    assert sign(rows, {"sources": {PLAIN: 3}, "entries": 3}) == {
        "lines": 2,
        "first": 2,
        "in": ["sources"],
    }
    assert sign([{"message": "ok"}], {"hint": "fine"}) == {}


def test_a_hostile_text_costs_no_more_than_its_length() -> None:
    shapes = (
        "a." * 50_000,
        "YWJj" * 25_000,
        "\\u0041" * 16_000,
        "ignore " * 14_000,
        "аa" * 50_000,
        "а" * 60_000,
    )
    begun = time.process_time()

    for shape in shapes:
        is_instruction_like(shape)

    assert time.process_time() - begun < 10


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    is_instruction_like(text)
    sign([{text: text}], {text: [text]})


@given(st.text(alphabet=st.characters(max_codepoint=0x7E, min_codepoint=0x20)))
def test_plain_text_without_escapes_is_looked_at_as_it_is(text: str) -> None:
    assert folded(text.replace("\\", "/")) == text.replace("\\", "/")


def test_every_disguise_hides_the_words_from_a_plain_search() -> None:
    assert [text for text in DISGUISED if "ignore all previous instructions" in text.lower()] == []
