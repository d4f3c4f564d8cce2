"""A model that says what was said: recorded answers, with the tokens that they would cost now.

A summary is the recorded one where the same was made there. Else it is assumed to take what the
policy allows and to hold every identifier that matters.
"""

from dataclasses import replace

from copilot.context.prompt_cache import PromptCache, blocks_of
from copilot.context.view import View
from copilot.errors import ModelError
from copilot.journal import Event
from copilot.ledger import Ledger
from copilot.models.model import Json, Request, Response
from copilot.models.usage import Usage
from copilot.simulation.recording import Recording
from copilot.values import text_at

CLEARING = "clear_tool_uses_20250919"


class Teller:
    """Answers the requests of one simulated investigation, each with the next recorded answer."""

    def __init__(self, name: str, window: int, recording: Recording, cache: PromptCache) -> None:
        self.name = name
        self.view = View()
        self.ledger = Ledger()
        self.turn = 0
        self.answers: list[Event] | None = None
        """The recorded answers that are still to be given in this turn. None: summaries are."""
        self.assumed = 0
        """How many summaries were made up."""
        self._window = window
        self._recording = recording
        self._cache = cache

    def respond(self, request: Request) -> Response:
        """The next recorded answer of the turn, or a summary. Raises ModelError."""
        if self.answers is None:
            return self._summary(request)
        if not self.answers:
            raise ModelError("nothing more was answered in that turn", kind="broken")
        event = self.answers.pop(0)
        usage = self._used(request, self._recording.per_byte(event))
        usage = replace(usage, output=self._recording.output(event))
        raw = {key: value for key, value in _raw(event).items() if key != "diagnostics"}
        raw["content"] = [
            block for block in raw.get("content") or [] if block.get("type") != "compaction"
        ]
        cleared = len(self._cleared(request))
        applied = [{"type": CLEARING, "cleared_tool_uses": cleared}] if cleared else []
        news = {"usage": _usage(usage), "context_management": {"applied_edits": applied}}
        return Response(raw | news, text_at(event.data, "request_id") or None)

    def count_tokens(self, request: Request) -> int | None:
        """None: nobody can be asked."""
        return None if request else 0

    def _summary(self, request: Request) -> Response:
        """The summary that *request* asks for, paid for like the recorded one."""
        is_block = "compaction" in request.extra
        usage = self._used(request, self._per_byte)
        if usage.prompt + request.max_tokens > self._window:
            raise ModelError("the turns to summarise do not fit the window", kind="too_long")
        known = self._recording.summary(self.turn, "on_demand" if is_block else "client")
        if known is None:
            self.assumed += 1
            known = self._made_up(request.max_tokens), request.max_tokens
        text, output = known
        usage = replace(usage, output=output)
        if text is None:
            return Response({"content": [], "stop_reason": "max_tokens", "usage": _usage(usage)})
        if not is_block:
            content: list[Json] = [{"type": "text", "text": text}]
            return Response({"content": content, "stop_reason": "end_turn", "usage": _usage(usage)})
        block = {"type": "compaction", "content": text, "signature": "simulated"}
        entries = {"iterations": [{"type": "compaction", **_usage(usage)}]}
        return Response({"content": [block], "stop_reason": "compaction", "usage": entries})

    @property
    def _per_byte(self) -> float:
        """Of a request without edits: the last rate, if no placeholder of the service is in it."""
        placeholders = bool(self.view.cleared_by_server)
        return self._recording.plain_per_byte if placeholders else self.ledger.per_byte

    def _used(self, request: Request, per_byte: float) -> Usage:
        return self._cache.use(blocks_of(request, self._cleared(request)), per_byte)

    def _cleared(self, request: Request) -> set[str]:
        """The calls whose results the service clears; it clears nothing that it is not told to."""
        edits = (request.context_management or {}).get("edits", ())
        is_asked = any(edit["type"] == CLEARING for edit in edits)
        return self.view.cleared_by_server if is_asked else set()

    def _made_up(self, tokens: int) -> str:
        """A text of so many tokens that holds what matters."""
        kept = " ".join(item.value for item in self.ledger.important())
        size = int(tokens / self._per_byte)
        return f"An assumed summary. {kept} ".ljust(size, ".")[:size]


def _raw(event: Event) -> Json:
    raw = event.data["raw"]
    assert isinstance(raw, dict)
    return raw


def _usage(usage: Usage) -> Json:
    """The tokens as the service says them."""
    return {
        "input_tokens": usage.input,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_creation": {"ephemeral_1h_input_tokens": usage.cache_write_1h},
        "output_tokens": usage.output,
    }
