"""A recorded answer as another policy would have shown it. Pure.

The answer is put together again from its rows in scratch and the envelope that the journal holds,
and placed by the code that places new ones. Where its rows are gone it stays as it was recorded.
"""

import json
from collections.abc import Callable, Sequence

from connectors.logbook import Count
from copilot.context.placement import place, tokens_of
from copilot.journal import Event
from copilot.scratch.rows import encode
from copilot.tools.base import Outcome
from copilot.values import Json, JsonObject, compact, list_at, object_at, text_at
from copilot.window import parse_iso
from policies.schema import Policy

Rows = Callable[[str], Sequence[JsonObject] | None]
"""The rows of a handle; None where they were swept."""
LEAST_TOKENS = 200
"""What even the last answer of a turn may take."""


class Placing:
    """Places the answers of one investigation in order, within the turns' budgets."""

    def __init__(self, policy: Policy, rows: Rows) -> None:
        self.as_recorded: list[str] = []
        """Handles and calls whose rows are gone."""
        self._policy = policy
        self._rows = rows
        self._turn = 0
        self._left = 0
        self._texts: dict[str, JsonObject] = {}
        """What was shown of each handle."""

    def again(self, event: Event) -> JsonObject:
        """The data of the result *event* under the policy."""
        if event.turn != self._turn:
            self._turn, self._left = event.turn, self._policy.turn_tokens
        data = self._placed(event.data, max(self._left, LEAST_TOKENS))
        self._left -= int(text_at(data, "tokens") or 0)
        return data

    def _placed(self, data: JsonObject, budget: int) -> JsonObject:
        head, handle = _head(data), text_at(data, "handle")
        if not head or text_at(data, "placement") == "repeat":
            return data
        if "repeat" in head:
            return self._repeated(data, head, handle)
        rows = self._rows(handle) if handle else list_at(head, "rows")
        if rows is None or (not handle and text_at(data, "placement") == "pointer"):
            self.as_recorded.append(handle or text_at(data, "tool"))
            return data
        outcome = _outcome(head, rows, is_stored=bool(handle))
        tool = text_at(data, "tool")
        placed = place(tool, outcome, handle, self._policy.tool(tool), budget)
        self._texts[handle] = json.loads(placed.text)
        size: Json = sum(len(encode(row)) + 1 for row in outcome.rows) if handle else 0
        return data | {
            "placement": placed.placement,
            "tokens": placed.tokens,
            "text": placed.text,
            "bytes": data.get("bytes", size),
        }

    def _repeated(self, data: JsonObject, head: JsonObject, handle: str) -> JsonObject:
        """An answer that was given again whole: it shows what its first one shows."""
        first = self._texts.get(handle) if handle else None
        if first is None:
            return data
        text = compact({"repeat": head["repeat"], **first})
        return data | {"text": text, "tokens": tokens_of(text)}


def _head(data: JsonObject) -> JsonObject:
    """The envelope that was shown; empty where the text is none."""
    try:
        found = json.loads(text_at(data, "text"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _outcome(head: JsonObject, rows: Sequence[Json], *, is_stored: bool) -> Outcome:
    """The answer before it was placed."""
    total, span = head.get("total"), list_at(head, "range")
    relation = text_at(head, "total_is")
    count = None
    if isinstance(total, int):
        count = Count(total, relation) if relation else Count(total)  # type: ignore[arg-type]  # ours
    first, last = (parse_iso(str(time)) for time in span) if len(span) == 2 else (None, None)
    return Outcome(
        scope=object_at(head, "scope"),
        rows=tuple(row for row in rows if isinstance(row, dict)),
        facts=object_at(head, "facts"),
        total=count,
        why_incomplete=text_at(head, "why_incomplete"),
        first=first,
        last=last,
        hint=text_at(head, "hint"),
        instruction_like=object_at(head, "instruction_like"),
        ok=head.get("ok") is True,
        stored=is_stored,
    )
