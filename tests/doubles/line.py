"""A line to the double of the model's service that can be cut, and mended, in several ways.

with MessagesApi(responder=…) as api, Line(api) as line:
    line.cut("refused")
    line.mend()
"""

import json
import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Literal, Protocol, Self

Way = Literal["", "refused", "silent", "overloaded", "failed"]
"""Nobody listens; who listens never answers; 529 to everything; 500 to everything."""
STATUS: dict[Way, tuple[int, str]] = {
    "overloaded": (529, "overloaded_error"),
    "failed": (500, "api_error"),
}
CHUNK = 1 << 16


class Reached(Protocol):
    """Where the service is, and its key."""

    url: str
    key: str


class Line:
    """Passes bytes on to the double at a port of its own, as long as it is whole."""

    def __init__(self, api: Reached, *, wait_ms: int = 0) -> None:
        """*wait_ms*: what a refusal asks to be waited for; 0: it does not say."""
        self.key = api.key
        self.way: Way = ""
        self.asked = 0
        """Connections that came while it was cut; none is seen where nobody listens."""
        self._wait_ms = wait_ms
        self._target = int(api.url.rpartition(":")[2])
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener = self._listening(0)
        self._port = int(self._listener.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.cut("refused")

    def cut(self, way: Way) -> None:
        """Break what is open, and meet whoever comes next in that way."""
        before, self.way = self.way, way
        if way == "refused" and before != "refused":
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)  # wakes who waits in accept
            self._listener.close()
        elif before == "refused" and way != "refused":
            self._listener = self._listening(self._port)
        with self._lock:
            held, self._open = self._open, set()
        for one in held:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Pass everything on again."""
        self.cut("")

    def _listening(self, port: int) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", port), backlog=128)
        threading.Thread(target=self._take, args=(listener,), daemon=True).start()
        return listener

    def _take(self, listener: socket.socket) -> None:
        while True:
            try:
                caller, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._meet, args=(caller,), daemon=True).start()

    def _meet(self, caller: socket.socket) -> None:
        way = self.way
        self.asked += bool(way)
        with caller, suppress(OSError):
            self._hold(caller)
            if way in STATUS:
                self._refuse(caller, *STATUS[way])
            elif way:
                while caller.recv(CHUNK):
                    pass
            else:
                self._pass_on(caller)

    def _hold(self, one: socket.socket) -> None:
        with self._lock:
            self._open.add(one)

    def _pass_on(self, caller: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", self._target)) as target:
            self._hold(target)
            back = threading.Thread(target=copy, args=(target, caller), daemon=True)
            back.start()
            copy(caller, target)
            back.join()

    def _refuse(self, caller: socket.socket, status: int, kind: str) -> None:
        """Read one request to its end, and answer it."""
        head, _, rest = until(caller, b"\r\n\r\n").partition(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-len")]
        left = int(lengths[0].split(b":")[1]) - len(rest) if lengths else 0
        while left > 0 and (more := caller.recv(CHUNK)):
            left -= len(more)
        body = json.dumps({"type": "error", "error": {"type": kind, "message": "not now"}})
        wait = f"retry-after-ms: {self._wait_ms}\r\n" if self._wait_ms else ""
        caller.sendall(
            f"HTTP/1.1 {status} Refused\r\ncontent-type: application/json\r\n{wait}"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n{body}".encode()
        )


def until(caller: socket.socket, mark: bytes) -> bytes:
    found = b""
    while mark not in found and (more := caller.recv(CHUNK)):
        found += more
    return found


def copy(source: socket.socket, target: socket.socket) -> None:
    """Copy until the source ends, and tell the target so."""
    with suppress(OSError):
        while some := source.recv(CHUNK):
            target.sendall(some)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
