"""Whether a Jira site can be read as configured: what a person wants to know before an incident."""

from collections.abc import Iterator
from dataclasses import dataclass

from connectors.jira_tracker.api import server_info
from connectors.jira_tracker.calls import JiraFault
from connectors.jira_tracker.tracker import JiraTracker
from copilot.errors import ConnectorError
from copilot.safe_text import one_line


@dataclass(frozen=True, slots=True)
class Reached:
    """One thing that was tried. `fix` is empty exactly when it works."""

    found: str
    fix: str = ""


def reach(tracker: JiraTracker) -> Iterator[Reached]:
    """The site, the account, and each project. What follows from a failure is left out."""
    site = tracker.site
    try:
        info = server_info(tracker.calls)
        kind = "Jira Cloud" if tracker.api.is_cloud else "Jira Data Center or Server"
        version = one_line(str(info.get("version", "of an unknown version")), 40)
        yield Reached(f"{kind} {version} at {site.url}")
        zone = tracker.api.time_zone()
        yield Reached(f"the account is known; its time zone is {one_line(zone, 40) or 'not told'}")
    except ConnectorError as error:
        yield Reached(str(error), "mend `url`, `user` or the secret; then run doctor again")
        return
    for project in site.projects:
        try:
            tracker.api.project(project)
        except JiraFault as failure:
            yield Reached(
                f"project {project}: {failure}",
                f"take {project} out of `projects`, or let the account browse it",
            )
        else:
            yield Reached(f"project {project} can be read")
