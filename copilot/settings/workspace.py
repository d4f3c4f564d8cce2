"""What copilot.yaml may say, as frozen values. Knows nothing of files, flags or the environment.

Paths are relative to the workspace, the folder of copilot.yaml, and stay inside it unless a person
wrote an absolute one.
"""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Discriminator, Field, Tag, model_validator

from copilot.settings.daemon import DaemonSettings, IntakeSettings, PollerSettings
from copilot.settings.jira import JiraSource
from copilot.settings.kinds import Length, Name, PolicyName, ProxyUrl, Url, WorkspacePath
from copilot.settings.logbook import EmbeddedLogbookSource, OpenSearchLogbookSource
from copilot.settings.mcp import McpServerSettings
from copilot.strict_model import Strict

Lever = Literal[
    "clear_tool_uses", "clear_thinking", "on_demand", "threshold", "adaptive_thinking",
    "binds_thinking", "diagnostics",
]  # fmt: skip


PUBLIC_URL = "https://api.anthropic.com"


class ModelSettings(Strict):
    """Which model investigates, and how patient we are with it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}$")] = "auto"
    """auto: Claude when a key is set, else offline. offline: rules, no language model. Else a
    model's id, as in claude-sonnet-5-5."""
    base_url: Url = PUBLIC_URL
    """Where the Messages API is. The key itself comes from ANTHROPIC_API_KEY only; another endpoint
    than the public one, such as a local server, may do without."""
    proxy: ProxyUrl | None = None
    """An HTTP proxy that leads there. What the environment names is not used."""
    ca: WorkspacePath | None = None
    """The certificates that its own must be signed by; else the usual ones."""
    max_output_tokens: Annotated[int, Field(ge=1000, le=128_000)] = 8000
    timeout_s: Annotated[int, Field(ge=10, le=3600)] = 600
    """For one answer, however steadily it drips."""
    supports: Mapping[Lever, bool] = Field(default_factory=dict)
    """What the endpoint can do of its own, where you know better than the Models API says."""
    effort: Literal["auto", "low", "medium", "high", "xhigh", "max"] = "auto"
    """auto leaves it to the model."""

    @model_validator(mode="after")
    def _closed(self) -> Self:
        if self.proxy and not self.base_url.startswith("https:"):
            raise ValueError("through a `proxy` only an https `base_url` is reached")
        return self

    @property
    def needs_key(self) -> bool:
        """Whether nothing can be asked there without a key."""
        return self.base_url.rstrip("/") == PUBLIC_URL


class Budgets(Strict):
    """When an investigation must end; there is always room for its report."""

    turns: Annotated[int, Field(ge=1, le=10_000)] = 60
    tokens: Annotated[int, Field(ge=1000)] = 3_000_000
    """Input and output together, over all requests."""
    usd: Annotated[float, Field(gt=0, le=10_000)] = 5.0
    wall_time: Length = timedelta(minutes=30)


class Source(Strict):
    """A tracker or a library. Its name is what the model calls it by."""

    name: Name
    kind: Literal["embedded"] = "embedded"
    """embedded: a file of our own, filled by `import`."""
    path: WorkspacePath


def kind(entry: Any) -> Any:
    """What kind of source an entry is, before or after it was read; `embedded` where none is said.

    Problems of the settings call the key by this function's name.
    """
    return entry.get("kind", "embedded") if isinstance(entry, dict) else entry.kind


LogbookSource = Annotated[
    Annotated[EmbeddedLogbookSource, Tag("embedded")]
    | Annotated[OpenSearchLogbookSource, Tag("opensearch")],
    Discriminator(kind),
]
TrackerSource = Annotated[
    Annotated[Source, Tag("embedded")] | Annotated[JiraSource, Tag("jira")], Discriminator(kind)
]


RUNBOOKS = "runbooks"
"""The folder of a workspace with its runbooks, and the library that they are."""


class AlertRule(Strict):
    """Alerts with all these labels are closed without an investigation."""

    labels: Annotated[Mapping[str, str], Field(min_length=1)]
    reason: Annotated[str, Field(min_length=1)]

    def fits(self, labels: Mapping[str, str]) -> bool:
        """True when every label of the rule has exactly its value."""
        return all(labels.get(name) == value for name, value in self.labels.items())


class ScratchSettings(Strict):
    """Where offloaded results are kept, how much and how long."""

    path: WorkspacePath = Path("scratch")
    incident_mib: Annotated[int, Field(ge=1)] = 256
    total_mib: Annotated[int, Field(ge=1)] = 4096
    keep: Length = timedelta(days=30)
    """After its incident is closed."""


class Redaction(Strict):
    """What is masked besides secrets, which always are."""

    emails: bool = False


class SettingsFile(Strict):
    """All that copilot.yaml may say."""

    model: ModelSettings = ModelSettings()
    budgets: Budgets = Budgets()
    policy: PolicyName = "default"
    """The context policy: a file's name in `policies`, without `.yaml`, or a built-in one; or a
    path that ends in `.yaml`."""
    policies: WorkspacePath = Path("policies")
    logbooks: tuple[LogbookSource, ...] = (
        EmbeddedLogbookSource(name="logs", path=Path("state/logs.sqlite")),
    )
    trackers: tuple[TrackerSource, ...] = (
        Source(name="tickets", path=Path("state/tickets.sqlite")),
    )
    libraries: tuple[Source, ...] = (Source(name="documents", path=Path("state/documents.sqlite")),)
    mcp_servers: tuple[McpServerSettings, ...] = ()
    notes: WorkspacePath = Path("notes")
    scratch: ScratchSettings = ScratchSettings()
    state: WorkspacePath = Path("state")
    """Journals, locks and the embedded sources."""
    identity_labels: tuple[str, ...] = (
        "alertname", "workflow", "task", "job", "service", "namespace", "cluster", "ticket",
    )  # fmt: skip
    """Alerts that agree in these labels are one incident."""
    ignore_alerts: tuple[AlertRule, ...] = (
        AlertRule(
            labels={"alertname": "Watchdog"}, reason="fires always, to show that alerts work"
        ),
    )
    redaction: Redaction = Redaction()
    daemon: DaemonSettings = DaemonSettings()
    intake: IntakeSettings = IntakeSettings()
    pollers: PollerSettings = PollerSettings()

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        for kind in ("logbooks", "trackers", "libraries", "mcp_servers"):
            names = [source.name for source in getattr(self, kind)]
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(
                    f"{kind}: two are called {', '.join(twice)}; the model calls each by its name, "
                    "so give them different ones"
                )
        if any(source.name == RUNBOOKS for source in self.libraries):
            raise ValueError(
                f"libraries: one is called {RUNBOOKS}, as the library of the workspace's runbooks "
                "is; give it another name"
            )
        return self


class Settings(SettingsFile):
    """The settings of a workspace. Every path in it is absolute."""

    workspace: Path
    file: Path | None
    """Where they were read; None when nothing but defaults was found."""


def settings_for(said: SettingsFile, workspace: Path, file: Path | None) -> Settings:
    """What the file *said*, with every path in its place below *workspace*."""
    placed = {name: _placed(value, workspace) for name, value in said}
    if said.policy.endswith(".yaml"):
        placed["policy"] = str(workspace / said.policy)
    return Settings.model_construct(**placed, workspace=workspace, file=file)


def _placed(value: Any, workspace: Path) -> Any:
    match value:
        case Path():
            return workspace / value
        case BaseModel():
            return value.model_copy(update={key: _placed(part, workspace) for key, part in value})
        case tuple():
            return tuple(_placed(item, workspace) for item in value)
        case _:
            return value
