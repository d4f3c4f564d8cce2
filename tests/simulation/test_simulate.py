"""A recorded investigation is priced anew: what was, comes out as it was; what would be, in order."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copilot.context.usage_rows import Row, rows
from copilot.journal import Event
from copilot.simulation.comparison import of_record, of_simulation
from copilot.simulation.simulate import simulate
from policies.loader import load_policy
from policies.schema import Clearing, Compaction, Policy, ToolPolicy
from tests.simulation.conftest import Record

BUILT_IN = ["default", "off", "server-only", "client-only", "small-window"]


def turns(events: Iterable[Event]) -> list[Row]:
    return [row for row in rows(events) if row.kind == "turn"]


@pytest.mark.parametrize("policy", BUILT_IN)
def test_under_the_recorded_policy_the_recorded_tokens_come_out(
    policy: str, record: Record
) -> None:
    was = record(policy)
    would_be = was.under(policy)

    pairs = list(zip(rows(was.events), rows(would_be.events), strict=True))
    assert [(a.turn, a.kind) for a, _ in pairs] == [(b.turn, b.kind) for _, b in pairs]
    assert all(b.carried == pytest.approx(a.carried, rel=0.01) for a, b in pairs)
    assert all(b.usage.total.output == a.usage.total.output for a, b in pairs)
    recorded, simulated = of_record(was.events), of_simulation(would_be)
    assert float(simulated.total.usd) == pytest.approx(float(recorded.total.usd), rel=0.03)
    assert simulated.total.usage.cache_read == pytest.approx(
        recorded.total.usage.cache_read, rel=0.03
    )
    assert simulated.peak == pytest.approx(recorded.peak, rel=0.01)


@pytest.mark.parametrize("policy", ["default", "off", "client-only"])
def test_every_answer_is_shown_again_as_it_was(policy: str, record: Record) -> None:
    was = record(policy)

    again = was.under(policy)

    assert texts(again.events) == texts(was.events)


def texts(events: Iterable[Event]) -> list[str]:
    return [str(event.data["text"]) for event in events if event.kind == "result"]


@pytest.mark.parametrize("recorded", ["default", "off"])
def test_resending_everything_is_dearer_whichever_way_it_was_recorded(
    recorded: str, record: Record
) -> None:
    was = record(recorded)

    everything, chosen = (of_simulation(was.under(policy)) for policy in ("off", "default"))

    assert everything.total.usd > chosen.total.usd
    assert everything.peak > 2 * chosen.peak
    assert (everything.departures, bool(chosen.departures)) == ((), True)


def test_what_one_policy_would_cost_does_not_depend_on_which_was_recorded(record: Record) -> None:
    one = of_simulation(record("off").under("default"))
    other = of_record(record("default").events)

    assert float(one.total.usd) == pytest.approx(float(other.total.usd), rel=0.1)
    assert one.peak == pytest.approx(other.peak, rel=0.15)


def test_levers_are_priced_apart(record: Record) -> None:
    levers = {one.lever: one for one in of_simulation(record("off").under("default")).levers}

    assert levers["offload"].saved
    assert levers["clearing"].saved
    assert levers["clearing"].broken > 0
    assert levers["clearing"].net_usd is not None


def test_a_later_turn_that_needed_what_had_left_is_named(record: Record) -> None:
    needed = {one.needed_for: one for one in record("off").under("default").departures}

    assert needed["R0004"].needed_in > needed["R0004"].turn
    assert needed["/store/31.root"].handle in {"R0004", "R0005"}


def test_what_is_marked_first_leaves_first_where_the_copilot_clears(record: Record) -> None:
    was = record("off")
    calm = load_policy("default").model_copy(
        update={"compaction": Compaction(by="off"), "clearing": Clearing(by="off")}
    )
    last = turns(was.under(calm).events)[-1].carried
    late = Clearing(by="client", trigger_tokens=last - 100, keep=1, at_least_tokens=1)
    marked = calm.model_copy(update={"clearing": late})
    plain = ToolPolicy(inline_tokens=1800)
    unmarked = marked.model_copy(update={"tools": {**marked.tools, "read_scratch": plain}})

    first, any_order = was.under(marked).departures, was.under(unmarked).departures

    assert {gone.tool for gone in first} == {"read_scratch"}
    assert {gone.tool for gone in any_order} == {"search_logbook", "read_scratch"}


def test_a_window_that_fills_ends_the_simulation_and_says_in_which_turn(record: Record) -> None:
    small = load_policy("off").model_copy(update={"window": load_policy("small-window").window})

    would_be = record("default").under(small)

    assert not would_be.is_whole
    assert any(
        remark.startswith("ends early, turn ") and "takes 8000" in remark
        for remark in would_be.remarks
    )


def test_tools_that_were_used_and_would_not_be_offered_are_named(record: Record) -> None:
    few = load_policy("default").model_copy(update={"offer": ("submit_report", "search_logbook")})

    would_be = record("default").under(few)

    assert "used and not offered: read_scratch, record_finding" in would_be.remarks


def test_swept_rows_leave_the_answers_as_they_were_recorded(record: Record) -> None:
    was = record("default")

    would_be = simulate(was.events, lambda _: None, was.terms("off"))

    assert would_be.remarks[0].startswith("answers that are as they were recorded")
    assert texts(would_be.events)[0] == texts(was.events)[0]


def test_a_run_by_rules_is_priced_with_an_assumed_endpoint(record: Record) -> None:
    was = record("default", "offline")

    would_be = simulate(was.events, was.rows, was.terms("default", "claude-sonnet-5-5"))

    assert of_record(was.events).total.usd == 0
    assert of_simulation(would_be).total.usd > 0
    assert would_be.remarks[0].startswith("recorded by rules")


def test_other_prices_change_dollars_and_nothing_else(record: Record) -> None:
    was = record("off")

    cheap = simulate(was.events, was.rows, was.terms("off", "claude-sonnet-5"))
    dear = simulate(was.events, was.rows, was.terms("off", "claude-opus-5"))

    assert [row.carried for row in turns(cheap.events)] == [
        row.carried for row in turns(dear.events)
    ]
    assert of_simulation(cheap).total.usd < of_simulation(dear).total.usd


def test_a_model_without_a_price_is_simulated_without_dollars(record: Record) -> None:
    was = record("off")

    would_be = of_simulation(simulate(was.events, was.rows, was.terms("off", "local-7b")))

    assert would_be.total.unpriced == would_be.total.requests


policies = st.builds(
    lambda trigger, keep, least, limits, by: Policy(
        name="any",
        turn_tokens=limits[0],
        other_tools=ToolPolicy(inline_tokens=limits[1], pointer_tokens=limits[2]),
        clearing=Clearing(by=by[0], trigger_tokens=trigger, keep=keep, at_least_tokens=least),
        compaction=Compaction(by=by[1], trigger_tokens=trigger + limits[0]),
    ),
    st.integers(0, 30_000),
    st.integers(1, 10),
    st.sampled_from(["auto", 0, 500, 5000]),
    st.tuples(st.integers(1, 9000), st.integers(0, 9000), st.integers(0, 2000)),
    st.tuples(
        st.sampled_from(["auto", "server", "client", "off"]),
        st.sampled_from(["auto", "server", "client", "off"]),
    ),
)


@given(policy=policies)
@settings(max_examples=10)
def test_no_policy_changes_the_record_or_sends_what_the_service_refuses(
    policy: Policy, record: Record
) -> None:
    was = record("default")
    bytes_before, events_before = was.journal.read_bytes(), dumped(was.events)

    one, two = was.under(policy), was.under(policy)

    assert one.events == two.events
    assert (was.journal.read_bytes(), dumped(was.events)) == (bytes_before, events_before)
    assert one.is_whole, one.remarks
    assert len(turns(one.events)) == len(turns(was.events))


def dumped(events: Iterable[Event]) -> str:
    return json.dumps([event.line() for event in events])
