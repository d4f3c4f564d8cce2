"""What is explained is what would happen, and every sum adds up."""

from datetime import UTC, datetime

import pytest

from copilot import prompt
from copilot.context.explain import Explanation, explain
from copilot.context.levers import PLACEHOLDER_BYTES, Outlook, Prices, Span, at_least
from copilot.context.placement import BYTES_PER_TOKEN
from copilot.context.request import Frame
from copilot.context.view import View
from copilot.journal import Event
from copilot.redact import Redactor
from copilot.tools.catalogue import TOOLS
from copilot.tools.registry import Registry
from policies.loader import load_policy
from policies.schema import TOOL_NAMES

NOW = datetime(2026, 11, 30, tzinfo=UTC)
ENVELOPE_BYTES = 60
CLASSIC = Prices(write=3.75, read=0.3)
CHEAP_READS = Prices(write=2.5, read=0.1)


def explained(
    tool: str, size: int, rows: int = 0, policy: str = "default", prices: Prices = CLASSIC
) -> Explanation:
    return explain(tool, (size, rows), framed(policy), prices, 40)


def framed(policy: str) -> Frame:
    tools = Registry(TOOLS, Redactor(b"key")).definitions()
    return Frame("claude-sonnet-4-6", prompt.SYSTEM, tools, 8000, load_policy(policy))


def test_a_large_search_becomes_a_pointer_within_its_budget() -> None:
    found = explained("search_logbook", 40_000)

    assert (found.placement, found.rows) == ("pointer", 133)
    budget = load_policy("default").tool("search_logbook").pointer_tokens
    assert found.shown_tokens <= 1.1 * budget
    assert found.whole_tokens > 10_000


def test_the_rule_that_decides_is_named_with_its_numbers() -> None:
    small, large = explained("get_ticket", 1000), explained("get_ticket", 10_000)

    assert (small.placement, large.placement) == ("inline", "pointer")
    assert "within inline_tokens (1500)" in small.why
    assert "over inline_tokens (1500)" in large.why


def test_off_shows_everything_and_clears_nothing() -> None:
    found = explained("search_logbook", 40_000, policy="off")

    assert (found.placement, found.by, found.bite) == ("inline", "nobody", None)
    assert found.shown_tokens == found.whole_tokens


def test_what_is_protected_is_never_cleared() -> None:
    found = explained("record_finding", 2000)

    assert (found.cleared, found.by) == ("never: clear is never for this tool", "nobody")


def test_what_is_hardly_larger_than_its_placeholder_is_never_cleared() -> None:
    assert explained("search_tickets", 60, 1).cleared.startswith("never: it is hardly larger")


@pytest.mark.parametrize(
    ("policy", "who"),
    [("default", "the service where it can"), ("server-only", "the service; "), ("client-only", "the copilot; ")],
)  # fmt: skip
def test_it_says_who_clears(policy: str, who: str) -> None:
    assert explained("search_logbook", 40_000, policy=policy).by.startswith(who)


@pytest.mark.parametrize(
    ("policy", "tool", "says"),
    [
        ("client-only", "read_scratch", "there; before all others"),
        ("client-only", "read_document", "there; after those marked first"),
        ("client-only", "search_logbook", "there; after those marked first and early"),
        ("default", "read_scratch", "before all others, unless the service clears: oldest first"),
        ("server-only", "read_scratch", "there; the service heeds no clear: first"),
        ("server-only", "search_logbook", "newer results are there"),
    ],
)
def test_it_says_what_goes_before_and_that_the_service_heeds_no_order(
    policy: str, tool: str, says: str
) -> None:
    assert explained(tool, 5000, policy=policy).cleared.endswith(says)


@pytest.mark.parametrize(("prices", "turns"), [(CLASSIC, 11.5), (CHEAP_READS, 24.0)])
def test_a_bite_pays_for_what_is_written_again(prices: Prices, turns: float) -> None:
    bite = explained("search_logbook", 40_000, prices=prices).bite

    assert bite is not None
    assert bite.pays_back == turns
    saved = bite.least * prices.read * bite.turns
    assert saved >= bite.tail * (prices.write - prices.read)


@pytest.mark.parametrize("prices", [CLASSIC, CHEAP_READS])
@pytest.mark.parametrize("size", [3000, 40_000])
def test_the_sum_is_the_one_that_decides(size: int, prices: Prices) -> None:
    """levers.at_least, over a view of such results, one a turn, says the same."""
    found = explained("search_logbook", size, prices=prices)
    bite, frame = found.bite, framed("default")
    assert bite is not None
    results = bite.results
    keep = frame.policy.clearing.keep
    text = "x" * int(found.shown_tokens * BYTES_PER_TOKEN - ENVELOPE_BYTES)
    view = View(
        Event(n, NOW, "result", n, {"call": f"t{n}", "tool": "search_logbook", "text": text})
        for n in range(1, results + keep + 1)
    )
    body = view.pieces[0].bytes
    outlook = Outlook(100_000, 1 / BYTES_PER_TOKEN, 200_000, 40, prices)
    freed = int((body - PLACEHOLDER_BYTES) * results / BYTES_PER_TOKEN)

    said = at_least(view, frame, outlook, Span("t1", freed, results))

    assert said == pytest.approx(bite.least, rel=0.05)


def test_a_bite_that_the_policy_fixes_is_taken_from_it() -> None:
    bite = explained("search_logbook", 40_000, policy="small-window").bite

    assert bite is not None
    assert (bite.least, bite.is_auto) == (800, False)


@pytest.mark.parametrize("tool", [*TOOL_NAMES, "other_tools"])
@pytest.mark.parametrize("size", [1, 300, 40_000])
@pytest.mark.parametrize("policy", ["default", "off", "small-window"])
def test_every_tool_can_be_explained_at_every_size(tool: str, size: int, policy: str) -> None:
    found = explained(tool, size, policy=policy)

    assert 0 < found.shown_tokens <= found.whole_tokens + 200
    assert found.why
