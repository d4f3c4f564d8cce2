"""What every command gets: the global options, the screen, and the workspace once it is needed."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from copilot.cli.ui import Screen
from copilot.errors import NotFoundError, UsageError
from copilot.safe_text import safe_text
from copilot.values import Json

if TYPE_CHECKING:
    from copilot.notes.front import Front
    from copilot.workspace import Workspace

S = TypeVar("S")


def _utc() -> datetime:
    return datetime.now(UTC)


@dataclass
class Session:
    """One run of the command line."""

    screen: Screen
    config: Path | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    cwd: Path = field(default_factory=Path.cwd)
    now: Callable[[], datetime] = _utc

    @cached_property
    def workspace(self) -> "Workspace":
        """The workspace with the settings as they are. Raises ConfigError."""
        return self.open({})

    def open(self, options: Mapping[str, Json]) -> "Workspace":
        """The workspace with *options* over its settings, by dotted key. Raises ConfigError."""
        from copilot.workspace import open_workspace

        return open_workspace(self.config, options, environ=self.environ, cwd=self.cwd)

    def masked(self, text: str) -> str:
        """The text of a log, a ticket or a document, without its secrets."""
        return self.workspace.redactor.redact(text)

    def front(self, incident: str) -> "Front":
        """The head of that incident's notes. Raises NotFoundError."""
        front = self.workspace.notes.front(incident)
        if front is None:
            raise NotFoundError(
                f"no such incident: {safe_text(incident, limit=80)!r}; "
                "`copilot incidents list` shows those that there are"
            )
        return front


def pick(sources: Mapping[str, S], name: str, kind: str) -> S:
    """The source called *name*, or the only one. Raises UsageError naming those that there are."""
    if not name and len(sources) == 1:
        return next(iter(sources.values()))
    if name in sources:
        return sources[name]
    known = ", ".join(sorted(sources)) or "none; name one in copilot.yaml"
    asked = f"no {kind} is called {name!r}" if name else f"name the {kind} with --{kind}"
    raise UsageError(f"{asked}; there are: {known}")


pass_session = click.make_pass_decorator(Session)
"""Give a command its session as the first argument."""
