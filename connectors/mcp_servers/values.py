"""What is known of an MCP server, its tools and its answers. Values only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from copilot.values import JsonObject


@dataclass(frozen=True, slots=True)
class Launch:
    """How a server is started, and how patient we are with it."""

    name: str
    command: tuple[str, ...]
    folder: Path
    """Where it runs."""
    environment: Callable[[], Mapping[str, str]] = field(repr=False)
    """The whole environment of the program. Raises ConnectorError where a variable is missing."""
    timeout_s: float = 30.0
    """For the start, for the list of its tools, and for each call."""


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool as its server describes it; nothing of it is checked yet."""

    name: str
    description: str
    schema: JsonObject
    reads_only: bool
    """The server's own word."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its rows, or why the server refused."""

    rows: tuple[JsonObject, ...] = ()
    refused: str = ""
    """The server's own words, redacted, on one line."""
    is_cut: bool = False
    """True when there were more rows than are taken."""


def marked(said: str) -> str:
    """A server's words between marks that they cannot write."""
    return f"«{said.replace('«', '<').replace('»', '>')}»"


class RefusedError(Exception):
    """The server answered that it will not, or cannot; it is alive."""
