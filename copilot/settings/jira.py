"""What copilot.yaml may say of a Jira site: where it is, and what of it may be looked at."""

from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from copilot.settings.kinds import Length, Name, ProxyUrl, Url, WorkspacePath
from copilot.strict_model import Strict

ProjectKey = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,99}$")]


class JiraSource(Strict):
    """A tracker on a Jira site. Its secret is never written here."""

    name: Name
    kind: Literal["jira"]
    url: Url
    """As in https://example.atlassian.net, with the context path where there is one."""
    projects: Annotated[tuple[ProjectKey, ...], Field(min_length=1, max_length=50)]
    """Keys of the only projects that are looked at."""
    deployment: Literal["auto", "cloud", "server"] = "auto"
    """auto: the site is asked what it is. server is Data Center too."""
    user: Annotated[str, Field(pattern=r"^[^\s:]{0,200}$")] = ""
    """The e-mail of a Cloud account, or a user name. Without it the secret is a bearer token, as
    Data Center's personal access tokens are."""
    anonymous: bool = False
    """Ask without an account."""
    proxy: ProxyUrl | None = None
    """An HTTP proxy that leads there. What the environment names is not used."""
    ca: WorkspacePath | None = None
    """The certificates that its own must be signed by; else the usual ones."""
    allow_jql: bool = False
    """Whether the model may search by JQL, inside `projects`."""
    write: bool = False
    """Whether comments may be proposed for its tickets; a person approves each."""
    incident_page: Annotated[str, Field(pattern=r"^(https?://\S*\{incident\}\S*)?$")] = ""
    """As in https://copilot.example.org/incidents/{incident}: where a written ticket leads to."""
    connect_timeout: Length = timedelta(seconds=5)
    timeout: Length = timedelta(seconds=15)
    """The longest silence."""
    longest_wait: Length = timedelta(seconds=30)
    """How long one call may wait where Jira asks us to wait; beyond it, the call fails."""

    @model_validator(mode="after")
    def _account(self) -> Self:
        if self.anonymous and self.user:
            raise ValueError("give `user`, or `anonymous: true`, not both")
        if self.deployment == "cloud" and not self.user and not self.anonymous:
            raise ValueError("Jira Cloud wants the account's e-mail: `user: you@example.org`")
        if self.proxy and not self.url.startswith("https:"):
            raise ValueError("through a `proxy` only an https `url` is reached")
        if self.anonymous and self.write:
            raise ValueError("`write: true` needs an account; `anonymous: true` has none")
        return self
