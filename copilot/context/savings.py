"""What each lever kept out of a request. A fold over the journal, in bytes, pure.

The measure is the request that resends everything: each drop in the size of the view is counted to
the lever that caused it, less what it put back. So what was sent and the three savings add up to
resending everything, in whatever order the levers acted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from copilot.context.view import Piece, View
from copilot.journal import Event
from copilot.values import Json, JsonObject, compact, list_at, object_at, text_at

Lever = Literal["offload", "clearing", "compaction"]
LEVERS: tuple[Lever, ...] = ("offload", "clearing", "compaction")


@dataclass(frozen=True, slots=True)
class Act:
    """One time that a lever acted, and what it took out of the view."""

    lever: Lever
    by: str
    """server, client, on_demand, threshold or state."""
    results: int
    freed_bytes: int
    """Less what came back in its place."""
    failed: bool = False

    @property
    def name(self) -> str:
        """`clearing:client`, as usage.csv writes it; a summary that failed says so."""
        return f"{self.lever}:{self.by}{':failed' if self.failed else ''}"


@dataclass(frozen=True, slots=True)
class Change:
    """What one event did to the view: what it added at the end, and the lever that acted."""

    added_bytes: int
    act: Act | None = None


class Savings:
    """The bytes that each lever keeps out of the next request. `add` takes events in order."""

    def __init__(self) -> None:
        self.bytes: dict[Lever, int | None] = dict.fromkeys(LEVERS, 0)
        """None where the journal does not say how large an offloaded body is."""

    def add(self, event: Event, view: View) -> Change:
        """Take *event* into *view* and count what that changed."""
        before, results = _size(view), _results(view)
        view.add(event)
        after, gone = _size(view), results - _results(view)
        if event.kind == "result" and text_at(event.data, "placement") == "pointer":
            self._offloaded(event)
        change = _change(event, before, after, gone)
        if change.act:
            lever = change.act.lever
            self.bytes[lever] = (self.bytes[lever] or 0) + change.act.freed_bytes
        return change

    def _offloaded(self, event: Event) -> None:
        """The stored rows, less the pointer that was shown in their place."""
        body, known = text_at(event.data, "bytes"), self.bytes["offload"]
        shown = len(text_at(event.data, "text").encode("utf-8", "replace"))
        self.bytes["offload"] = None if not body or known is None else known + int(body) - shown


def parts_of(pieces: Iterable[Piece], view: View) -> Iterator[tuple[str, int]]:
    """Source and bytes of each of *pieces* of *view*, as the model reads them."""
    for piece in pieces:
        yield piece.source, 0 if piece.call in view.cleared_by_server else piece.bytes


def threshold_block(event: Event) -> Json:
    """The summary that the service made within the answer *event*, or None."""
    first = next(iter(list_at(object_at(event.data, "raw"), "content")), None)
    is_block = text_at(first, "type") == "compaction" and bool(text_at(first, "content"))
    return first if is_block and not event.data.get("dropped") else None


def _change(event: Event, before: int, after: int, gone: int) -> Change:
    data, by = event.data, text_at(event.data, "by")
    match event.kind:
        case "clear":
            cleared = len(list_at(data, "calls"))
            return Change(_put_in(data), Act("clearing", by, cleared, before - after))
        case "compact" if data.get("failed"):
            return Change(0, Act("compaction", by, 0, 0, failed=True))
        case "compact":
            return Change(_put_in(data), Act("compaction", by, gone, before - after))
        case "response" if threshold_block(event):
            freed = before - _bytes(threshold_block(event))
            return Change(after, Act("compaction", "threshold", gone, freed))
        case _:
            return Change(max(0, after - before))


def _put_in(data: JsonObject) -> int:
    """The size of what a lever put in place of what it took."""
    return sum(_bytes(data.get(key)) for key in ("state", "summary", "block") if data.get(key))


def _bytes(value: Json) -> int:
    return len(compact(value).encode("utf-8", "replace"))


def _size(view: View) -> int:
    return sum(view.sizes.values())


def _results(view: View) -> int:
    return sum(bool(piece.call) for piece in view.pieces)
