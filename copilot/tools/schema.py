"""An arguments class as the JSON schema that the model gets: small, flat, the same every time."""

import json
from functools import cache

from pydantic import BaseModel

from copilot.models.model import Json

DROPPED = frozenset(
    {"title", "additionalProperties", "default", "minLength", "maxLength", "minItems", "maxItems"}
)
"""What costs tokens at every request and is told anyway to whoever goes past it."""


def schema_of(arguments: type[BaseModel]) -> Json:
    """The input schema. References are written out; what a model does not need is left out."""
    schema: Json = json.loads(_written(arguments))  # a copy: whoever gets it may change it
    return schema


@cache
def _written(arguments: type[BaseModel]) -> str:
    """The schema as text, made once a process: each investigation has all tools."""
    schema = arguments.model_json_schema()
    parts = schema.pop("$defs", {})
    flat = _flat(schema, parts)
    flat.pop("description", None)  # the class's docstring is for us
    flat["additionalProperties"] = False
    return json.dumps(flat)


def _flat(node: Json, parts: Json) -> Json:
    if "$ref" in node:
        part = dict(parts[node["$ref"].rsplit("/", 1)[1]])
        part.pop("description", None)
        return _flat({**part, **{k: v for k, v in node.items() if k != "$ref"}}, parts)
    if "anyOf" in node:  # X | None: the argument may be left out
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        choices = [_flat(item, parts) for item in node["anyOf"] if item.get("type") != "null"]
        return _flat({**choices[0], **rest}, parts) if len(choices) == 1 else {"anyOf": choices}
    flat: Json = {}
    for key, value in node.items():
        if key == "properties":
            flat[key] = {name: _flat(item, parts) for name, item in value.items()}
        elif key == "additionalProperties" and isinstance(value, dict):
            flat[key] = _flat(value, parts)
        elif key not in DROPPED:
            flat[key] = _flat(value, parts) if isinstance(value, dict) else value
    return flat
