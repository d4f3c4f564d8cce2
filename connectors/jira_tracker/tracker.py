"""The tickets of a Jira site: the one class that the rest of the copilot sees of Jira.

Only the configured projects exist here: they are part of every query, they bound which key may be
asked for, and what comes back of another project is dropped and counted.
"""

import threading
from collections.abc import Callable
from datetime import tzinfo
from zoneinfo import ZoneInfo

from connectors.jira_tracker.api import Api, server_info
from connectors.jira_tracker.calls import Calls, Clock, JiraFault, Opened, Patience
from connectors.jira_tracker.jql import query_for
from connectors.jira_tracker.reading import read_ticket
from connectors.jira_tracker.searching import Searching
from connectors.jira_tracker.site import KEY, JiraSite
from connectors.tracker import Ticket, TicketSearch, TicketsFound
from copilot.errors import UsageError
from copilot.window import ALWAYS


class JiraTracker:
    """A tracker on a Jira site. Nothing is asked of the site before the first call."""

    def __init__(self, site: JiraSite, calls: Calls, *, name: str = "jira") -> None:
        self.name = name
        self.site = site
        self.calls = calls
        self._lock = threading.Lock()
        self._api: Api | None = None
        self._zone: tuple[tzinfo | None] | None = None

    @property
    def api(self) -> Api:
        """The requests to the site, which is asked once what it is. Raises JiraFault."""
        with self._lock:
            if self._api is None:
                kind = self.site.deployment
                if kind == "auto":
                    info = server_info(self.calls)
                    kind = "cloud" if info.get("deploymentType") == "Cloud" else "server"
                self._api = Api(self.calls, is_cloud=kind == "cloud")
            return self._api

    def search(self, search: TicketSearch) -> TicketsFound:
        """The matching tickets without their parts and descriptions.

        Text is looked for in titles, descriptions and comments. When no ticket holds all the words,
        those with some of them are given, and a note says so. Raises UsageError for values that do
        not exist and projects out of scope.
        """
        zone = None if search.updated == ALWAYS else self._time_zone()
        query = query_for(search, self.site, zone)
        return Searching(self.api, self.site, search, query).found()

    def ticket(self, key: str, parts: frozenset[str]) -> Ticket | None:
        """That ticket with the *parts* asked for, or None when this account can see none.

        Raises UsageError for a key out of scope.
        """
        key = key.strip().upper()
        if not KEY.fullmatch(key):
            return None
        if not self.site.holds(key):
            raise UsageError(
                f"{key} is not open here; the projects of {self.name} are "
                f"{', '.join(self.site.projects)}"
            )
        return read_ticket(self.api, self.site, key, parts)

    def _time_zone(self) -> tzinfo | None:
        """The zone of the account's profile, in which Jira reads times; None when nobody says."""
        if self._zone is None:
            self._zone = (_zone(self.api),)
        return self._zone[0]


def open_jira(
    site: JiraSite,
    *,
    token: Callable[[], str],
    name: str = "jira",
    clock: Clock | None = None,
    patience: Patience | None = None,
) -> JiraTracker:
    """The tracker on *site*. The `jira` package is loaded with the first call: it takes a while.

    *token* is asked for the account's secret then, and again after it was refused; empty means
    without an account. It raises ConnectorError when there is none.
    """

    def connect() -> Opened:
        from connectors.jira_tracker.door import Door

        return Door(site, token())

    calls = Calls(f"{name}: Jira at {site.url}", connect, clock or Clock(), patience or Patience())
    return JiraTracker(site, calls, name=name)


def _zone(api: Api) -> tzinfo | None:
    try:
        return ZoneInfo(api.time_zone())
    except JiraFault as failure:
        if failure.fault and failure.fault.kind in {"missing", "forbidden"}:
            return None
        raise
    except (ValueError, OSError, LookupError):  # an unknown name, or no zone data on this machine
        return None
