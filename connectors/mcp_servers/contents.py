"""The content of an MCP answer as rows: a row for each record or line, whatever form it came in."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice

from pydantic_core import from_json

from copilot.values import Json, JsonObject, compact, list_at, object_at, text_at

MAX_ROWS = 100_000
"""Rows that are taken of one answer: 8 MiB of empty lines would fill the machine's memory."""
SMALL_FIELDS = 6
SMALL_CHARACTERS = 80
"""Records of so few short values are kept as columns: more would not be shown beside a row."""


def rows_of(result: JsonObject) -> tuple[tuple[JsonObject, ...], bool]:
    """The rows of a call's result, and whether there were more than MAX_ROWS."""
    rows = tuple(islice(_all_rows(result), MAX_ROWS + 1))
    return rows[:MAX_ROWS], len(rows) > MAX_ROWS


def refusal_of(result: JsonObject) -> str:
    """What the server says of a call that failed; empty when it did not."""
    if result.get("isError") is not True:
        return ""
    texts = [text_at(part, "text") for part in list_at(result, "content")]
    return "\n".join(text for text in texts if text) or "it failed and does not say why"


def _all_rows(result: JsonObject) -> Iterator[JsonObject]:
    """The structured form, where there is one, stands for the texts; nothing else is left out."""
    structured = object_at(result, "structuredContent")
    if structured:
        yield from _records(_unwrapped(structured))
    for part in list_at(result, "content"):
        if not structured or text_at(part, "type") != "text":
            yield from _part(part)


def _part(part: Json) -> Iterable[JsonObject]:
    """The rows of one piece of content; what cannot be read as text is named with its size."""
    kind = text_at(part, "type")
    if kind == "text":
        return _text(text_at(part, "text"))
    if kind == "resource":
        inner = object_at(part, "resource")
        if text := text_at(inner, "text"):
            return _text(text)
        return [_unread("resource", text_at(inner, "mimeType"), text_at(inner, "blob"))]
    if kind == "resource_link":
        return [{"message": f"[link {text_at(part, 'name')} {text_at(part, 'uri')}, not fetched]"}]
    return [_unread(kind or "content", text_at(part, "mimeType"), text_at(part, "data"))]


def _text(text: str) -> Iterable[JsonObject]:
    """JSON as its records, other text as its lines.

    Also JSON that others could not take: lone surrogates, NaN, hundreds of levels.
    """
    if text.lstrip()[:1] in ("{", "["):
        with suppress(ValueError):
            return _records(from_json(text, allow_inf_nan=False))
    return _lines(text)


def _lines(text: str) -> Iterator[JsonObject]:
    return ({"message": line} for line in text.splitlines() if line.strip())


def _unwrapped(value: JsonObject) -> Json:
    """The list or text that a record of one key wraps, as servers do that know only records."""
    only = next(iter(value.values())) if len(value) == 1 else None
    return only if isinstance(only, (list, str)) else value


def _records(value: Json) -> Iterable[JsonObject]:
    """Small records as they are; where one is larger or none, each as a text."""
    if isinstance(value, str):
        return _lines(value)
    items = value if isinstance(value, list) else [value]
    records = [item for item in items if isinstance(item, dict) and _is_small(item)]
    if len(records) == len(items):
        return records
    return ({"message": item if isinstance(item, str) else compact(item)} for item in items)


def _is_small(item: JsonObject) -> bool:
    return 0 < len(item) <= SMALL_FIELDS and all(
        not isinstance(value, (dict, list)) and len(compact(value)) <= SMALL_CHARACTERS
        for value in item.values()
    )


def _unread(kind: str, form: str, data: str) -> JsonObject:
    return {"message": f"[{kind} {form or 'of an unknown form'}, {len(data) * 3 // 4} B, not read]"}
