"""The strict double of the Messages API: a loopback HTTP server that refuses what it should.

Use it as `with MessagesApi(calls(("search", {"query": "x"})), says("done")) as api:`, give the
client `api.url` and `api.key`, and look at `api.requests` and `api.refusals` afterwards.
"""

import itertools
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from tests.doubles.messages_api.catalog import CATALOG, description
from tests.doubles.messages_api.connection import Connection, Listener, Received
from tests.doubles.messages_api.refusal import Json, Refusal
from tests.doubles.messages_api.script import Fault, Reply, Turn
from tests.doubles.messages_api.service import Options, Service

API_VERSION = "2026-10-21"


class MessagesApi:
    """A running double. It plays its turns in order; a turn is a reply, a function or a fault.

    A function gets the request as the model would read it, after clearing and compaction. When the
    turns are used up, `responder` answers, if there is one.
    """

    key = "sk-ant-test-key"

    def __init__(
        self,
        *turns: Turn,
        responder: Callable[[Json], Reply] | None = None,
        options: Options | None = None,
    ) -> None:
        self.service = Service(options or Options(now=time.monotonic))
        self.service.responder = responder
        self.requests: list[Received] = []
        self.refusals: list[Refusal] = []
        self.play(*turns)
        self._http = Listener(("127.0.0.1", 0), Connection)
        self._http.take = self.take
        self._http.numbers = itertools.count(1)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def play(self, *turns: Turn) -> None:
        """Add turns to the end of the script."""
        self.service.script.extend(turns)

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

    def take(self, received: Received) -> tuple[Json, Fault | None]:
        """Answer one request. Raises Refusal, and keeps count of it."""
        self.requests.append(received)
        try:
            return self._route(received)
        except Refusal as refusal:
            self.refusals.append(refusal)
            raise

    def _route(self, received: Received) -> tuple[Json, Fault | None]:
        _check_headers(received, self.key)
        match received.method, received.path.partition("?")[0]:
            case "POST", "/v1/messages":
                return self.service.answer(received.body, received.betas)
            case "POST", "/v1/messages/count_tokens":
                return self.service.count(received.body, received.betas), None
            case "GET", "/v1/models":
                listed = [description(name, received.betas) for name in CATALOG]
                return {"data": listed, "has_more": False}, None
            case "GET", path if path.startswith("/v1/models/"):
                return description(path.removeprefix("/v1/models/"), received.betas), None
        raise Refusal("Not Found", status=404, type="not_found_error")


def _check_headers(received: Received, key: str) -> None:
    if received.headers.get("authorization") != f"Bearer {key}":
        raise Refusal("invalid bearer token", status=401, type="authentication_error")
    version = received.headers.get("anthropic-version")
    if version is None:
        raise Refusal("anthropic-version: header is required")
    if version != API_VERSION:
        raise Refusal(f'anthropic-version: "{version}" is not a valid version')
