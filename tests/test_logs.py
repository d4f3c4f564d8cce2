"""The daemon's log: one JSON object a line, nothing secret in it, and never the end of the work."""

import io
import json
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from copilot import logs
from copilot.redact import Redactor
from copilot.values import JsonObject

TOKEN = "ghp_" + "a1B2c3D4e5" * 4
log = logging.getLogger("copilot.test")


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    vendors = {name: logging.getLogger(name) for name in logs.VENDORS}
    levels = {name: vendor.level for name, vendor in vendors.items()}
    yield
    root.handlers[:], level = before
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    for name, vendor in vendors.items():
        vendor.setLevel(levels[name])


def written(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def stream() -> io.StringIO:
    """Return what the daemon writes."""
    stream = io.StringIO()
    logs.set_up(stream, Redactor(b"key"))
    return stream


def test_a_line_says_when_how_bad_what_and_about_what(stream: io.StringIO) -> None:
    log.info("alert accepted", extra={"incident": "inc-1", "turn": 3, "tool": "get_ticket"})

    [found] = written(stream)
    assert list(found)[:4] == ["ts", "level", "event", "logger"]
    assert found["ts"].endswith("Z")
    assert len(found["ts"]) == len("2026-01-31T12:00:00.000Z")
    del found["ts"]
    assert found == {
        "level": "info",
        "event": "alert accepted",
        "logger": "copilot.test",
        "incident": "inc-1",
        "turn": 3,
        "tool": "get_ticket",
    }


def test_what_a_thread_is_about_stands_on_each_of_its_lines(stream: io.StringIO) -> None:
    with logs.about(incident="inc-1"):
        with logs.about(turn=1):
            log.info("asked")
        log.info("left")
    log.info("idle")

    asked, left, idle = written(stream)
    assert (asked["incident"], asked["turn"]) == ("inc-1", 1)
    assert left["incident"] == "inc-1"
    assert "turn" not in left
    assert "incident" not in idle


def test_a_field_cannot_pose_as_the_event(stream: io.StringIO) -> None:
    log.info("refused", extra={"event": "accepted", "ts": "never", "level": "debug"})

    [found] = written(stream)
    assert (found["event"], found["level"]) == ("refused", "info")


@pytest.mark.parametrize("where", ["message", "argument", "extra", "named", "exception", "edge"])
def test_no_secret_is_ever_written(stream: io.StringIO, where: str) -> None:
    match where:
        case "message":
            log.error(f"refused {TOKEN}")  # noqa: G004
        case "argument":
            log.error("refused %s", TOKEN)
        case "extra":
            log.error("refused", extra={"header": f"Bearer {TOKEN}"})
        case "named":
            log.error("refused", extra={"password": "hunter2hunter2"})
        case "exception":
            log.error("failed", exc_info=ValueError(f"key {TOKEN}"))
        case _:
            log.error("refused", extra={"text": "x" * (logs.VALUE_CHARACTERS - 20) + " " + TOKEN})

    assert TOKEN[:12] not in stream.getvalue()
    assert "hunter2" not in stream.getvalue()
    assert len(written(stream)) == 1


def test_a_payload_is_cut(stream: io.StringIO) -> None:
    log.info("x" * 100_000, extra={"body": {"alerts": ["y" * 100_000]}})

    [found] = written(stream)
    assert len(found["event"]) == logs.EVENT_CHARACTERS
    assert len(found["body"]) == logs.VALUE_CHARACTERS


def test_a_line_stays_a_line_and_controls_are_seen(stream: io.StringIO) -> None:
    log.info("a\nb\x1b[2J\u202e\ud800", extra={"title": "c\r\nlevel=critical"})

    [found] = written(stream)
    assert found["event"] == "a b\\x1b[2J\\u202e\\ud800"
    assert found["title"] == "c\\x0d level=critical"


def test_an_error_has_its_traceback_in_the_same_line(stream: io.StringIO) -> None:
    try:
        _ = 1 / 0
    except ZeroDivisionError:
        log.exception("failed")

    [found] = written(stream)
    assert "ZeroDivisionError: division by zero" in found["traceback"]
    assert "test_logs.py" in found["traceback"]


def test_vendors_are_heard_from_a_warning_on(stream: io.StringIO) -> None:
    logging.getLogger("dbos").addHandler(logging.StreamHandler(io.StringIO()))
    logs.set_up(stream, Redactor(b"key"))

    logging.getLogger("dbos").info("a banner")
    logging.getLogger("dbos").warning("a workflow of another version")
    logging.getLogger("apscheduler.scheduler").info("added job")
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")

    assert [line["event"] for line in written(stream)] == ["a workflow of another version"]


def test_a_warning_of_python_is_a_line_too(stream: io.StringIO) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logs.set_up(stream, Redactor(b"key"))
        warnings.warn("old ways", stacklevel=1)

    assert "old ways" in written(stream)[0]["event"]


def test_a_text_whose_arguments_do_not_fit_is_written_as_it_is() -> None:
    record = logging.makeLogRecord({"msg": "%d of %d", "args": ("x",)})

    assert logs.entry(record)["event"] == "%d of %d"


def test_a_terminal_gets_lines_for_people() -> None:
    screen = Screen()
    logs.set_up(screen, Redactor(b"key"))

    log.warning("disk is nearly full", extra={"free_mib": 12, "incident": "inc-1\x1b[2J"})

    line = screen.getvalue()
    assert line[8:].startswith(" WARNING  disk is nearly full  free_mib=12  incident=inc-1\\x1b[2J")
    assert line.count("\n") == 1


def test_a_log_that_nobody_reads_does_not_stop_the_work(capfd: pytest.CaptureFixture[str]) -> None:
    class Broken(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    logs.set_up(Broken(), Redactor(b"key"))

    log.info("still here")

    assert capfd.readouterr().err == ""


def test_setting_up_twice_writes_each_line_once(stream: io.StringIO) -> None:
    logs.set_up(stream, Redactor(b"key"))

    log.info("once")

    assert len(written(stream)) == 1


def test_any_redactor_of_json_will_do() -> None:
    class Nothing:
        def redact_json(self, value: JsonObject) -> JsonObject:
            return dict.fromkeys(value, "-")

    stream = io.StringIO()
    logs.set_up(stream, Nothing())

    log.info("hidden")

    assert set(written(stream)[0].values()) == {"-"}
