"""What comes back when something left the view: what a lever took, verbatim, once."""

from datetime import UTC, datetime

from copilot.context.restate import loss, restatement, visible
from copilot.context.view import Piece
from copilot.journal import Event, Kind
from copilot.ledger import Ledger
from copilot.notes.sections import RuledOut
from copilot.notes.state import State
from copilot.values import JsonObject

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def ledger(*values: str) -> Ledger:
    """A ledger of an alert that names these tickets, and of one search."""
    folded = Ledger()
    add(folded, "started", {"artifacts": [["ticket", value, 0] for value in values]})
    result: JsonObject = {"call": "a", "tool": "search", "handle": "R0001", "ok": True, "total": 3}
    add(folded, "result", {**result, "arguments": {"text": "x"}, "artifacts": []})
    return folded


def add(folded: Ledger, kind: Kind, data: JsonObject) -> None:
    """One more event."""
    folded.add(Event(1, NOW, kind, 1, data))


def test_what_matters_and_is_gone_is_put_back_with_its_reference() -> None:
    text = restatement(State(), ledger("OPS-1", "OPS-2"), "OPS-2 is here, and R0001")

    assert "OPS-1 (ticket, alert)" in text
    assert "OPS-2" not in text


def test_nothing_gone_puts_nothing_back() -> None:
    assert restatement(State(), ledger("OPS-1"), "OPS-1 R0001") == ""


def test_a_lever_puts_back_only_what_it_took() -> None:
    text = restatement(State(), ledger("OPS-1", "OPS-2"), "", before="OPS-2 R0001")

    assert "OPS-2" in text
    assert "R0001: search" in text
    assert "OPS-1" not in text


def test_a_cause_ruled_out_in_quotes_is_found_where_it_stands() -> None:
    claim = 'the "old" rule is not it'
    block = {"type": "tool_use", "id": "a", "name": "write_notes", "input": {"text": claim}}
    read = visible([Piece("assistant", "conversation", 1, (block,))])

    state = State(ruled_out=(RuledOut(claim),))
    assert "ruled_out" not in restatement(state, ledger(), f"{read} R0001")


def test_numbers_in_arguments_are_read_and_signatures_are_not() -> None:
    blocks = (
        {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"},
        {"type": "tool_use", "id": "toolu_77", "name": "look", "input": {"job": 88120417}},
    )
    read = visible([Piece("assistant", "conversation", 1, blocks)])

    assert "88120417" in read
    assert "c2lnbmVk" not in read
    assert "toolu_77" not in read


def test_a_summary_can_only_lose_what_it_was_given() -> None:
    assert loss(ledger("OPS-1", "OPS-2"), "nothing", "OPS-1 only").as_json()["loss_rate"] == 1.0
    assert loss(ledger("OPS-1", "OPS-2"), "OPS-1", "OPS-1 only").as_json()["loss_rate"] == 0.0
    assert loss(ledger(), "nothing", "").as_json()["loss_rate"] == 0.0
