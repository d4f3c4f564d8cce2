"""A server's input schema made fit for a request: known keywords only, bounded, words cut.

A schema that the model's service refuses would make every request of an investigation fail, so
what is doubtful leaves out its tool, and says why.
"""

import re
from collections.abc import Callable
from typing import Any, cast

from copilot.safe_text import one_line
from copilot.values import Json, JsonObject

MAX_DEPTH = 12
WORDS = 200
"""Characters of each text inside."""
NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""What the model's service takes as the name of an argument."""
NOT_AT_THE_TOP = ("anyOf", "oneOf", "allOf", "not")
NAMED = frozenset({"properties", "$defs", "definitions"})
"""Keywords whose keys are names and no keywords."""
KNOWN = NAMED | frozenset({
    "type", "description", "required", "items", "prefixItems", "enum", "const", "format",
    "anyOf", "oneOf", "allOf", "not", "additionalProperties", "$ref",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
})  # fmt: skip
"""Every other keyword is left out: the server itself checks what it is sent."""


class UnfitError(Exception):
    """A tool cannot be offered; the message says why."""


def fit_schema(schema: JsonObject, redact: Callable[[str], str]) -> JsonObject:
    """The schema as the model gets it. Raises UnfitError."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    if schema.get("type") != "object":
        raise UnfitError("its schema is not of type object")
    if found := [key for key in NOT_AT_THE_TOP if key in schema]:
        raise UnfitError(f"its schema has {found[0]} at its top, which the model's service refuses")
    fit = {"properties": {}, **_keywords(schema, redact, 0)}
    try:
        Draft202012Validator.check_schema(cast("dict[str, Any]", fit))
    except SchemaError as error:
        raise UnfitError(f"its schema is none: {one_line(error.message, WORDS)}") from None
    return fit


def _keywords(node: JsonObject, redact: Callable[[str], str], depth: int) -> JsonObject:
    reference = node.get("$ref", "#")
    if not str(reference).startswith("#"):
        raise UnfitError("its schema refers to another document")
    return {
        key: _named(value, redact, depth + 1)
        if key in NAMED and isinstance(value, dict)
        else _value(value, redact, depth + 1)
        for key, value in node.items()
        if key in KNOWN
    }


def _named(node: JsonObject, redact: Callable[[str], str], depth: int) -> JsonObject:
    if odd := [name for name in node if not NAME.fullmatch(name)]:
        raise UnfitError(f"it has an argument called {one_line(redact(odd[0]), 80)!r}")
    return {name: _value(inner, redact, depth) for name, inner in node.items()}


def _value(node: Json, redact: Callable[[str], str], depth: int) -> Json:
    if depth > MAX_DEPTH:
        raise UnfitError(f"its schema is more than {MAX_DEPTH} levels deep")
    if isinstance(node, dict):
        return _keywords(node, redact, depth)
    if isinstance(node, list):
        return [_value(item, redact, depth + 1) for item in node]
    return one_line(redact(node), WORDS) if isinstance(node, str) else node
