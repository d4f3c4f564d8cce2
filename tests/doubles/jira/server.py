"""The strict double of Jira: a loopback HTTP server that refuses what Jira would refuse.

Use it as `with Jira(Site(issues=[Issue("OPS-1")])) as jira:`, point the tracker at `jira.url`, and
look at `jira.requests` and `jira.queries` afterwards. A path's next answers can be replaced with
`jira.fault("/search", Fault(status=503))`.
"""

import base64
import re
import threading
import time
from types import TracebackType
from typing import Self

from tests.doubles.jira import answers, search, writes
from tests.doubles.jira.answers import Refusal
from tests.doubles.jira.connection import Answer, Connection, Listener, Received
from tests.doubles.jira.faults import Fault
from tests.doubles.jira.site import Site

ISSUE = re.compile(r"/issue/([^/]+)(?:/(comment|changelog|remotelink)(?:/([^/]+))?)?")


class Jira:
    """A running double of one site."""

    def __init__(self, site: Site | None = None, *, path: str = "") -> None:
        self.site = site or Site()
        self.requests: list[Received] = []
        self.queries: list[str] = []
        """Every JQL that came in, in order, whether it was right or not."""
        self.written = writes.Written()
        self._faults: list[tuple[str, Fault]] = []
        self._context = path
        self._http = Listener(("127.0.0.1", 0), Connection)
        self._http.take = self.take
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}{path}"
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def fault(self, path: str, *faults: Fault) -> None:
        """Answer the next requests whose path ends in *path* with *faults*, one each."""
        self._faults += [(path, fault) for fault in faults]

    def count(self, path: str = "") -> int:
        """How many requests came in whose path ends in *path*."""
        return sum(received.path.endswith(path) for received in self.requests)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def take(self, received: Received) -> Answer | Fault:
        """Answer one request, or give the fault that waits for it."""
        self.requests.append(received)
        fault = self._next_fault(received.path)
        if fault:
            time.sleep(fault.delay_s)
            if fault.status or fault.resets:
                return fault
        try:
            return self._route(received)
        except Refusal as refusal:
            return refusal.answer
        except Exception as error:  # noqa: BLE001 - a dropped connection would hide the cause
            return Answer(500, {"errorMessages": [f"the double failed: {error!r}"]}, {})

    def _next_fault(self, path: str) -> Fault | None:
        for index, (ending, fault) in enumerate(self._faults):
            if path.endswith(ending):
                del self._faults[index]
                return fault
        return None

    def _route(self, received: Received) -> Answer:
        version = "3" if self.site.is_cloud else "2"
        match = re.fullmatch(re.escape(self._context) + r"/rest/api/(2|3)(/.*)", received.path)
        if not match or (match[1] == "3" and not self.site.is_cloud):
            page = b"<html><head><title>404 Not Found</title></head></html>"
            return Answer(404, page, {"Content-Type": "text/html"})
        path = match[2]
        if path == "/serverInfo":
            return Answer(200, answers.server_info(self.site, self.url), {})
        self._check_account(received)
        if path == "/search" and self.site.is_cloud:
            raise Refusal(
                410,
                "The requested API has been removed. Please migrate to the /rest/api/3/search/jql "
                "API.",
            )
        if match[1] != version:
            raise Refusal(404, "this double speaks the newest version only")
        return self._answer(path, received)

    def _answer(self, path: str, received: Received) -> Answer:
        if path in {"/search", "/search/jql"}:
            self.queries.append(str((received.body or {}).get("jql", "")))
            return Answer(200, search.page(self.site, path, received, self.url), {})
        if path == "/myself":
            return Answer(200, answers.myself(self.site), {})
        if path == "/status":
            return Answer(200, [{"name": name} for name in self.site.statuses], {})
        if path.startswith("/project/"):
            return Answer(200, answers.project(self.site, path.removeprefix("/project/")), {})
        if match := ISSUE.fullmatch(path):
            key, part, number = match.groups()
            if received.method == "GET" and part != "remotelink":
                return Answer(200, answers.part(self.site, key, part, received, self.url), {})
            return self.written.answer(self.site, received, (key, part, number))
        raise Refusal(404, "null for uri: " + path)

    def _check_account(self, received: Received) -> None:
        """Both accept e-mail or user name with a secret; only Data Center a bearer token."""
        pair = f"{self.site.user}:{self.site.token}".encode()
        allowed = {f"Basic {base64.b64encode(pair).decode()}"}
        if not self.site.is_cloud:
            allowed.add(f"Bearer {self.site.token}")
        if received.headers.get("authorization") not in allowed:
            raise Refusal(401, "You are not authenticated. Authentication required.")
        if received.method != "GET" and received.headers.get("x-atlassian-token") != "no-check":
            raise Refusal(403, "XSRF check failed")
