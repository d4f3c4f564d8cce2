"""What a JSON object says about itself as an event: time, level, fields.

Numbers stay the text that the file holds, so that a filter or a quote finds them as written.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

from connectors.log_files.levels import level_of_word
from connectors.log_files.naming import LEVEL_NAMES, MESSAGES, TIMES, fields_of, plain
from connectors.log_files.record import Pairs
from connectors.timestamps import Clock

DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


class Facts(NamedTuple):
    """What was found in one object; `micros` is None when it names no time."""

    micros: int | None
    level: str
    fields: Pairs


def parsed_object(text: str) -> Mapping[str, object] | None:
    """The JSON object that *text* is as a whole, or None."""
    body = text.strip()
    if not (body.startswith("{") and body.endswith("}")):
        return None
    try:
        value, end = DECODER.raw_decode(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and end == len(body) else None


def facts_of(value: Mapping[str, object], clock: Clock) -> Facts:
    """Time, level and fields of an object; its fields are the scalars at its top level."""
    scalars = {name: scalar(item) for name, item in value.items()}
    by_plain = {plain(name): name for name in value if scalars[name]}
    level_name = next((by_plain[name] for name in LEVEL_NAMES if name in by_plain), "")
    level = level_of_word(scalars.get(level_name, ""))
    time_name, micros = time_in(by_plain, scalars, clock)
    fields = fields_of(
        (name, text)
        for name, text in scalars.items()
        if name not in (level_name, time_name) and plain(name) not in MESSAGES
    )
    return Facts(micros, level, fields)


def time_in(
    by_plain: Mapping[str, str], values: Mapping[str, str], clock: Clock
) -> tuple[str, int | None]:
    """The name and the instant of the first time among values whose names promise one, or None."""
    for name in TIMES:
        original = by_plain.get(name, "")
        text = values.get(original, "")
        micros = clock.value(text) if text else None
        if micros is not None:
            return original, micros
    return "", None


def scalar(value: object) -> str:
    """The text of a scalar as JSON writes it; empty for null, lists and objects."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case _:
            return ""
