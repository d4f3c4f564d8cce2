"""Inline or pointer: what the model sees of one answer, decided by the tool's policy. Pure.

The body is on disk either way, under its handle, so that nothing placed here is the only copy.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from connectors.templates import TemplateMiner
from copilot.safe_text import safe_text
from copilot.tools.base import Outcome
from copilot.values import Json, JsonObject, compact
from copilot.window import iso
from policies.schema import ToolPolicy

BYTES_PER_TOKEN = 2.5
"""A safe guess for logs and JSON; characters/4 undercounts them by a third."""
MESSAGE_CHARACTERS = 360
SAMPLE_CHARACTERS = 200
TEMPLATE_CHARACTERS = 160
FIELD_CHARACTERS = 80
FIELDS_SHOWN = 6
"""Fields of an entry that are shown beside the well-known ones; scratch has them all."""
WELL_KNOWN = frozenset({
    "time", "time_flag", "level", "source", "line", "record", "message",
    "key", "status", "updated", "part", "author", "id", "title",
    "template", "count", "baseline", "lift", "first_seen", "last_seen", "in_sources", "vanished",
    "field", "entries", "values",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Placed:
    """What the model reads of an answer: all rows, or a `pointer` to them."""

    text: str
    placement: str
    """`inline` or `pointer`."""
    tokens: int


def tokens_of(text: str) -> int:
    """An upper guess of the tokens in *text*."""
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


def place(tool: str, outcome: Outcome, handle: str, policy: ToolPolicy, budget: int) -> Placed:
    """The answer as the model will read it, in at most about *budget* tokens."""
    head = _envelope(tool, outcome, handle)
    if policy.placement != "offload" or not outcome.stored:
        # Whole texts where they fit, else their beginnings: a chunk that is read is read whole.
        for cut in (False, True):
            rows = _rows(outcome, handle, cut=cut)
            text = compact(head | {"rows": rows} if rows else head)
            tokens = tokens_of(text)
            if tokens <= min(policy.inline_tokens, budget) or not rows:
                return Placed(text, "inline", tokens)
    if not outcome.rows:
        text = compact(head)
        return Placed(text, "inline", tokens_of(text))
    text = compact(_pointer(head, outcome, handle, policy, min(policy.pointer_tokens, budget)))
    return Placed(text, "pointer", tokens_of(text))


def _envelope(tool: str, outcome: Outcome, handle: str) -> JsonObject:
    """The same keys in the same order for every tool."""
    head: JsonObject = {"ok": outcome.ok, "tool": tool, "scope": outcome.scope}
    if outcome.total is not None:
        head["total"] = outcome.total.value
        if outcome.total.relation != "exact":
            head["total_is"] = outcome.total.relation
    if outcome.ok:
        head["complete"] = not outcome.why_incomplete
    if outcome.why_incomplete:
        head["why_incomplete"] = outcome.why_incomplete
    if outcome.stored:
        head |= {"handle": handle, "lines": len(outcome.rows)}
    if outcome.first and outcome.last:
        head["range"] = [iso(outcome.first), iso(outcome.last)]
    if outcome.instruction_like:
        head["instruction_like"] = outcome.instruction_like
    if outcome.facts:
        head["facts"] = outcome.facts
    if outcome.hint:
        head["hint"] = outcome.hint
    return head


def _pointer(
    head: JsonObject, outcome: Outcome, handle: str, policy: ToolPolicy, budget: int
) -> JsonObject:
    """The envelope with the first and last rows and a digest, as far as the budget goes."""
    left = budget - tokens_of(compact(head))
    rows = _rows(outcome, handle, cut=True)
    if not outcome.stored:
        shown = _fitting(rows, left)
        return head | {"shown": f"{len(shown)} of {len(rows)} rows", "rows": shown}
    shown = _fitting(rows[: policy.top_hits], left)
    left -= sum(tokens_of(compact(row)) for row in shown)
    tail = rows[max(len(shown), len(rows) - policy.tail) :] if policy.tail else []
    tail = _fitting(tail, left) if left > 0 else []
    left -= sum(tokens_of(compact(row)) for row in tail)
    digest = _fitting(_digest(outcome.rows, handle, policy.digest), left) if left > 0 else []
    head["shown"] = f"{len(shown) + len(tail)} of {len(rows)} rows; all are in scratch"
    head["rows"] = shown + tail
    if digest:
        head["digest"] = digest
    return head


def _digest(rows: Sequence[JsonObject], handle: str, count: int) -> list[Json]:
    """The most frequent templates of the rows' messages: a screenful that stands for them all.

    The message is read out of a row of JSON, unless that spells characters as escapes: what those
    hide has passed no gate. A blank before it keeps the row as it stands.
    """
    if not count:
        return []
    miner = TemplateMiner()
    seen: dict[int, list[int]] = {}
    for line, row in enumerate(rows, start=1):
        message = str(row.get("message", ""))
        told = f" {message}" if "\\u" in message else message
        seen.setdefault(miner.add(told), []).append(line)
    ranked = sorted(seen.items(), key=lambda item: (-len(item[1]), item[1][0]))[:count]
    return [
        {
            "count": len(lines),
            "template": _cut(safe_text(miner.text(number)), TEMPLATE_CHARACTERS),
            "ref": f"{handle}:{lines[0]}",
        }
        for number, lines in ranked
    ]


def _rows(outcome: Outcome, handle: str, *, cut: bool) -> list[Json]:
    """The rows as they are shown; a view of stored rows was cut by its own tool."""
    if not outcome.stored:
        return list(outcome.rows)
    return [
        {"ref": f"{handle}:{number}", **_shown(row, cut=cut)}
        for number, row in enumerate(outcome.rows, start=1)
    ]


def _shown(row: JsonObject, *, cut: bool) -> JsonObject:
    """One row: the well-known names, a few of its fields; long texts *cut* with a mark."""
    shown: JsonObject = {}
    extra = 0
    # A template says most of its message already.
    limit = SAMPLE_CHARACTERS if "template" in row else MESSAGE_CHARACTERS if cut else None
    for key, value in row.items():
        if value in (None, "", [], {}):
            continue
        if key in WELL_KNOWN:
            shown[key] = _cut(value, limit) if isinstance(value, str) and limit else value
        elif extra < FIELDS_SHOWN and len(compact(value)) <= FIELD_CHARACTERS:
            shown[key] = value
            extra += 1
    return shown


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 20]}… [{len(text)} chars]"


def _fitting(rows: Sequence[Json], tokens: int) -> list[Json]:
    """The first rows that fit into *tokens*, at least one."""
    fitting: list[Json] = []
    for row in rows:
        tokens -= tokens_of(compact(row)) + 1
        if tokens < 0 and fitting:
            break
        fitting.append(row)
    return fitting
