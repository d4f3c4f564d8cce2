"""The service without its wire: checks a request as the real one does, edits it, and answers.

Nothing here is canned but the words: edits, cache and token counts are computed from the request.
"""

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from tests.doubles.messages_api import cache, clearing, compaction, fields, structure, thinking
from tests.doubles.messages_api.catalog import Kind, kind_of
from tests.doubles.messages_api.compaction import Summariser
from tests.doubles.messages_api.diagnostics import Diagnostics
from tests.doubles.messages_api.issued import Issued
from tests.doubles.messages_api.refusal import Json, Refusal
from tests.doubles.messages_api.script import Fault, Reply, Reset, Status, Turn
from tests.doubles.messages_api.tokens import count, prompt_tokens


@dataclass(frozen=True, slots=True)
class Options:
    """How this service behaves where the real one may differ from day to day."""

    now: Callable[[], float]
    summarise: Summariser = compaction.plain_summary
    failed_summary: str = "max_tokens"
    """The stop reason of an on-demand compaction whose summariser gave None."""
    replays_clearing: bool = False
    """Whether a clearing decision is kept, or taken anew each time: it is not documented."""
    edits: Literal["applied", "refused", "ignored"] = "applied"
    """What becomes of clearing and compaction: gateways refuse them, local servers ignore them."""
    window: int | None = None
    """A smaller window than the model's own."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that passed every rule, and what is left of it after the edits."""

    sent: Json
    view: Json
    """What the model reads."""
    applied: list[Json]
    betas: frozenset[str]
    kind: Kind
    dropped: int
    """Thinking blocks of another conversation, dropped because the request asked for it."""


class Service:
    """One account's service: its script, its prompt cache, what it issued."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.script: deque[Turn] = deque()
        self.responder: Callable[[Json], Reply] | None = None
        self._clearing = clearing.Clearing(replayed=options.replays_clearing)
        self._cache = cache.Cache(options.now)
        self._numbers = itertools.count(1)
        self._issued = Issued()
        self._diagnostics = Diagnostics()
        self._lock = threading.Lock()

    def count(self, body: Json, betas: frozenset[str]) -> Json:
        """The answer of count_tokens: after edits, with the number before them."""
        with self._lock:
            prepared = self._prepare(body, betas, counting=True)
            answer: Json = {"input_tokens": prompt_tokens(prepared.view)}
            if "context_management" in prepared.sent:
                original = prompt_tokens(compaction.after_last_compaction(prepared.sent))
                answer["context_management"] = {"original_input_tokens": original}
            return answer

    def answer(self, body: Json, betas: frozenset[str]) -> tuple[Json, Fault | None]:
        """The message, and the fault that spoils it on the wire. Raises Refusal."""
        with self._lock:
            prepared = self._prepare(body, betas, counting=False)
            fault = self._next_fault()
            if isinstance(fault, Status):
                raise Refusal(
                    fault.message, status=fault.status, type=fault.type, code=fault.code,
                    headers=fault.headers,
                )  # fmt: skip
            if isinstance(fault, Reset):
                return {}, fault
            answer = self._summary if "compaction" in prepared.sent else self._message
            return answer(prepared), fault

    def _prepare(self, body: Json, betas: frozenset[str], *, counting: bool) -> Prepared:
        if self.options.edits == "ignored":
            body, betas = compaction.forgotten(body), frozenset()
        if self.options.edits == "refused":
            compaction.check_absent(body)
        fields.check_betas(betas)
        fields.check_fields(body, betas, counting=counting)
        kind = kind_of(body["model"])
        if not counting:
            fields.check_max_tokens(body, kind)
        fields.check_tools(body)
        fields.check_tool_choice(body, kind)
        structure.check_shape(body["messages"])
        if "compaction" in body:
            compaction.check_summary_request(body, kind)
        resumes = "compaction" in body or self._issued.may_stand_last(body["messages"][-1])
        structure.check_order(body["messages"], may_end_open=kind.prefills or resumes)
        thinking.check_thinking(body, kind, betas)
        self._issued.check_thoughts(body, kind)
        places = thinking.misplaced_thoughts(body, kind, self._issued.prefixes(body))
        kept = thinking.refuse_or_drop(body, places)
        cache.check_breakpoints(body)
        clearing.check_edits(body, betas, thinks=thinking.thinks(body, kind))
        compaction.check_compactions(body, betas)
        view, applied = self._clearing.apply(compaction.after_last_compaction(kept))
        tokens, window = prompt_tokens(view), self.options.window or kind.window
        if tokens > window and not counting:
            raise Refusal(f"prompt is too long: {tokens} tokens > {window} maximum")
        return Prepared(body, view, applied, betas, kind, len(places))

    def _next_fault(self) -> Fault | None:
        """The fault at the head of the script, taken off it; None when a reply stands there."""
        if self.script and isinstance(self.script[0], Fault):
            return self.script.popleft()  # type: ignore[return-value] # narrowed by the line above
        return None

    def _message(self, prepared: Prepared) -> Json:
        """The next reply, after a threshold compaction where one is due."""
        block, iterations = self._threshold(prepared)
        view = prepared.view
        if block is not None:
            if _compact_edit(prepared.sent).get("pause_after_compaction"):
                return self._finished(prepared, [block], "compaction", cache.Counts(0), iterations)
            if block["content"] is not None:
                view = {**view, "messages": [{"role": "assistant", "content": [block]}]}
        reply = self._reply(view) if prepared.sent["max_tokens"] else {"content": []}
        content = [*([block] if block else []), *self._with_ids(reply["content"])]
        content = thinking.signed(content, prepared.sent, self._issued.prefixes(prepared.sent))
        called = any(part["type"] == "tool_use" for part in content)
        reason = reply.get("stop_reason", "tool_use" if called else "end_turn")
        counts = self._cache.use(view, prepared.kind.cache_minimum)
        message = self._finished(prepared, content, reason, counts, iterations)
        message.update({k: v for k, v in reply.items() if k not in ("content", "stop_reason")})
        return message

    def _threshold(self, prepared: Prepared) -> tuple[Json | None, list[Json]]:
        edit = _compact_edit(prepared.sent)
        trigger = (edit.get("trigger") or {"value": 150_000})["value"]
        if not edit or prompt_tokens(prepared.view) <= trigger:
            return None, []
        summary = self.options.summarise(prepared.view, edit.get("instructions"))
        block: Json = {"type": "compaction", "content": summary}
        counts = self._cache.use(prepared.view, prepared.kind.cache_minimum)
        self._issued.compacted(block, prepared.sent)
        return block, [counts.usage(count(block), "compaction")]

    def _summary(self, prepared: Prepared) -> Json:
        """The answer of an on-demand compaction: one signed block, or none when it failed."""
        summary = self.options.summarise(
            prepared.view, prepared.sent["compaction"].get("instructions")
        )
        counts = self._cache.use(prepared.view, prepared.kind.cache_minimum)
        content: list[Json] = []
        if summary is not None:
            prefixes = self._issued.prefixes(prepared.sent)
            prefix = thinking.prefix_digest(prepared.sent["messages"], prefixes)
            role = prepared.sent["messages"][-1]["role"]
            content = [compaction.signed_block(summary, prefix, role)]
        reason = "compaction" if content else self.options.failed_summary
        output = count({"content": summary or ""})
        iterations = [counts.usage(output, "compaction")]
        return self._finished(prepared, content, reason, cache.Counts(0), iterations)

    def _finished(
        self,
        prepared: Prepared,
        content: list[Json],
        reason: str,
        counts: cache.Counts,
        iterations: list[Json],
    ) -> Json:
        told = [block for block in content if block["type"] != "compaction"]
        output = sum(count(block) for block in told)
        usage = counts.usage(output)
        if prepared.betas & {fields.THRESHOLD_BETA, fields.SUMMARIZE_BETA}:
            own = [] if reason == "compaction" else [counts.usage(output, "message")]
            usage["iterations"] = [*iterations, *own]
        message: Json = {
            "id": f"msg_{next(self._numbers):04d}",
            "type": "message",
            "role": "assistant",
            "model": prepared.sent["model"],
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": usage,
        }
        if "context_management" in prepared.sent:
            message["context_management"] = {"applied_edits": prepared.applied}
        if prepared.dropped:
            message["input_transformations"] = [
                {"type": "thinking_blocks_dropped", "count": prepared.dropped}
            ]
        if "diagnostics" in prepared.sent:
            message["diagnostics"] = self._diagnostics.report(prepared.sent)
        self._diagnostics.remember(message["id"], prepared.sent)
        self._issued.remember(content, reason)
        return message

    def _reply(self, view: Json) -> Reply:
        turn = self.script.popleft() if self.script else self.responder
        if turn is None or isinstance(turn, Fault):
            raise Refusal(
                "the double's script has no more turns",
                status=500, type="api_error", headers={"x-should-retry": "false"},
            )  # fmt: skip
        if not callable(turn):
            return turn
        with self._unlocked():
            return turn(view)

    @contextmanager
    def _unlocked(self) -> Iterator[None]:
        """Let others in: a reply that takes its time holds up nobody but who asked."""
        self._lock.release()
        try:
            yield
        finally:
            self._lock.acquire()

    def _with_ids(self, content: list[Json]) -> list[Json]:
        return [
            {"type": "tool_use", "id": f"toolu_{next(self._numbers):04d}", **block}
            if block["type"] == "tool_use"
            else block
            for block in content
        ]


def _compact_edit(body: Json) -> Json:
    return next((e for e in clearing.edits_of(body) if e["type"] == clearing.COMPACT), {})
