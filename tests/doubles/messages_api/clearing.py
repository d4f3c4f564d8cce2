"""Context edits that clear: their rules, and what they do to the request that the model reads."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.doubles.messages_api.fields import CLEARING_BETA, THRESHOLD_BETA
from tests.doubles.messages_api.refusal import Json, Refusal, extra, wrong_tag
from tests.doubles.messages_api.thinking import THOUGHTS
from tests.doubles.messages_api.tokens import prompt_tokens, walk

TOOLS, THINKING, COMPACT = "clear_tool_uses_20250919", "clear_thinking_20251015", "compact_20260112"
EDIT_FIELDS = {
    TOOLS: {"type", "trigger", "keep", "clear_at_least", "exclude_tools", "clear_tool_inputs"},
    THINKING: {"type", "keep"},
    COMPACT: {"type", "trigger", "pause_after_compaction", "instructions"},
}
LEAST_COMPACT_TRIGGER = 50_000
PLACEHOLDER = "[Old tool result content cleared]"  # the real wording is not documented


@dataclass(slots=True)
class Clearing:
    """Clears old tool results, as the real service does or may do.

    It is not documented whether a decision is taken anew on each request or kept: with `replayed`
    what was cleared once stays so, and the trigger looks at what is left.
    """

    replayed: bool = False
    _cleared: set[str] = field(default_factory=set)

    def apply(self, body: Json) -> tuple[Json, list[Json]]:
        """The body as the model reads it, and the `applied_edits` that report it."""
        applied: list[Json] = []
        for edit in edits_of(body):
            if edit["type"] == THINKING:
                body = _clear_thinking(body, edit, applied)
            if edit["type"] == TOOLS:
                body = self._clear_tools(body, edit, applied)
        return body, applied

    def _clear_tools(self, body: Json, edit: Json, applied: list[Json]) -> Json:
        original = prompt_tokens(body)
        names = {b["id"]: b["name"] for *_, b in walk(body["messages"]) if b["type"] == "tool_use"}
        old = _clearable(body, edit, names)
        kept = [call for call in old if call in self._cleared] if self.replayed else []
        body = _emptied(body, set(kept), names, edit)
        before = prompt_tokens(body)
        if _fires(edit, before, len(names) - len(kept)):
            cleared = _emptied(body, set(old), names, edit)
            if before - prompt_tokens(cleared) >= max(1, _value(edit, "clear_at_least", 0)):
                body, kept = cleared, old
                self._cleared.update(old)
        if kept:
            freed = original - prompt_tokens(body)
            applied.append(
                {"type": TOOLS, "cleared_tool_uses": len(kept), "cleared_input_tokens": freed}
            )
        return body


def edits_of(body: Json) -> list[Json]:
    """The edits of a request, in order."""
    return (body.get("context_management") or {}).get("edits") or []


def check_edits(body: Json, betas: frozenset[str], *, thinks: bool) -> None:
    """Refuse edits that are unknown, in the wrong order, or without their beta or thinking."""
    for name in sorted(set(body.get("context_management") or {}) - {"edits"}):
        raise extra(f"context_management.{name}")
    for index, edit in enumerate(edits_of(body)):
        kind = edit.get("type")
        path = f"context_management.edits.{index}"
        beta = THRESHOLD_BETA if kind == COMPACT else CLEARING_BETA
        if kind not in EDIT_FIELDS or beta not in betas:
            raise wrong_tag(path, kind)
        for name in sorted(set(edit) - EDIT_FIELDS[kind]):
            raise extra(f"{path}.{kind}.{name}")
        if kind == THINKING and index:
            raise Refusal(f"{path}: `{THINKING}` strategy must be the first in `edits`")
        if kind == THINKING and not thinks:
            raise Refusal(f"`{THINKING}` strategy requires `thinking` to be enabled or adaptive")
        _check_values(f"{path}.{kind}", edit)


def _check_values(path: str, edit: Json) -> None:
    units = {"trigger": {"input_tokens"}, "clear_at_least": {"input_tokens"}, "keep": {"tool_uses"}}
    if edit["type"] == TOOLS:
        units["trigger"] = {"input_tokens", "tool_uses"}
    if edit["type"] == THINKING:
        if edit.get("keep", "all") in ("all", {"type": "all"}):
            return
        units["keep"] = {"thinking_turns"}
    for name, allowed in units.items():
        setting = edit.get(name)
        if setting is None:
            continue
        if setting.get("type") not in allowed:
            raise wrong_tag(f"{path}.{name}", setting.get("type"))
        if not isinstance(setting.get("value"), int) or setting["value"] < (name != "keep"):
            raise Refusal(f"{path}.{name}.value: Input should be a valid integer")
    if edit["type"] == THINKING and edit["keep"]["value"] < 1:
        raise Refusal(f"{path}.keep.value: Input should be greater than or equal to 1")
    if edit["type"] == COMPACT and _value(edit, "trigger", 150_000) < LEAST_COMPACT_TRIGGER:
        least = LEAST_COMPACT_TRIGGER
        raise Refusal(f"{path}.trigger.value: Input should be greater than or equal to {least}")


def _value(edit: Json, name: str, default: int) -> int:
    return int((edit.get(name) or {"value": default})["value"])


def _fires(edit: Json, tokens: int, uses: int) -> bool:
    trigger = edit.get("trigger") or {"type": "input_tokens", "value": 100_000}
    return (uses if trigger["type"] == "tool_uses" else tokens) > int(trigger["value"])


def _clearable(body: Json, edit: Json, names: dict[str, str]) -> list[str]:
    """The ids of the calls whose results may go, oldest first."""
    answered = [
        block["tool_use_id"]
        for *_, block in walk(body["messages"])
        if block["type"] == "tool_result" and block["tool_use_id"] in names
    ]
    keep = _value(edit, "keep", 3)
    excluded = set(edit.get("exclude_tools") or ())
    return [
        call for call in answered[: max(0, len(answered) - keep)] if names[call] not in excluded
    ]


def _emptied(body: Json, ids: set[str], names: dict[str, str], edit: Json) -> Json:
    """The body with the results of these calls, and their inputs if so wished, emptied."""
    inputs = edit.get("clear_tool_inputs", False)

    def emptied(block: Json) -> Json:
        if block["type"] == "tool_result" and block["tool_use_id"] in ids:
            return {**block, "content": PLACEHOLDER}
        if block["type"] == "tool_use" and block["id"] in ids:
            wished = inputs is True or (isinstance(inputs, list) and names[block["id"]] in inputs)
            return {**block, "input": {}} if wished else block
        return block

    return _mapped(body, emptied) if ids else body


def _clear_thinking(body: Json, edit: Json, applied: list[Json]) -> Json:
    keep = edit.get("keep", "all")
    if keep in ("all", {"type": "all"}):
        return body
    turns = sorted({i for i, *_, block in walk(body["messages"]) if block["type"] in THOUGHTS})
    old = set(turns[: max(0, len(turns) - int(keep["value"]))])
    if not old:
        return body
    before = prompt_tokens(body)
    messages = [
        {**m, "content": [b for b in m["content"] if b["type"] not in THOUGHTS]} if i in old else m
        for i, m in enumerate(body["messages"])
    ]
    body = {**body, "messages": [message for message in messages if message["content"]]}
    freed = before - prompt_tokens(body)
    applied.append(
        {"type": THINKING, "cleared_thinking_turns": len(old), "cleared_input_tokens": freed}
    )
    return body


def _mapped(body: Json, change: Callable[[Json], Json]) -> Json:
    messages = [
        {**m, "content": [change(b) for b in m["content"]]} if isinstance(m["content"], list) else m
        for m in body["messages"]
    ]
    return {**body, "messages": messages}
