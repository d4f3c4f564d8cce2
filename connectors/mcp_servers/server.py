"""One MCP server: started by the first call, started again after it ended, ended with us.

A server that fails is one failed call. Once it failed twice in a row it is left alone for a while,
longer each time, so that no investigation spends its minutes on starting a broken program. What it
said of its tools at first holds: one that it describes otherwise later is not called any more.
"""

import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from connectors.mcp_servers.contents import refusal_of, rows_of
from connectors.mcp_servers.values import Launch, RefusedError, RemoteTool, Reply
from copilot.errors import ConnectorError
from copilot.safe_text import one_line
from copilot.values import JsonObject

if TYPE_CHECKING:
    from connectors.mcp_servers.door import Session

log = logging.getLogger(__name__)

LONGEST_REST_S = 60.0
COMPLAINTS = 200
"""Lines of its standard error that are logged of one start."""
READ_CHARACTERS = 64 << 10
SHOWN_CHARACTERS = 400
"""Of a text of the server: as much is redacted, and then as much is shown."""
CHANGED = (
    "it is not what it was when the copilot started, and is not called; look at what the server "
    "says of it now, then restart the copilot or send it SIGHUP"
)


class McpServer:
    """A server by its name. Safe to call from several threads at once."""

    def __init__(
        self,
        launch: Launch,
        *,
        redact: Callable[[str], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = launch.name
        self._launch = launch
        self._clean = partial(_cleaned, redact)  # no method: a session must not keep us alive
        self._clock = clock
        self._lock = threading.RLock()
        self._session: Session | None = None
        self._pinned: dict[str, RemoteTool] | None = None
        self._changed: frozenset[str] = frozenset()
        self._at_end: weakref.finalize[[], McpServer] | None = None
        self._failures = 0
        self._rests_until = 0.0

    def tools(self) -> tuple[RemoteTool, ...]:
        """Every tool as it was when it was first asked for. Raises ConnectorError."""
        with self._at_work() as session:
            return tuple(self._compared(session).values())

    @property
    def changed(self) -> frozenset[str]:
        """The names of those that it describes otherwise now, or has no more."""
        return self._changed

    def call(self, tool: str, arguments: JsonObject) -> Reply:
        """Its answer to one call. Raises ConnectorError, also for a tool that changed."""
        with self._at_work() as session:
            if tool in self._changed:
                raise ConnectorError(f"{self.name}: {tool}: {CHANGED}")
            try:
                result = session.call(tool, arguments)
            except RefusedError as error:
                return Reply(refused=str(error))
        if refused := refusal_of(result):
            return Reply(refused=self._clean(refused))
        rows, is_cut = rows_of(result)
        return Reply(rows, is_cut=is_cut)

    def close(self) -> None:
        """End the server; the next call starts it again."""
        session = self._session  # without the lock, which a start under way holds
        if session:
            session.close()

    @contextmanager
    def _at_work(self) -> "Iterator[Session]":
        """A session for one question, whose failure is counted."""
        session = self._open()
        try:
            yield session
        except ConnectorError:
            with self._lock:
                if session is self._session and not session.is_open:
                    self._failed()
            raise
        with self._lock:
            self._failures = 0

    def _open(self) -> "Session":
        with self._lock:
            if self._session and self._session.is_open:
                return self._session
            left = self._rests_until - self._clock()
            if left > 0:
                raise ConnectorError(
                    f"{self.name}: the MCP server failed {self._failures} times in a row and is "
                    f"started again in {left:.0f} s; go on without it",
                    retryable=True,
                )
            session = self._session = self._new()
            try:
                session.open()
                if self._pinned is not None:
                    self._compared(session)
            except ConnectorError:
                self._failed()
                raise
            return session

    def _new(self) -> "Session":
        try:
            from connectors.mcp_servers.door import Session
        except ModuleNotFoundError as error:
            raise ConnectorError(
                f"{self.name}: MCP servers need the extra `mcp` ({error.name} is missing): "
                "pip install 'incident-copilot[mcp]'"
            ) from None
        session = Session(self._launch, self._clean, _complaints(self.name, self._clean))
        if self._at_end:
            self._at_end.detach()
        self._at_end = weakref.finalize(self, session.close)  # when we go, or the process ends
        return session

    def _compared(self, session: "Session") -> dict[str, RemoteTool]:
        """What it said of its tools at first, after a look at what it says now."""
        listed = {tool.name: tool for tool in session.tools()}
        with self._lock:
            pinned = self._pinned = listed if self._pinned is None else self._pinned
            self._changed = frozenset(
                name for name, tool in pinned.items() if listed.get(name) != tool
            )
        return pinned

    def _failed(self) -> None:
        self._session = None
        self._failures += 1
        if self._failures > 1:
            rest = min(LONGEST_REST_S, 2.0 ** (self._failures - 1))
            self._rests_until = self._clock() + rest


def _cleaned(redact: Callable[[str], str], text: str) -> str:
    """A text of the server, redacted before it is cut, on one line, everything visible."""
    return one_line(redact(text[:READ_CHARACTERS]), SHOWN_CHARACTERS)


def _complaints(name: str, clean: Callable[[str], str]) -> Callable[[str], None]:
    """What logs each line that a server complains with, up to a number of lines."""
    count = 0

    def say(line: str) -> None:
        nonlocal count
        count += 1
        if count <= COMPLAINTS:
            log.info("event=mcp_stderr server=%s text=%r", name, clean(line))
        elif count == COMPLAINTS + 1:
            log.info("event=mcp_stderr_dropped server=%s after=%d", name, COMPLAINTS)

    return say
