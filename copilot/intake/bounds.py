"""What a body may be before anything is made of it, and how long its parts may grow: one place.

A payload is hostile until it is counted: its length, depth and number of values are known before
the parser builds anything. What JSON leaves open is refused: NaN, a key given twice, a number that
no clock or meter has. Every refusal is one line.
"""

import json
import math
import re

from copilot.errors import UsageError
from copilot.values import Json, JsonObject

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_VALUES = 200_000
"""In the whole body: 10,000 alerts with a few labels each, and little more."""
MAX_ALERTS = 10_000
"""In one body."""
MAX_KEYS = 1000
"""In one object."""
MAX_DIGITS = 40

RAW_CHARACTERS = 16_000
TITLE_CHARACTERS = 300
TEXT_CHARACTERS = 8_000
VALUE_CHARACTERS = 2_000
NAME_CHARACTERS = 200

STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""A JSON string, or what is left of a body that ends in one. It never goes back: linear time."""
NO_BRACKET = re.compile(r"[^][{}]++")


def load(body: bytes) -> Json:
    """The JSON value in *body*. Raises UsageError with one line that says why there is none."""
    if len(body) > MAX_BYTES:
        raise UsageError(f"the alert has {len(body)} bytes; at most {MAX_BYTES} are taken")
    if not body.strip():
        raise UsageError("the alert is empty; send a JSON object")
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"the alert is not UTF-8 (byte {error.start}); send it as UTF-8") from None
    _measure(STRING.sub("0", text))
    try:
        payload: Json = STRICT.decode(text)
    except ValueError as error:
        raise UsageError(f"the alert is not JSON: {error}") from None
    return payload


def check_count(alerts: int) -> None:
    """Raises UsageError when a body brings more alerts than are taken at once."""
    if alerts > MAX_ALERTS:
        raise UsageError(f"the body holds {alerts} alerts; at most {MAX_ALERTS} are taken at once")


def _measure(skeleton: str) -> None:
    """Refuse a text, given without its strings, that is too deep or holds too many values."""
    if sum(map(skeleton.count, ",[{")) > MAX_VALUES:
        raise UsageError(f"the alert holds more than {MAX_VALUES} values; send fewer at once")
    depth = 0
    for bracket in NO_BRACKET.sub("", skeleton):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            raise UsageError(f"the alert is nested deeper than {MAX_DEPTH} levels")


def _unique(pairs: list[tuple[str, Json]]) -> JsonObject:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    if len(found) > MAX_KEYS:
        raise ValueError(f"an object has more than {MAX_KEYS} keys")
    return found


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number has {len(digits)} digits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


STRICT = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_whole, parse_float=_finite
)
