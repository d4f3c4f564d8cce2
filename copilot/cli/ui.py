"""The only module that prints. Data goes to stdout, everything a person only watches to stderr.

Whatever text it is given becomes safe first (`copilot.safe_text`) and is never read as markup, so
that no log line can move a cursor, set a title or colour itself. rich is loaded for a terminal or
for colours only: a pipe gets plain text, without colour, wrapping, cutting or a spinner.
"""

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TextIO

from copilot.cli.columns import aligned
from copilot.safe_text import UNSAFE, one_line, safe_text
from copilot.values import JsonObject
from copilot.window import iso

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

Color = Literal["auto", "always", "never"]
Style = Literal["", "title", "good", "warn", "bad", "dim"]
Part = str | tuple[str, Style]
"""Some text, or some text in a style."""

STYLES: Mapping[str, str] = {
    "": "", "title": "bold", "good": "green", "warn": "yellow", "bad": "bold red", "dim": "dim",
}  # fmt: skip
ASCII = str.maketrans(
    {"✓": "ok", "✗": "x", "…": "...", "·": "-", "→": "->", "›": ">", "—": "-", "≥": ">="}
)
"""What stands for our own signs where the output's encoding has none."""
REFRESHES_A_SECOND = 4
LEAST_WIDTH = 12
"""However narrow the terminal, so many columns are filled before a line wraps."""


class Screen:
    """The two output streams as they are now, with the person's wish for colour."""

    def __init__(self, color: Color = "auto", environ: Mapping[str, str] = os.environ) -> None:
        self._color = color
        self._environ = environ
        self._consoles: dict[int, Console] = {}

    def line(self, *parts: Part, indent: int = 0, mark: str = "") -> None:
        """Print one line of data; on a terminal it wraps at words, behind its indent and mark."""
        self._print(sys.stdout, parts, " " * indent, mark)

    def say(self, *parts: Part) -> None:
        """Print one line for the person who watches."""
        self._print(sys.stderr, parts)

    def page(self, text: str) -> None:
        """Print a text of many lines as data, as it is but for what a terminal would obey."""
        for line in text.removesuffix("\n").split("\n"):
            self._write(sys.stdout, safe_text(line))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print rows below their columns' names. Nothing is printed when there are none."""
        if not rows:
            return
        shown = [list(columns), *([one_line(cell) for cell in row] for row in rows)]
        width = self.width if _is_terminal(sys.stdout) else None
        for number, line in enumerate(aligned(shown, width)):
            self._print(sys.stdout, [(line, "title" if number == 0 else "")])

    def document(self, value: JsonObject) -> None:
        """Print one JSON document."""
        self._json(value, indent=1)

    def event(self, value: JsonObject) -> None:
        """Print one JSON line, at once."""
        self._json(value, indent=None)
        sys.stdout.flush()

    def close_output(self) -> None:
        """Print no more data: whoever read it has gone."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)

    def progress(self) -> "Progress":
        """Where an investigation is shown while it runs; use it as a context."""
        return Progress(self)

    @property
    def width(self) -> int:
        """The columns of the terminal."""
        return max(shutil.get_terminal_size((80, 24)).columns, 1)

    def can_show(self, signs: str) -> bool:
        """True when the encoding of the data's stream has these characters."""
        try:
            signs.encode(sys.stdout.encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    @property
    def can_pin(self) -> bool:
        """True when a line can be kept at the bottom of stderr and drawn anew."""
        dumb = self._environ.get("TERM", "dumb") in {"", "dumb", "unknown"}
        return _is_terminal(sys.stderr) and not dumb

    def has_color(self, stream: TextIO) -> bool:
        """True when that stream gets colours. NO_COLOR wins over FORCE_COLOR, the option over both.

        https://no-color.org, https://force-color.org
        """
        if self._color != "auto":
            return self._color == "always"
        if self._environ.get("NO_COLOR"):
            return False
        if self._environ.get("FORCE_COLOR"):
            return True
        return _is_terminal(stream) and self._environ.get("TERM", "dumb") not in {"", "dumb"}

    def console(self, stream: TextIO) -> "Console":
        """The rich console on that stream; it reads nothing as markup."""
        from rich.console import Console

        if id(stream) not in self._consoles:
            color = self.has_color(stream)
            self._consoles[id(stream)] = Console(
                file=stream,
                force_terminal=True,
                color_system="standard" if color else None,
                no_color=not color,
                markup=False,
                emoji=False,
                highlight=False,
            )
        return self._consoles[id(stream)]

    def _json(self, value: JsonObject, indent: int | None) -> None:
        import json

        text = json.dumps(
            value, ensure_ascii=not _is_unicode(sys.stdout), indent=indent, allow_nan=False
        )
        # Control and bidi characters can stand in a JSON text only inside its strings.
        self._write(sys.stdout, UNSAFE.sub(_escaped, text))

    def _print(
        self, stream: TextIO, parts: Sequence[Part], indent: str = "", mark: str = ""
    ) -> None:
        pairs = [part if isinstance(part, tuple) else (part, "") for part in parts]
        safe = [(_spoken(safe_text(text), stream), STYLES[style]) for text, style in pairs]
        terminal = _is_terminal(stream)
        if not (terminal or self.has_color(stream)):
            self._write(stream, indent + mark + "".join(text for text, _ in safe))
            return
        from rich.text import Text

        console = self.console(stream)
        text = Text.assemble(*safe)
        room = self.width - len(indent) - len(mark)
        lines = list(text.wrap(console, max(room, LEAST_WIDTH))) if terminal else [text]
        for number, line in enumerate(lines or [text]):
            head = Text(indent + (mark if number == 0 else " " * len(mark)))
            console.print(head + line, soft_wrap=True)

    def _write(self, stream: TextIO, text: str) -> None:
        stream.write(_spoken(text, stream) + "\n")


class Progress:
    """Events, one line each; on a terminal a pinned line below them says what is going on."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._status: Callable[[], str] = lambda: ""
        self._broken = False

    def __enter__(self) -> Self:
        if self._screen.can_pin:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._screen.can_pin:
            self._live.stop()

    def pin(self, status: Callable[[], str]) -> None:
        """From now on the pinned line shows what *status* says, several times a second."""
        self._status = status

    def event(self, time: datetime, text: str, style: Style = "") -> None:
        """Print one event with its UTC time. A reader who has gone does not end the work."""
        if self._broken:
            return
        try:
            if self._screen.can_pin:
                when = f"{iso(time.replace(microsecond=0))[11:]} "
                self._live.console.print(_text([(when, "dim"), (text, style)]))
                self._live.refresh()
            else:
                self._screen.say(f"{iso(time.replace(microsecond=0))} {text}")
                sys.stderr.flush()
        except (BrokenPipeError, ValueError):
            self._broken = True

    @cached_property
    def _live(self) -> "Live":
        from rich.live import Live

        return Live(
            get_renderable=self._pinned,
            console=self._screen.console(sys.stderr),
            transient=True,
            refresh_per_second=REFRESHES_A_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )

    def _pinned(self) -> Any:
        text = _text([(self._status(), "dim")])
        text.no_wrap, text.overflow = True, "ellipsis"
        return text


def _text(parts: Sequence[tuple[str, Style]]) -> Any:
    """A rich Text of safe parts."""
    from rich.text import Text

    safe = [(_spoken(one_line(text, 2000), sys.stderr), STYLES[style]) for text, style in parts]
    return Text(" ").join(Text(text.rstrip(), style) for text, style in safe)


def _spoken(text: str, stream: TextIO) -> str:
    """The text in characters that the stream's encoding has; the others are spelled out."""
    if _is_unicode(stream):
        return text
    encoding = stream.encoding or "ascii"
    return text.translate(ASCII).encode(encoding, "backslashreplace").decode(encoding)


def _is_unicode(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("_", "-").startswith("utf")


def _is_terminal(stream: TextIO) -> bool:
    return hasattr(stream, "isatty") and stream.isatty()


def _escaped(match: Any) -> str:
    code = ord(match.group())
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
