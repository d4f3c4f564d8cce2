"""What the double will say: replies, and the ways in which a call can go wrong."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.doubles.messages_api.refusal import Json


@dataclass(frozen=True, slots=True)
class Status:
    """The call is refused with this status, as the service or something before it does."""

    status: int
    type: str
    message: str = "scripted"
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset before any byte of an answer."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """A 200 whose body is not a message: a proxy's HTML page, or JSON cut short."""

    body: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class Cut:
    """The answer breaks off after so many events.

    `error` is the type of a last `error` event. Without it a `clean` end looks like the end of a
    healthy stream, and an unclean one drops the connection.
    """

    after: int
    clean: bool = True
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Drip:
    """A healthy answer, each event so many seconds after the one before."""

    seconds: float


Fault = Status | Reset | Bytes | Cut | Drip
Reply = Json
Turn = Reply | Callable[[Json], Reply] | Fault

HTML = Bytes(b"<html><body>Sign in to the network</body></html>", "text/html")
TRUNCATED = Bytes(b'{"id": "msg_01", "type": "message", "content": [{"ty', "application/json")


def says(text: str, *, stop_reason: str = "end_turn", **more: object) -> Reply:
    """A reply of one text."""
    return {"content": [{"type": "text", "text": text}], "stop_reason": stop_reason, **more}


def calls(*pairs: tuple[str, object], text: str = "", stop_reason: str = "tool_use") -> Reply:
    """A reply of tool calls, each (name, input), in parallel. The service makes up the ids.

    An input that is a text is streamed as it stands, so that it can be broken JSON.
    """
    said = [{"type": "text", "text": text}] if text else []
    asked = [{"type": "tool_use", "name": name, "input": given} for name, given in pairs]
    return {"content": [*said, *asked], "stop_reason": stop_reason}


def thinks(thought: str, then: Reply) -> Reply:
    """The reply *then* with a thinking block before it. The service signs it."""
    return {**then, "content": [{"type": "thinking", "thinking": thought}, *then["content"]]}


def stops(reason: str, **more: object) -> Reply:
    """A reply without content that stopped for *reason*."""
    return {"content": [], "stop_reason": reason, **more}
