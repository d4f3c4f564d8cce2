"""What the model sees of the journal: pieces in order, some cleared, the oldest summarised. Pure.

A piece is what one event adds. Clearing and compaction change the view, never the journal: a
cleared result keeps its place, since a call must stay answered, and is one call away by its handle.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from copilot.fence import fenced
from copilot.journal import Event
from copilot.models.model import Json, Response, assistant_message, verdict
from copilot.values import JsonObject, compact, list_at, object_at, text_at

THOUGHTS = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class Piece:
    """The blocks that one event adds to the conversation."""

    role: str
    source: str
    """alert, conversation, state, or the tool whose result it is."""
    turn: int
    blocks: tuple[Json, ...]
    call: str = ""
    """The id of the call that it answers."""
    bytes: int = field(init=False)

    def __post_init__(self) -> None:
        size = sum(len(compact(block).encode("utf-8", "replace")) for block in self.blocks)
        object.__setattr__(self, "bytes", size)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One answered call, as clearing looks at it. `freed` is what its body takes, in bytes."""

    call: str
    tool: str
    turn: int
    bytes: int
    is_cleared: bool


class View:
    """The pieces that a run of events adds up to. Fed event by event; reading changes nothing."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.pieces: list[Piece] = []
        self.is_closed = False
        """No more tools: the next answer is the last."""
        self.is_paused = False
        """The last answer goes back as it is, and nothing after it."""
        self.cleared_by_server: set[str] = set()
        self.clear_up_to = 0
        """How many of the oldest tool uses the service is told to clear."""
        self.signed_block: Json | None = None
        self.set_aside: list[Piece] = []
        """What a summary within an answer replaced, until its tail is put back."""
        self.joints: tuple[str, ...] = ()
        """Calls before whose results a cache mark pays, after a clearing and until the next answer:
        up to the first one cleared the cache still holds, at the first one kept the next clearing
        will begin."""
        self.last_message_id = ""
        self.mark = ""
        """Of the fence around what the tools answer."""
        self._alert: Piece | None = None
        """Said again whenever a conversation begins anew without a summary of the service's."""
        self._bytes: dict[str, int] = {}
        self._hash = hashlib.sha256()
        for event in events:
            self.add(event)

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes by source, without what the service clears."""
        return {source: size for source, size in self._bytes.items() if size}

    @property
    def digest(self) -> str:
        """The SHA-256 over all pieces ever added: equal digests mean equal views."""
        return self._hash.copy().hexdigest()

    def add(self, event: Event) -> None:
        """Take in one event; kinds that say nothing to the model change nothing."""
        data = event.data
        match event.kind:
            case "started":
                self.mark = text_at(data, "mark")
                self._alert = _text("user", "alert", 0, text_at(data, "message"))
                self._say(self._alert)
            case "response" if not data.get("dropped"):
                self._answered(event)
            case "result":
                self._say(_result(event, self.mark))
            case "nudge" | "limit":
                self.is_closed |= event.kind == "limit"
                self._say(_text("user", "conversation", event.turn, text_at(data, "text")))
            case "state":
                self._say(_text("user", "state", event.turn, text_at(data, "text")))
            case "clear":
                self._clear(data)
                self._say(_text("user", "state", event.turn, text_at(data, "state")))
            case "compact" if not data.get("failed"):
                self._compact(event)
                self._say(_text("user", "state", event.turn, text_at(data, "state")))
            case _:
                pass

    def as_read(self) -> list[Piece]:
        """The pieces that the model reads: without results whose bodies the service clears."""
        return [piece for piece in self.pieces if piece.call not in self.cleared_by_server]

    def tool_uses(self) -> Iterator[ToolUse]:
        """Every answered call that is still in the view, oldest first."""
        for piece in self.pieces:
            if piece.call:
                cleared = piece.call in self.cleared_by_server or _is_placeholder(piece)
                yield ToolUse(piece.call, piece.source, piece.turn, piece.bytes, cleared)

    def _answered(self, event: Event) -> None:
        response = Response(event.data["raw"])  # type: ignore[arg-type]  # theirs, as received
        blocks = tuple(assistant_message(response)["content"])
        turn = event.turn
        self.joints = ()
        self.last_message_id = text_at(event.data["raw"], "id")
        if blocks and blocks[0].get("type") == "compaction":
            # The service reads nothing before its own summary: what is older leaves the request.
            self.set_aside = list(self.pieces)
            self._drop_before(len(self.pieces))
            turn = 0  # it stands for older turns than those that will follow it
        self._say(Piece("assistant", "conversation", turn, blocks))
        self.is_paused = bool(blocks) and verdict(response) == "pause"

    def _clear(self, data: JsonObject) -> None:
        """Empty the results named: by the service, or here by a placeholder."""
        named = [str(call) for call in list_at(data, "calls")]
        calls = set(named)
        self.joints = tuple(filter(None, (*named[:1], text_at(data, "next"))))
        if text_at(data, "by") == "server":
            self.cleared_by_server |= calls
            self.clear_up_to = int(text_at(data, "up_to"))
            for piece in self.pieces:
                if piece.call in calls:
                    self._count(piece.source, -piece.bytes)
            return
        if self.cleared_by_server:
            self._take_back()
        placeholders = object_at(data, "placeholders")
        for number, piece in enumerate(self.pieces):
            if piece.call in calls:
                self._swap(number, emptied(piece, text_at(placeholders, piece.call)))

    def _take_back(self) -> None:
        """The service does not clear after all: its share counts again until we clear it."""
        for piece in self.pieces:
            if piece.call in self.cleared_by_server:
                self._count(piece.source, piece.bytes)
        self.cleared_by_server.clear()
        self.clear_up_to = 0

    def _compact(self, event: Event) -> None:
        """Replace what is older than the kept turns by a summary, or by the service's block."""
        data = event.data
        keep_from = int(text_at(data, "keep_from"))
        if text_at(data, "by") == "threshold":
            for piece in self.set_aside:
                if piece.turn >= keep_from:
                    self._say(piece)
            self.set_aside.clear()
            return
        kept = [piece for piece in self.pieces if piece.turn >= keep_from and piece.turn > 0]
        if data.get("strip_thinking"):
            kept = [piece for piece in map(_told, kept) if piece.blocks]
        self._drop_before(len(self.pieces))
        self.signed_block = object_at(data, "block") or None
        if self.signed_block:
            self._say(Piece("assistant", "summary", 0, (self.signed_block,)))
        else:
            if self._alert:
                self._say(self._alert)
            self._say(_text("user", "summary", 0, text_at(data, "summary")))
        for piece in kept:
            self._say(piece)

    def _say(self, piece: Piece) -> None:
        if not piece.blocks:
            return
        self.is_paused &= piece.role == "assistant"
        self.pieces.append(piece)
        self._count(piece.source, piece.bytes)
        for block in piece.blocks:
            self._hash.update(compact(block).encode("utf-8", "replace"))

    def _swap(self, number: int, piece: Piece) -> None:
        self._count(piece.source, piece.bytes - self.pieces[number].bytes)
        self.pieces[number] = piece
        self._hash.update(f"cleared {piece.call}".encode())

    def _drop_before(self, count: int) -> None:
        for piece in self.pieces[:count]:
            if piece.call not in self.cleared_by_server:
                self._count(piece.source, -piece.bytes)
        del self.pieces[:count]
        self.cleared_by_server.clear()
        self.clear_up_to = 0

    def _count(self, source: str, size: int) -> None:
        self._bytes[source] = self._bytes.get(source, 0) + size


def emptied(piece: Piece, placeholder: str) -> Piece:
    """The result's piece with the placeholder as its body."""
    return replace(piece, blocks=(piece.blocks[0] | {"content": placeholder},))


def joined(pieces: Iterable[Piece]) -> list[Json]:
    """The pieces as messages; neighbours of one role are one, as the service would join them."""
    messages: list[Json] = []
    for piece in pieces:
        if messages and messages[-1]["role"] == piece.role:
            messages[-1]["content"] += piece.blocks
        else:
            messages.append({"role": piece.role, "content": list(piece.blocks)})
    return messages


def _text(role: str, source: str, turn: int, text: str) -> Piece:
    blocks = ({"type": "text", "text": text},) if text else ()
    return Piece(role, source, turn, blocks)


def _result(event: Event, fence: str) -> Piece:
    data = event.data
    block: Json = {
        "type": "tool_result",
        "tool_use_id": data["call"],
        "content": fenced(text_at(data, "text"), fence),
    }
    mark = {} if data.get("ok", True) else {"is_error": True}
    return Piece("user", text_at(data, "tool"), event.turn, (block | mark,), text_at(data, "call"))


def _is_placeholder(piece: Piece) -> bool:
    return str(piece.blocks[0].get("content", "")).startswith('{"cleared":')


def _told(piece: Piece) -> Piece:
    """The piece as words of ours.

    Bound thoughts cannot follow another beginning, and a round of calls may not go without them.
    """
    texts = [text for block in piece.blocks for text in _words(block)]
    blocks: list[Json] = [{"type": "text", "text": text} for text in texts if text]
    return replace(piece, role="user", blocks=tuple(blocks), call="")


def _words(block: Json) -> Iterator[str]:
    match block.get("type"):
        case "text":
            yield str(block["text"])
        case "tool_use":
            yield compact({"called": block["name"], "arguments": block["input"]})
        case "tool_result":
            yield str(block["content"])
        case _:
            pass
