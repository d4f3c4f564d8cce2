"""One connection: HTTP/1.1 as the vendor speaks it, with a time limit on the silent and a cap.

When there are too many connections, the one that has been silent longest makes room: whoever opens
a thousand and says nothing pushes out only themselves.

The vendor's parser in Python costs an alert a tenth more than its compiled one, which reads no body
of a POST that offers HTTP/2 as well: Java's own client offers that each time.
"""

import asyncio
import json
from http import HTTPStatus

from uvicorn.protocols.http.h11_impl import H11Protocol

from copilot.web.answers import HEADERS
from copilot.web.gathered import Gathered
from copilot.web.guards import CROWDED
from copilot.web.limits import Limits


class Connection(H11Protocol):
    """A connection within the limits of its class."""

    limits = Limits()
    silent_since = 0.0
    """On the loop's clock: since when nothing is owed to the client."""
    _head: asyncio.TimerHandle | None = None
    """Ends the wait for the head of a request."""
    _reader: asyncio.TimerHandle | None = None
    """Ends the wait for a client that does not read its answer."""

    def connection_made(  # type: ignore[override]  # as the vendor narrows it
        self, transport: asyncio.Transport
    ) -> None:
        """Take the connection in, at the cost of a silent one when there are too many."""
        super().connection_made(Gathered(transport, self.loop))
        self.silent_since = self.loop.time()
        self._watch()
        if len(self.connections) > self.limits.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._unwatch()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in bytes; those of a head that never ends do not prolong its time."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Begin the time of the next request."""
        super().on_response_complete()
        self.silent_since = self.loop.time()
        self._watch()

    def pause_writing(self) -> None:
        """Give a client that does not read its answer as long as one that does not write."""
        super().pause_writing()
        self._reader = self.loop.call_later(self.limits.header_s, self.drop)

    def resume_writing(self) -> None:
        """The client reads again."""
        super().resume_writing()
        if self._reader:
            self._reader.cancel()

    @property
    def is_busy(self) -> bool:
        """True while a request is being served."""
        return self.cycle is not None and not self.cycle.response_complete

    def drop(self) -> None:
        """Close at once, whatever was not sent yet."""
        self._unwatch()
        self.connections.discard(self)
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP the way everything is answered here."""
        if not (self.is_busy and self.cycle.response_started):
            body = json.dumps({"error": msg}).encode() + b"\n"
            status = HTTPStatus.BAD_REQUEST
            head = [f"HTTP/1.1 {status} {status.phrase}"]
            head += [f"{name}: {value}" for name, value in HEADERS.items()]
            head += ["content-type: application/json", f"content-length: {len(body)}"]
            head += ["connection: close", "", ""]
            self.transport.write("\r\n".join(head).encode() + body)
        self.transport.close()

    def _make_room(self) -> None:
        """Drop who was silent longest; when all are busy, only health is answered here."""
        others = [one for one in self.connections if isinstance(one, Connection)]
        silent = [one for one in others if one is not self and not one.is_busy]
        if silent:
            min(silent, key=lambda one: one.silent_since).drop()
        elif len(others) <= 2 * self.limits.connections:
            self.app_state = {**self.app_state, CROWDED: True}
        else:
            self.drop()

    def _watch(self) -> None:
        """Run the clock exactly while a head is awaited."""
        if self.is_busy:
            self._unwatch()
        elif self._head is None and not self.transport.is_closing():
            self._head = self.loop.call_later(self.limits.header_s, self.drop)

    def _unwatch(self) -> None:
        if self._head:
            self._head.cancel()
            self._head = None


def connections_within(limits: Limits) -> type[Connection]:
    """A class of connections with those limits: the vendor makes them of a class."""
    return type("LimitedConnection", (Connection,), {"limits": limits})
