"""Rows as lines of JSON, written and hashed in one pass. Knows nothing of handles or folders."""

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from copilot.errors import ScratchError
from copilot.values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Written:
    """What a file of rows holds: its lines, its bytes and the hash of all of it."""

    lines: int
    bytes: int
    sha256: str


def write_rows(descriptor: int, rows: Iterable[Mapping[str, Json]], limit_bytes: int) -> Written:
    """Write one line of JSON a row and sync. Raises ScratchError past *limit_bytes*."""
    hashed = hashlib.sha256()
    lines = size = 0
    with os.fdopen(os.dup(descriptor), "wb") as file:
        for row in rows:
            line = encode(row) + b"\n"
            lines += 1
            size += len(line)
            if size > limit_bytes:
                raise ScratchError(
                    f"the result is larger than the {limit_bytes:,} bytes that scratch takes; "
                    "ask for a shorter window, more filters or a lower limit"
                )
            hashed.update(line)
            file.write(line)
        sync(file)
    return Written(lines, size, hashed.hexdigest())


def sync(file: BinaryIO) -> None:
    """Bring what was written to the disk. A failed sync is never tried again: it would lie."""
    file.flush()
    os.fsync(file.fileno())


def encode(row: Mapping[str, Json]) -> bytes:
    """The row as one line of JSON in UTF-8, without the line's end.

    Characters that UTF-8 cannot hold are escaped; NaN and the infinities, which JSON cannot hold,
    become texts.
    """
    try:
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(row, separators=(",", ":")).encode()
    except ValueError:
        return encode({key: _finite(value) for key, value in row.items()})


def decode(line: bytes | str) -> JsonObject:
    """The row that `encode` wrote."""
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ScratchError("a stored line is not a row; run the search again")
    return row


def _finite(value: Json) -> Json:
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case dict():
            return {key: _finite(item) for key, item in value.items()}
        case list():
            return [_finite(item) for item in value]
        case _:
            return value
