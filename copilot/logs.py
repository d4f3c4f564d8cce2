"""What the daemon writes on stderr: one JSON object a line, or readable lines on a terminal.

The event comes first, what it is about follows as fields: `log.info("alert accepted",
extra={"incident": …})`. Every text is redacted, cut and escaped here, so that no caller can write a
secret or a payload. Rotation is the business of whoever reads stderr.
"""

import json
import logging
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Protocol, TextIO

from copilot.safe_text import one_line, safe_text
from copilot.values import Json, JsonObject

VENDORS: Mapping[str, int] = {
    "apscheduler": logging.WARNING,
    "dbos": logging.WARNING,
    "sqlalchemy": logging.WARNING,
    "httpx2": logging.WARNING,
    "uvicorn": logging.ERROR,  # its warnings are about clients, and a client could write for ever
}
EVENT_CHARACTERS = 1_000
VALUE_CHARACTERS = 500
TRACE_CHARACTERS = 8_000
WHOLE_CHARACTERS = 16_000
"""Of a text that is looked through for secrets; more of it is never shown."""
FIELDS = 20
TRACEBACK = "traceback"
OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record has; the rest came with `extra`."""

_about: ContextVar[Mapping[str, Json]] = ContextVar("about", default={})  # noqa: B039  # never changed


class Redacts(Protocol):
    """What masks secrets in a value."""

    def redact_json(self, value: JsonObject) -> JsonObject:
        """The value, masked."""
        ...


@contextmanager
def about(**fields: Json) -> Iterator[None]:
    """Everything that this thread logs meanwhile carries these fields."""
    token = _about.set({**_about.get(), **fields})
    try:
        yield
    finally:
        _about.reset(token)


def set_up(stream: TextIO, redactor: Redacts, level: int = logging.INFO) -> None:
    """Send every logger of the process to *stream*; those of vendors only from a warning on."""
    root = logging.getLogger()
    root.handlers[:] = [LogStream(stream, redactor)]
    root.setLevel(level)
    logging.captureWarnings(capture=True)
    for name, lowest in VENDORS.items():
        vendor = logging.getLogger(name)
        vendor.handlers.clear()
        vendor.propagate = True
        vendor.setLevel(max(lowest, level))


class LogStream(logging.StreamHandler[TextIO]):
    """Writes records to a stream, and bears it when nobody reads that any more."""

    def __init__(self, stream: TextIO, redactor: Redacts) -> None:
        super().__init__(stream)
        shape = readable if stream.isatty() else as_json
        self.setFormatter(Entries(redactor, shape))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # stdlib's name
        """Go on: a broken log must not stop the work, and there is nowhere to tell it."""


class Entries(logging.Formatter):
    """Turns records into lines of one shape."""

    def __init__(self, redactor: Redacts, shape: Callable[[JsonObject], str]) -> None:
        super().__init__()
        self._redactor = redactor
        self._shape = shape

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line, or several on a terminal when it has a traceback."""
        return self._shape(shortened(self._redactor.redact_json(entry(record))))


def entry(record: logging.LogRecord) -> JsonObject:
    """The record as fields: ts, level, event, logger, then what it is about, then a traceback."""
    time = datetime.fromtimestamp(record.created, UTC)
    extra = {key: value for key, value in vars(record).items() if key not in OWN}
    found: JsonObject = {
        "ts": time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "level": record.levelname.lower(),
        "event": _message(record)[:WHOLE_CHARACTERS],
        "logger": record.name,
    }
    for key, value in list({**_about.get(), **extra}.items())[:FIELDS]:
        found.setdefault(one_line(key, 40), _plain(value))
    if record.exc_info and record.exc_info[1]:
        lines = traceback.format_exception(record.exc_info[1])
        found[TRACEBACK] = "".join(lines)[-WHOLE_CHARACTERS:]
    return found


def shortened(found: JsonObject) -> JsonObject:
    """The fields, each text at its length. After redaction: half a secret is not recognised."""
    return {key: _cut(key, value) for key, value in found.items()}


def as_json(found: JsonObject) -> str:
    """One JSON object on one line, in ASCII."""
    return json.dumps(found, separators=(",", ":"))


def readable(found: JsonObject) -> str:
    """Time, level, event and `key=value` pairs for a person at a terminal."""
    ts, level, event, _, *fields = found.items()
    trace = [str(value) for key, value in fields if key == TRACEBACK]
    pairs = [f"{key}={value}" for key, value in fields if key != TRACEBACK]
    head = f"{str(ts[1])[11:19]} {str(level[1]).upper():<8} {event[1]}"
    return "\n".join(["  ".join([head, *pairs]), *trace])


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # a vendor's arguments that do not fit its text
        return str(record.msg)


def _plain(value: object) -> Json:
    """A number or a truth as it is, anything else as a text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)[:WHOLE_CHARACTERS]


def _cut(key: str, value: Json) -> Json:
    if not isinstance(value, str):
        return value
    if key == TRACEBACK:
        return safe_text(value[-TRACE_CHARACTERS:])
    return one_line(value, EVENT_CHARACTERS if key == "event" else VALUE_CHARACTERS)
