"""Windows and instants in the words of an index: UTC with Z for dates, else numbers. Pure.

A range always says its own format, so that it does not matter which one the mapping has: epoch
only, ISO only, or a house format. Bounds are rounded up to what the field can hold.
"""

from datetime import datetime

from connectors.opensearch.schema import TimeField
from connectors.timestamps import Clock, instant, micros_of
from copilot.values import Json, JsonObject
from copilot.window import Window, iso

FORMAT = "strict_date_optional_time_nanos"
PER_MICRO = {"s": (1, 1_000_000), "ms": (1, 1_000), "us": (1, 1), "ns": (1_000, 1)}
"""Units of a number for one microsecond, as a fraction."""


def range_of(field: TimeField, window: Window) -> JsonObject | None:
    """The clause that holds inside *window*; None where it has no bounds."""
    bounds: JsonObject = {}
    for operator, bound in (("gte", window.start), ("lt", window.end)):
        if bound:
            bounds[operator] = _bound(field, bound)
    if not bounds:
        return None
    if field.kind != "number":
        bounds["format"] = FORMAT
    return {"range": {field.name: bounds}}


def _bound(field: TimeField, time: datetime) -> Json:
    micros = micros_of(time)
    if field.kind == "number":
        times, over = PER_MICRO[field.unit]
        return -(-micros * times // over)
    if field.kind == "date":  # holds whole milliseconds
        micros = -(-micros // 1000) * 1000
    return iso(instant(micros))


def column(field: TimeField) -> Json:
    """How to ask for the time of each hit, whatever its document looks like."""
    if field.kind == "number":
        return {"field": field.name}
    return {"field": field.name, "format": FORMAT}


def time_of(field: TimeField, value: Json, clock: Clock) -> datetime | None:
    """The instant that a column or a document holds; None when it is none."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, str) and value.endswith("Z"):  # as columns and our own documents are
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return None
    if field.kind == "number" and isinstance(value, int | float) and not isinstance(value, bool):
        times, over = PER_MICRO[field.unit]
        micros = int(value) * over // times if isinstance(value, int) else int(value * over / times)
        value = None if abs(micros) > 1 << 60 else micros
        return instant(value) if isinstance(value, int) and value >= 0 else None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    found = clock.value(str(value))
    return None if found is None else instant(found)
