"""Whether a request may be sent: the rules that the service would answer with a 400.

Checked here before each send, so that a mistake of ours is found at home and never poisons a
conversation. Source of the rules: the Messages API's tool-use and error pages.
"""

from collections.abc import Sequence

from copilot.errors import CopilotError, ModelError
from copilot.models.model import Json, Request

MAX_BYTES = 30_000_000
RESULT = "tool_result"


class InvalidRequestError(CopilotError):
    """The request builder broke a rule of the service; the text names the rule and the message."""


def check(request: Request, *, window: int, estimate: int, paused: bool = False) -> None:
    """Return when *request* may be sent. Raises InvalidRequestError naming the first fault.

    Raises ModelError of kind `too_long`, with numbers, when it does not fit the *window*; that and
    *estimate*, our upper guess, are tokens. A *paused* answer goes back as it is: only then the
    last message is the assistant's.
    """
    for fault in (
        *_turns(request.messages, paused),
        *_pairs(request.messages),
        *_texts(request.messages),
    ):
        raise InvalidRequestError(f"the request would be refused: {fault}")
    if request.size > MAX_BYTES:
        raise InvalidRequestError(f"the request has {request.size} bytes; {MAX_BYTES} are allowed")
    if estimate > window - request.max_tokens:
        raise ModelError(
            f"the request has about {estimate} tokens and asks for {request.max_tokens} more; "
            f"{request.model} takes {window}. Use a tighter policy or a model with a larger window",
            kind="too_long",
        )


def _turns(messages: Sequence[Json], paused: bool) -> list[str]:
    if not messages or not _may_begin(messages[0]):
        return ["the first message is not the user's"]
    faults = [
        f"messages.{number} repeats the role {message['role']}"
        for number, message in enumerate(messages[1:], start=1)
        if message["role"] == messages[number - 1]["role"]
    ]
    if messages[-1]["role"] != ("assistant" if paused else "user"):
        faults.append("the last message is the assistant's")
    return faults


def _may_begin(message: Json) -> bool:
    """A conversation begins with the user's words, or with the service's summary of older ones."""
    first = message["content"][0] if message["content"] else {}
    return message["role"] == "user" or first.get("type") == "compaction"


def _pairs(messages: Sequence[Json]) -> list[str]:
    """Every call is answered in the very next message, results first, nothing twice."""
    faults = []
    asked: list[str] = []
    for number, message in enumerate(messages):
        kinds = [block["type"] for block in message["content"]]
        given = [block["tool_use_id"] for block in message["content"] if block["type"] == RESULT]
        if sorted(asked) != sorted(given):
            faults.append(f"messages.{number} answers calls {given}, asked were {asked}")
        if RESULT in kinds[len(given) :]:
            faults.append(f"messages.{number} has text before a tool result")
        asked = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
    if asked:
        faults.append(f"calls {asked} are not answered")
    return faults


def _texts(messages: Sequence[Json]) -> list[str]:
    return [
        f"messages.{number} has an empty block"
        for number, message in enumerate(messages)
        if not message["content"]
        or any(
            not block.get("text", block.get("content", "x"))
            for block in message["content"]
            if block["type"] in ("text", RESULT)
        )
    ]
