"""Requests in the shape of the Messages API, for tests that send them to the double."""

from tests.doubles.messages_api import Json

MODEL = "claude-opus-5-5"
SEARCH: Json = {
    "name": "search",
    "description": "Search the logbook.",
    "input_schema": {"type": "object"},
}
READ: Json = {**SEARCH, "name": "read"}


def text(words: str, **more: object) -> Json:
    """A text block."""
    return {"type": "text", "text": words, **more}


def user(*content: Json | str) -> Json:
    """A user message; one plain text stays plain."""
    return _message("user", content)


def assistant(*content: Json | str) -> Json:
    """An assistant message."""
    return _message("assistant", content)


def call(id: str, name: str = "search", **given: object) -> Json:
    """A tool call."""
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result(id: str, words: str = "0 hits", **more: object) -> Json:
    """The answer to a tool call."""
    return {"type": "tool_result", "tool_use_id": id, "content": words, **more}


def body(*messages: Json, **changes: object) -> Json:
    """A request that the double takes, with *changes*; a change to None removes the field."""
    fields: Json = {
        "model": MODEL,
        "max_tokens": 1000,
        "system": [text("You investigate.")],
        "tools": [SEARCH, READ],
        "messages": list(messages) or [user("Why is it stuck?")],
        **changes,
    }
    return {name: value for name, value in fields.items() if value is not None}


def rounds(count: int, words: str = "0 hits", first: int = 1) -> list[Json]:
    """A question and so many tool rounds, each answered with *words*."""
    messages = [user("Why is it stuck?")] if first == 1 else []
    for number in range(first, first + count):
        messages.append(assistant(call(f"toolu_{number}", query=str(number))))
        messages.append(user(result(f"toolu_{number}", words)))
    return messages


def _message(role: str, content: tuple[Json | str, ...]) -> Json:
    if len(content) == 1 and isinstance(content[0], str):
        return {"role": role, "content": content[0]}
    return {"role": role, "content": list(content)}
