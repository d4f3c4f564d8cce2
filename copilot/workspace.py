"""A workspace: the settings of a folder and the rooms in it, each opened when it is first used."""

import logging
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from connectors.embedded_library import EmbeddedLibrary
from connectors.mcp_servers import McpServer
from copilot.comments import JiraComments, comments_for, places_of
from copilot.config import load_settings
from copilot.credentials import Secret, secret
from copilot.fence import mark_of
from copilot.incidents import Incidents
from copilot.journal import Event, read_events
from copilot.logbooks import AnyLogbook, open_logbook
from copilot.mcp.servers import open_servers
from copilot.models.discovery import Discovery
from copilot.notes.repository import NotesRepository
from copilot.outbox import Outbox
from copilot.redact import Redactor
from copilot.scratch.store import Limits, Scratch
from copilot.settings import RUNBOOKS, Settings
from copilot.trackers import AnyTracker, open_trackers
from copilot.values import Json
from policies.loader import load_policy
from policies.runbook import Shelf, read_shelf
from policies.schema import Policy

LOG = logging.getLogger(__name__)
KEY_BYTES = 32
MIB = 1 << 20
ROOMS = (
    "notes", "incidents", "logbooks", "trackers", "libraries", "runbooks", "mcp_servers",
    "redactor", "discovery",
)  # fmt: skip
"""What two views of one workspace share."""


def _utc() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What one run may have of its own."""

    model: str
    turns: int
    usd: float
    policy: str


@dataclass(frozen=True)
class Workspace:
    """A folder with its settings, and the rooms in it."""

    settings: Settings
    environ: Mapping[str, str] = field(repr=False)
    now: Callable[[], datetime] = _utc

    @cached_property
    def notes(self) -> NotesRepository:
        """The notes repository; reading it makes nothing."""
        return NotesRepository(self.settings.notes, now=self.now)

    @cached_property
    def incidents(self) -> Incidents:
        """The incidents in the notes."""
        return Incidents(self.notes, now=self.now)

    @cached_property
    def logbooks(self) -> dict[str, AnyLogbook]:
        """The logbooks by name. Raises CredentialsError when the secret of one is not set."""
        return {
            source.name: open_logbook(source, self.environ) for source in self.settings.logbooks
        }

    @cached_property
    def trackers(self) -> dict[str, AnyTracker]:
        """The trackers by name."""
        return open_trackers(self.settings.trackers, self.environ)

    @cached_property
    def libraries(self) -> dict[str, EmbeddedLibrary]:
        """The libraries by name."""
        return {
            source.name: EmbeddedLibrary(source.path, name=source.name, redact=self.redactor.redact)
            for source in self.settings.libraries
        }

    @cached_property
    def mcp_servers(self) -> dict[str, McpServer]:
        """The MCP servers by name, none of them started."""
        settings = self.settings
        return open_servers(
            settings.mcp_servers, self.environ, settings.workspace, self.redactor.redact
        )

    @cached_property
    def runbooks(self) -> Shelf:
        """The runbooks, as they are when they are first asked for."""
        shelf = read_shelf(self.settings.workspace / RUNBOOKS)
        for problem in shelf.problems:
            LOG.warning("a runbook is left out: %s", problem)
        return shelf

    @cached_property
    def redactor(self) -> Redactor:
        """The redactor with this workspace's own key, so that its tokens mean nothing elsewhere."""
        return Redactor(self._key, emails=self.settings.redaction.emails)

    def mark(self, incident: str) -> str:
        """The mark that fences what the incident's newest investigation reads."""
        return mark_of(self._key, f"{incident} {len(self.journals(incident))}")

    @cached_property
    def _key(self) -> bytes:
        return _own_key(self.settings.state / "redaction.key")

    @property
    def outbox(self) -> Outbox:
        """The comments that wait for a person, and where such may go."""
        places = places_of(self.settings.trackers)
        return Outbox(
            self.settings.state / "outbox", places, redact=self.redactor.redact, now=self.now
        )

    def comments(self, tracker: str) -> JiraComments:
        """The comments on that tracker's tickets. Raises UsageError when none may be written."""
        return comments_for(self.settings.trackers, self.trackers, tracker)

    @cached_property
    def policy(self) -> Policy:
        """The context policy that the settings name."""
        return load_policy(self.settings.policy, self.settings.policies)

    @property
    def run_options(self) -> "RunOptions":
        """What a run has where nobody says otherwise; the model may be `auto` still."""
        settings = self.settings
        return RunOptions(
            settings.model.name, settings.budgets.turns, settings.budgets.usd, settings.policy
        )

    def with_run(self, options: "RunOptions") -> "Workspace":
        """The same workspace, its rooms shared, with what one run may have of its own."""
        settings = self.settings.model_copy(
            update={
                "model": self.settings.model.model_copy(update={"name": options.model}),
                "policy": options.policy,
                "budgets": self.settings.budgets.model_copy(
                    update={"turns": options.turns, "usd": options.usd}
                ),
            }
        )
        rooms = {room: getattr(self, room) for room in ROOMS}
        if options.policy == self.settings.policy:  # read once, not for each run
            rooms["policy"] = self.policy
        return replace(self, settings=settings).with_rooms(**rooms)

    def with_rooms(self, **rooms: object) -> "Workspace":
        """The same workspace with these rooms instead of those that it would open."""
        other = replace(self)
        other.__dict__.update(rooms)
        return other

    def closed_before(self, limit: datetime) -> set[str]:
        """The incidents that were closed before that time: their scratch may go."""
        return {
            front.incident
            for front in self.notes.incidents().incidents
            if front.status == "closed" and front.closed and front.closed < limit
        }

    def scratch(self, incident: str) -> Scratch:
        """The offloaded results of one incident."""
        limits = Limits(
            self.settings.scratch.incident_mib * MIB, self.settings.scratch.total_mib * MIB
        )
        return Scratch(self.settings.scratch.path, incident, limits=limits)

    def journal_path(self, incident: str, number: int) -> Path:
        """Where the record of that investigation of an incident is; numbers count from 1."""
        return self.settings.state / "journals" / incident / f"{number:04d}.jsonl"

    def journals(self, incident: str) -> list[Path]:
        """The records of an incident's investigations, oldest first; their tasks have others."""
        folder = self.settings.state / "journals" / incident
        return sorted(path for path in folder.glob("*.jsonl") if path.stem.isdecimal())

    def events(self, incident: str) -> tuple[Event, ...]:
        """The events of an incident's latest investigation; empty when there was none."""
        journals = self.journals(incident)
        return read_events(journals[-1]) if journals else ()

    @cached_property
    def discovery(self) -> Discovery:
        """What is known of the endpoints that were used here."""
        return Discovery(self.settings.state / "endpoints.json", self.now)

    def api_key(self) -> Secret | None:
        """The key of the model's service, or None."""
        return secret("ANTHROPIC_API_KEY", self.environ)


def open_workspace(
    config: Path | None,
    options: Mapping[str, Json] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Workspace:
    """The workspace that *config* (or the usual places) names. Raises ConfigError."""
    environ = os.environ if environ is None else environ
    return Workspace(load_settings(config, environ, cwd or Path.cwd(), options), environ)


def _own_key(path: Path) -> bytes:
    """The workspace's key for tokens, made once; whoever makes it first wins."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        key = path.read_bytes()
        if len(key) == KEY_BYTES:
            return key
        path.unlink()  # a torn write of a process that was killed: no token was made with it
        return _own_key(path)
    with os.fdopen(descriptor, "wb") as file:
        key = secrets.token_bytes(KEY_BYTES)
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    return key
