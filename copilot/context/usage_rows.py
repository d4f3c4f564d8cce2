"""One row a request that was paid for: what it carried, what it cost, what the levers did to it.

A fold over the journal and the price table, and nothing else. The tokens and dollars of all rows
together are what the ledger says was spent.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Literal

from copilot.context import misses
from copilot.context.costs import by_source
from copilot.context.misses import Sent
from copilot.context.savings import Act, Lever, Savings, parts_of
from copilot.context.view import Piece, View
from copilot.journal import Event
from copilot.models.usage import Usage
from copilot.values import Json, JsonObject, list_at, object_at, text_at

Kind = Literal["turn", "cut", "compaction", "probe", "task"]
FIXED = ("tools", "system")
"""What every request begins with, in the service's order."""


@dataclass(frozen=True, slots=True)
class Row:
    """One request. Sizes and savings are of this request alone; nothing is summed up."""

    turn: int
    time: datetime
    model: str
    kind: Kind
    """cut: paid for and never used. compaction: asked for a summary. probe: tried the endpoint.
    task: all requests of a sub-investigation, which has its own journal."""
    usage: Usage
    usd: Decimal | None
    bytes: Mapping[str, int] = field(default_factory=dict)
    """By source: system, tools, alert, state, conversation, summary, and each tool by its name."""
    usd_by_source: Mapping[str, Decimal] | None = None
    """The prompt's share of each source, and `answer`. None when the prices are not known."""
    estimate: int | None = None
    """Ours, before sending."""
    stop_reason: str = ""
    ms: int | None = None
    acts: tuple[Act, ...] = ()
    """What the levers did since the request before."""
    applied: tuple[JsonObject, ...] = ()
    """What the service says that it cleared from this request."""
    saved: Mapping[Lever, int | None] = field(default_factory=dict)
    """Tokens that the request would have carried more without that lever."""
    broken: int = 0
    """Tokens that were in the cache and had to be written to it again."""
    miss: str = ""
    """The cause of that, see `misses`."""
    miss_reported: str = ""

    @property
    def carried(self) -> int:
        """The tokens of its prompt: of the first sampling, where a summary was made on the way."""
        return self.usage.billed[0].prompt

    @property
    def per_byte(self) -> float:
        """Tokens a byte of this request, as the service counted them."""
        size = sum(self.bytes.values())
        return self.carried / size if size else 0.0

    @property
    def compactions(self) -> tuple[Usage, ...]:
        """The samplings that made a summary."""
        found = tuple(one for one in self.usage.billed if one.kind == "compaction")
        return found or ((self.usage.total,) if self.kind == "compaction" else ())


def rows(events: Iterable[Event]) -> list[Row]:
    """A row for each request of *events*, oldest first."""
    meter = Meter()
    return [row for row in map(meter.add, events) if row]


class Meter:
    """The fold: `add` takes events in order and gives the row of those that were paid for."""

    def __init__(self) -> None:
        self._view = View()
        self._savings = Savings()
        self._model = ""
        self._sizes: dict[str, int] = {}
        self._sent_at: datetime | None = None
        self._before: Sent | None = None
        self._acts: list[Act] = []
        self._between: list[str] = []
        self._added = 0
        """Bytes that came to the view since the request before."""

    def add(self, event: Event) -> Row | None:
        """Take in *event*; the row, when it is the answer to a request."""
        data = event.data
        if event.kind == "started":
            self._model = text_at(data, "model")
        if event.kind == "request":
            found = object_at(data, "bytes")
            self._sizes = {key: _number(found, key) for key in found}
            self._sent_at = event.time
        row = self._row(event) if object_at(data, "usage") else None
        change = self._savings.add(event, self._view)
        self._added += change.added_bytes
        if change.act:
            self._acts.append(change.act)
            self._between.append(change.act.lever)
        self._between.append(event.kind)
        return row

    def _row(self, event: Event) -> Row:
        """The row of *event*, which is not in the view yet: its request did not hold it."""
        price = text_at(event.data, "usd")
        known = price not in ("", "None")
        row = Row(
            turn=event.turn,
            time=event.time,
            model=text_at(event.data, "model") or self._model,
            kind=_kind(event),
            usage=usage_of(event.data),
            usd=Decimal(price) if known else None,
            estimate=_known(event.data, "estimate"),
            stop_reason=text_at(event.data, "stop_reason"),
            ms=_known(event.data, "ms"),
            miss_reported=misses.reported(event),
        )
        match event.kind:
            case "response":
                return self._answered(row, event)
            case "compact":
                keep_from = _number(event.data, "keep_from")
                older = [piece for piece in self._view.pieces if piece.turn < keep_from]
                return self._priced(replace(row, bytes=self._sizes_of(older)), older)
            case _:
                return replace(row, usd_by_source=None if row.usd is None else {row.kind: row.usd})

    def _answered(self, row: Row, event: Event) -> Row:
        """The row of a turn, and a new beginning for what the next one is compared with."""
        self._model = row.model
        now = misses.sent(row.model, self._sent_at or event.time, row.usage)
        row = replace(
            self._priced(replace(row, bytes=self._sizes), self._view.pieces),
            acts=tuple(self._acts),
            applied=tuple(one for one in list_at(event.data, "applied") if isinstance(one, dict)),
            miss=misses.cause(self._before, now, self._between),
        )
        if self._before and row.miss not in ("", "not_cached"):
            lost = self._before.cached - now.read
            rewritten = now.cached - now.read - int(self._added * row.per_byte)
            row = replace(row, broken=max(0, min(lost, rewritten)))
        saved = {
            lever: None if size is None else round(size * row.per_byte)
            for lever, size in self._savings.bytes.items()
        }
        self._before, self._acts, self._between, self._added = now, [], [], 0
        return replace(row, saved=saved)

    def _sizes_of(self, pieces: Sequence[Piece]) -> dict[str, int]:
        """Bytes by source of a request that carries these pieces."""
        sizes = {name: self._sizes.get(name, 0) for name in FIXED}
        for source, size in parts_of(pieces, self._view):
            sizes[source] = sizes.get(source, 0) + size
        return sizes

    def _priced(self, row: Row, pieces: Sequence[Piece]) -> Row:
        fixed = [(name, row.bytes.get(name, 0)) for name in FIXED]
        parts = [*fixed, *parts_of(pieces, self._view)]
        return replace(row, usd_by_source=by_source(parts, row.model, row.usage, row.usd))


def usage_of(data: JsonObject) -> Usage:
    """The tokens of an answer as the journal keeps them."""
    usage = object_at(data, "usage")
    entries = tuple(_counts(entry) for entry in list_at(usage, "iterations"))
    return replace(_counts(usage), iterations=entries)


def _counts(entry: Json) -> Usage:
    return Usage(
        input=_number(entry, "input"),
        cache_read=_number(entry, "cache_read"),
        cache_write=_number(entry, "cache_write"),
        output=_number(entry, "output"),
        cache_write_1h=_number(entry, "cache_write_1h"),
        kind=text_at(entry, "kind") or "message",
    )


def _number(entry: Json, key: str) -> int:
    return int(text_at(entry, key) or 0)


def _known(entry: Json, key: str) -> int | None:
    return int(text) if (text := text_at(entry, key)) else None


def _kind(event: Event) -> Kind:
    if event.kind == "compact" or text_at(event.data, "stop_reason") == "compaction":
        return "compaction"
    if event.kind == "support":
        return "probe"
    if event.kind == "result":
        return "task"
    return "cut" if event.data.get("dropped") else "turn"
