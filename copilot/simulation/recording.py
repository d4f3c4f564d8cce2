"""What a journal says of the run that was, as far as another policy would not have changed it."""

from collections.abc import Sequence

from copilot.context.instructions import SUMMARISED
from copilot.context.usage_rows import usage_of
from copilot.fence import unfenced
from copilot.journal import Event
from copilot.ledger import GUESS_PER_BYTE
from copilot.models.support import Support, from_json
from copilot.values import JsonObject, compact, object_at, text_at

RULES = "offline"
"""The model that is none: its answers cost nothing, and no endpoint stood behind it."""
ASSUMED = Support(clear_tool_uses=True, on_demand=True)
"""The endpoint of a model that was never asked."""
LEAST_PER_BYTE, MOST_PER_BYTE = 0.1, 1.0


class Recording:
    """The recorded run."""

    def __init__(self, events: Sequence[Event]) -> None:
        begun = events[0].data if events else {}
        self.by_rules = text_at(begun, "model") == RULES
        self._per_byte = _rates(events)
        self._compactions = [event for event in events if event.kind == "compact"]

    def support(self, event: Event) -> Support:
        """What the endpoint can do by itself; for rules, what a usual one can.

        A summary within an answer is told as one on demand: both are paid for alike.
        """
        if self.by_rules:
            return ASSUMED
        found = from_json(event.data)
        if found.threshold and not found.on_demand:
            return found.but({"on_demand": True, "threshold": False})
        return found

    def per_byte(self, response: Event) -> float:
        """Tokens a byte of the request that *response* answers, as the service counted them."""
        return self._per_byte.get(response.seq, GUESS_PER_BYTE)

    @property
    def plain_per_byte(self) -> float:
        """The same before anything was cleared: later rates count the service's placeholders in."""
        return next(iter(self._per_byte.values()), GUESS_PER_BYTE)

    def output(self, response: Event) -> int:
        """The tokens of that answer, without those of summaries made on the way."""
        billed = usage_of(response.data).billed
        counted = sum(entry.output for entry in billed if entry.kind != "compaction")
        said = compact(object_at(response.data, "raw").get("content"))
        return counted or round(len(said.encode("utf-8", "replace")) * self.per_byte(response))

    def summary(self, turn: int, by: str) -> tuple[str | None, int] | None:
        """The text and tokens of the summary made before *turn*; no text when it failed."""
        for event in self._compactions:
            if event.turn == turn and text_at(event.data, "by") == by:
                output = usage_of(event.data).total.output
                return _text_of(event.data), output
        return None


def _text_of(data: JsonObject) -> str | None:
    block, text = object_at(data, "block"), text_at(data, "summary")
    told = unfenced(text.removesuffix(f"\n{SUMMARISED}"))
    return text_at(block, "content") or told or None


def _rates(events: Sequence[Event]) -> dict[int, float]:
    """Tokens a byte by the sequence number of each answer."""
    found: dict[int, float] = {}
    size, rate = 0, GUESS_PER_BYTE
    for event in events:
        if event.kind == "request":
            sizes = object_at(event.data, "bytes")
            size = sum(int(text_at(sizes, key)) for key in sizes)
        if event.kind == "response":
            counted = int(text_at(event.data, "context") or 0)
            if counted and size:
                rate = min(max(counted / size, LEAST_PER_BYTE), MOST_PER_BYTE)
            found[event.seq] = rate
    return found
