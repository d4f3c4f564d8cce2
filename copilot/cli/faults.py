"""The one place where an error becomes a message and an exit code. No traceback passes it.

Every message ends with what to type next. What nobody expected leaves its traceback in a file,
masked, and only the file's path on the screen.
"""

import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click

from copilot.cli import exit_codes
from copilot.cli.ui import Screen
from copilot.errors import ConfigError, CopilotError, CredentialsError, ModelError

REFUSED = frozenset({"auth", "billing"})
"""Kinds of ModelError about the key or its account."""


class Stopped(BaseException):
    """A person, a clock or the system ended the run. `code` is what the process leaves with."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class ReaderLeft(BaseException):
    """Whoever read our output has closed it, as `head` does."""


EXPECTED = (Stopped, KeyboardInterrupt, click.Abort, click.ClickException, CopilotError)


def guarded(call: Callable[[], object]) -> int:
    """What *call* leaves with: the number that it returns, or the code of what it raised."""
    try:
        found = call()
        sys.stdout.flush()
    except (ReaderLeft, BrokenPipeError):
        return _reader_left()
    except EXPECTED as error:
        return _refuse(*_said(error))
    except Exception as error:  # noqa: BLE001 - the one broad handler of the command line
        return _refuse(_fault(error), exit_codes.FAILED)
    return found if isinstance(found, int) else exit_codes.OK


def _said(error: BaseException) -> tuple[str, int]:
    """What to say of an error that can be expected, and the code to leave with."""
    match error:
        case Stopped():
            return str(error), error.code
        case click.ClickException():
            return _usage(error), exit_codes.USAGE
        case CopilotError():
            notes = getattr(error, "__notes__", [])
            return "\n".join([str(error), *notes, *_next_step(error)]), _code(error)
        case _:
            return "stopped", exit_codes.INTERRUPTED


def _refuse(message: str, code: int) -> int:
    """Say on stderr what went wrong; a reader that has gone changes nothing."""
    screen = Screen()
    with suppress(BrokenPipeError):
        for line in message.splitlines() or ["failed"]:
            screen.say(f"copilot: {line}" if line.strip() else "")
        sys.stderr.flush()
    return code


def _code(error: CopilotError) -> int:
    """The error's own code; a key that the service refuses is a matter of credentials too."""
    refused = isinstance(error, ModelError) and error.kind in REFUSED
    return exit_codes.CREDENTIALS if refused else error.exit_code


def _next_step(error: CopilotError) -> list[str]:
    """What to type next, where the message itself cannot know it."""
    match error:
        case ConfigError():
            return ["mend that, then try: copilot config check"]
        case CredentialsError() | ModelError(kind="auth"):
            return ["to see what is set and from where, try: copilot doctor"]
        case _:
            return []


def _usage(error: click.ClickException) -> str:
    """Click's message, without its own layout, and the command that shows what is allowed."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return f"name a command\n\n{error.format_message()}"
    said = " ".join(error.format_message().split())
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "copilot"
    end = "" if said.endswith((".", "?", ")")) else "."
    return f"{said}{end} Try: {command} --help"


def _reader_left() -> int:
    """Leave quietly when whoever read our output has closed it, as `head` does."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        # What is still buffered would be written at exit, and fail again.
        with suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
    return exit_codes.OK


def _fault(error: Exception) -> str:
    return (
        f"{type(error).__name__}: this is a fault of the copilot, not yours. The details are in "
        f"{_written(error)}; please report it with that file, and look through it before"
    )


def _written(error: BaseException) -> Path:
    """The file that the traceback was written to, readable by its owner only."""
    text = "".join(traceback.format_exception(error))
    with suppress(Exception):  # the report of a fault must not become one
        from copilot.redact import Redactor

        text = Redactor(os.urandom(32), emails=True).redact(text)
    descriptor, name = tempfile.mkstemp(prefix="copilot-fault-", suffix=".log")
    with os.fdopen(descriptor, "w", errors="backslashreplace") as file:
        file.write(text)
    return Path(name)
