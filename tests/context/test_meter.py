"""`usage.csv`: one row a request, all of what was paid, nothing that nobody knows shown as 0."""

import csv
import io
from collections.abc import Sequence
from decimal import Decimal

import pytest

from copilot.context.meter import COLUMNS, TOOLS, usage_csv
from copilot.context.totals import by_source, total
from copilot.context.usage_rows import rows
from copilot.journal import Event
from copilot.ledger import Ledger
from copilot.tools.catalogue import TOOLS as CATALOGUE
from copilot.values import object_at
from tests.context.measured import Written, investigated


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> tuple[Event, ...]:
    """Return the journal of a run on the strict double with clears and compactions."""
    workspace, incident = investigated(tmp_path_factory.mktemp("run"))
    return workspace.events(incident)


def table(events: Sequence[Event]) -> list[dict[str, str]]:
    """The rows of usage.csv by column."""
    return list(csv.DictReader(io.StringIO(usage_csv(events))))


def test_the_run_that_is_measured_cleared_and_compacted(events: Sequence[Event]) -> None:
    assert {"clear", "compact"} <= {event.kind for event in events}


def test_all_rows_together_are_what_the_ledger_says_was_spent(events: Sequence[Event]) -> None:
    spent, found = Ledger(events).spent, total(rows(events))

    assert found.usd == spent.usd
    assert found.usage.prompt + found.usage.output == spent.tokens
    assert sum(Decimal(row["usd"]) for row in table(events)) == spent.usd


def test_every_answer_and_every_summary_asked_for_is_a_row(events: Sequence[Event]) -> None:
    paid = [event for event in events if object_at(event.data, "usage")]

    kinds = [row["kind"] for row in table(events)]

    assert len(kinds) == len(paid)
    assert kinds.count("compaction") == sum(event.kind == "compact" for event in paid) > 0


def test_the_bytes_of_a_turn_are_those_of_its_request(events: Sequence[Event]) -> None:
    sent = [object_at(event.data, "bytes") for event in events if event.kind == "request"]
    turns = [row for row in table(events) if row["kind"] == "turn"]

    found = [sum(int(row[name]) for name in COLUMNS if name.startswith("bytes_")) for row in turns]

    assert found == [sum(int(str(size)) for size in sizes.values()) for sizes in sent]


def test_dollars_by_source_add_up_to_the_cent_and_beyond(events: Sequence[Event]) -> None:
    for row in rows(events):
        assert row.usd_by_source is not None
        assert sum(row.usd_by_source.values()) == row.usd
        assert all(usd >= 0 for usd in row.usd_by_source.values())


def test_a_longer_journal_changes_no_row_before(events: Sequence[Event]) -> None:
    whole = rows(events)

    for end in range(0, len(events), 7):
        part = rows(events[:end])
        assert part == whole[: len(part)]


def test_the_columns_have_every_tool_of_the_catalogue_in_its_order() -> None:
    installed = [tool.name for tool in CATALOGUE]

    assert sorted(installed, key=TOOLS.index) == installed
    assert all(f"bytes_{tool}" in COLUMNS for tool in TOOLS)


def test_a_tool_that_nobody_knows_is_counted_under_other() -> None:
    journal = Written()
    journal.ask(1, system=10, of_some_server=77)
    journal.answer(1, (5, 0, 0, 5))

    assert table(journal.events)[0]["bytes_other"] == "77"


def test_an_unknown_price_is_not_available_and_never_zero() -> None:
    journal = Written("local-model")
    journal.ask(1)
    journal.answer(1, (500, 0, 0, 5), usd=None, model="local-model")

    assert [row["usd"] for row in table(journal.events)] == ["n/a"]
    assert by_source(rows(journal.events)) is None
    assert total(rows(journal.events)).unpriced == 1


def test_rules_cost_nothing_and_say_so() -> None:
    journal = Written("offline")
    journal.ask(1)
    journal.answer(1, usd="0", model="offline")

    assert (table(journal.events)[0]["usd"], table(journal.events)[0]["miss"]) == ("0", "")


def test_an_answer_that_was_cut_off_is_a_row_of_its_own() -> None:
    journal = Written()
    for dropped in (True, False):
        journal.ask(1)
        journal.answer(1, (100, 0, 0, 5), dropped=dropped)

    assert [row["kind"] for row in table(journal.events)] == ["cut", "turn"]


def test_a_try_of_the_endpoint_is_a_row_and_a_source_of_its_own() -> None:
    journal = Written()
    journal.add("support", 0, usage={"input": 40, "output": 1}, usd="0.001")
    journal.ask(1)
    journal.answer(1, (100, 0, 0, 5))

    assert [row["kind"] for row in table(journal.events)] == ["probe", "turn"]
    assert (by_source(rows(journal.events)) or {})["probe"] == Decimal("0.001")


def test_a_name_with_commas_quotes_and_lines_is_one_cell() -> None:
    name = 'a,b "c"\n=1+1'
    journal = Written(name)
    journal.ask(1)
    journal.answer(1, (1, 0, 0, 1), model=name)

    [row] = table(journal.events)

    assert row["model"] == name


@pytest.mark.parametrize("journal", [[], Written().events], ids=["no event", "nothing asked"])
def test_an_investigation_that_asked_nothing_is_a_header(journal: list[Event]) -> None:
    assert usage_csv(journal) == ",".join(COLUMNS) + "\n"
