"""What a policy would do with a result of some size, and the sums behind it. Pure.

The result is made up, of log lines of one length; it is placed by the code that places real ones,
so that what is said here is what would happen.
"""

from dataclasses import dataclass
from typing import Literal

from connectors.logbook import Count
from copilot.context.bite_sum import SmallestBite, smallest_bite
from copilot.context.levers import PLACEHOLDER_BYTES, RANKS, Prices
from copilot.context.placement import BYTES_PER_TOKEN, place, tokens_of
from copilot.context.request import Frame
from copilot.context.room import fixed_tokens
from copilot.tools.base import Outcome
from copilot.values import JsonObject, compact
from policies.schema import Policy, ToolPolicy

ROW_BYTES = 300
"""A log line of the usual length, with its fields."""
HANDLE = "R0007"
VIEWS = frozenset(
    {"read_scratch", "search_scratch", "read_notes", "write_notes", "record_finding",
     "submit_report"}
)  # fmt: skip
"""Tools that answer with parts of what is kept elsewhere; their answers get no handle."""
TEMPLATES = (
    "copied /store/data/run{n}/file{n}.root in {n} ms",
    "cannot open /store/data/run{n}/file{n}.root",
    "job {n} waits for its input",
    "retry {n} of 3",
    "accepted job {n}",
    "closed connection {n}",
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would happen to the result. Tokens are our upper guess."""

    tool: str
    bytes: int
    rows: int
    placement: Literal["inline", "pointer"]
    why: str
    whole_tokens: int
    """What all rows take, long texts cut as they are shown."""
    shown_tokens: int
    """What the model reads at first."""
    shows: str
    cleared: str
    by: str
    bite: SmallestBite | None
    """None where nothing is cleared."""


def explain(
    tool: str, size: tuple[int, int], frame: Frame, prices: Prices, turns: int
) -> Explanation:
    """What happens to a result of *tool* of so many (bytes, rows); no rows: as many as usual."""
    stored_bytes, rows = size
    rows = rows or max(1, round(stored_bytes / ROW_BYTES))
    policy = frame.policy.tool(tool)
    outcome = _made_up(stored_bytes, rows, is_stored=tool not in VIEWS)
    room = frame.policy.turn_tokens
    placed = place(tool, outcome, HANDLE, policy, room)
    everything = ToolPolicy(placement="inline", inline_tokens=2_000_000)
    whole = place(tool, outcome, HANDLE, everything, 2_000_000).tokens
    cleared = _cleared(frame, policy, placed.tokens)
    is_cleared = not cleared.startswith("never")
    return Explanation(
        tool=tool,
        bytes=stored_bytes,
        rows=rows,
        placement="inline" if placed.placement == "inline" else "pointer",
        why=_why(policy, whole, room, is_stored=outcome.stored),
        whole_tokens=whole,
        shown_tokens=placed.tokens,
        shows=_shows(placed.text, placed.placement, policy),
        cleared=cleared,
        by=_by_whom(frame.policy) if is_cleared else "nobody",
        bite=smallest_bite(frame.policy, placed.tokens, prices, turns) if is_cleared else None,
    )


def _made_up(stored_bytes: int, rows: int, *, is_stored: bool) -> Outcome:
    """An answer of so many log lines, together about so large."""
    lines: list[JsonObject] = []
    for number in range(1, rows + 1):
        row: JsonObject = {
            "time": f"2026-01-31T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z",
            "level": "ERROR" if number % 6 == 1 else "INFO",
            "source": "app.log",
            "line": number,
            "message": TEMPLATES[number % 6].format(n=number),
        }
        missing = stored_bytes // rows - len(compact(row)) - 1
        row["message"] = f"{row['message']} {'x' * missing}".strip()
        lines.append(row)
    return Outcome(rows=tuple(lines), total=Count(rows), stored=is_stored)


def _why(policy: ToolPolicy, whole: int, room: int, *, is_stored: bool) -> str:
    """Which rule decides between inline and pointer."""
    if policy.placement == "offload" and is_stored:
        return "placement: offload, however small it is"
    limit = min(policy.inline_tokens, room)
    name = "inline_tokens" if policy.inline_tokens <= room else "turn_tokens"
    sign = "over" if whole > limit else "within"
    return f"placement: {policy.placement}; {whole} tokens are {sign} {name} ({limit})"


def _shows(text: str, placement: str, policy: ToolPolicy) -> str:
    """What of the rows the model sees, in words."""
    if placement == "inline":
        return "every row, long texts cut with a mark"
    parts = [f"the first {policy.top_hits} rows" if policy.top_hits else "no row"]
    parts += [f"the last {policy.tail}"] if policy.tail else []
    parts += [f"{policy.digest} templates of the messages with counts"] if policy.digest else []
    budget = f"as far as {policy.pointer_tokens} tokens go"
    taken = tokens_of(text)
    return f"handle, count, range; {', '.join(parts)}, {budget} ({taken} are taken)"


def _cleared(frame: Frame, policy: ToolPolicy, tokens: int) -> str:
    """When the shown text may leave the request; begins with `never` where it stays."""
    clearing = frame.policy.clearing
    if clearing.by == "off":
        return "never: the policy clears nothing"
    if policy.clear == "never":
        return "never: clear is never for this tool"
    if tokens * BYTES_PER_TOKEN <= 2 * PLACEHOLDER_BYTES:
        return "never: it is hardly larger than the line that would stand in its place"
    return (
        f"when the request passes {clearing.trigger_tokens} tokens ({fixed_tokens(frame)} of them "
        f"are system and tools), it was answered, and {clearing.keep} newer results are there"
        f"{_rank(frame.policy, policy)}"
    )


def _rank(policy: Policy, tool: ToolPolicy) -> str:
    """Whose results go before its own, where that is for us to say."""
    before = RANKS[: RANKS.index(tool.clear)]
    marked = {one.clear for one in [*policy.tools.values(), policy.other_tools]}
    if policy.clearing.by == "server":
        return "" if tool.clear == "normal" else f"; the service heeds no clear: {tool.clear}"
    if not marked & set(RANKS[:-1]):
        return ""
    order = f"after those marked {' and '.join(before)}" if before else "before all others"
    unless = "" if policy.clearing.by == "client" else ", unless the service clears: oldest first"
    return f"; {order}{unless}"


def _by_whom(policy: Policy) -> str:
    match policy.clearing.by:
        case "auto":
            return "the service where it can, else the copilot"
        case "server":
            return "the service; where it cannot, nobody"
        case _:
            return "the copilot; where thoughts are bound to what was before them, nobody"
