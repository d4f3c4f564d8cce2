"""The tracker that each entry of the settings names. Nothing is asked of any service here."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from connectors.embedded_tracker import EmbeddedTracker
from connectors.jira_tracker import JiraSite, JiraTracker, Patience, open_jira
from copilot.credentials import secret
from copilot.errors import ConnectorError, CredentialsError
from copilot.settings import Source
from copilot.settings.jira import JiraSource

AnyTracker: TypeAlias = EmbeddedTracker | JiraTracker
JIRA_TOKEN = "JIRA_API_TOKEN"  # noqa: S105 - the name of a variable


def open_trackers(
    sources: Sequence[Source | JiraSource], environ: Mapping[str, str]
) -> dict[str, AnyTracker]:
    """The trackers by name. A missing secret is told by the first call that needs it."""
    sites = [source for source in sources if isinstance(source, JiraSource)]
    found: dict[str, AnyTracker] = {}
    for source in sources:
        if isinstance(source, JiraSource):
            found[source.name] = _jira(source, token_names(source, alone=len(sites) == 1), environ)
        else:
            found[source.name] = EmbeddedTracker(source.path, name=source.name)
    return found


def token_names(source: JiraSource, *, alone: bool) -> tuple[str, ...]:
    """The variables that may hold the tracker's secret, the first that is set counts.

    The common name serves only where there is one site: no site gets the secret of another.
    """
    own = f"JIRA_{source.name.upper().replace('-', '_')}_TOKEN"
    return (own, JIRA_TOKEN) if alone else (own,)


def _jira(source: JiraSource, names: tuple[str, ...], environ: Mapping[str, str]) -> JiraTracker:
    site = JiraSite(
        url=source.url,
        projects=source.projects,
        deployment=source.deployment,
        user=source.user,
        proxy=source.proxy,
        ca_file=source.ca,
        allow_jql=source.allow_jql,
        connect_s=source.connect_timeout.total_seconds(),
        read_s=source.timeout.total_seconds(),
    )
    return open_jira(
        site,
        name=source.name,
        token=(lambda: "") if source.anonymous else _token(source.name, names, environ),
        patience=Patience(longest_wait_s=source.longest_wait.total_seconds()),
    )


def _token(name: str, names: tuple[str, ...], environ: Mapping[str, str]) -> Callable[[], str]:
    def look() -> str:
        for variable in names:
            try:
                found = secret(variable, environ)
            except CredentialsError as error:
                raise ConnectorError(f"{name}: {error}") from None
            if found:
                return found.reveal()
        raise ConnectorError(
            f"{name}: no secret for Jira; set {names[0]}, or name its file in {names[0]}_FILE"
        )

    return look
