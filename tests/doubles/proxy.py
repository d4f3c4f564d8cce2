"""An HTTP proxy that tunnels, and at the tunnel's end the double of a service under TLS.

Whoever asks it to CONNECT gets a tunnel, to no other place than the double; where they wanted to go
is remembered. Without CONNECT nothing passes.
"""

import socket
import ssl
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

from tests.doubles.line import copy, until

END = b"\r\n\r\n"


class Proxy:
    """Listens on loopback while the block runs."""

    def __init__(self, url: str, tls: ssl.SSLContext) -> None:
        """*url* is the double's, without TLS; *tls* what the server at the end shows."""
        self.asked: list[str] = []
        """The first line of every request to the proxy itself."""
        self._tls = tls
        self._target = int(url.rpartition(":")[2])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._take, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes who waits in accept
        self._listener.close()

    def _take(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self._listener.accept()
                threading.Thread(target=self._meet, args=(caller,), daemon=True).start()

    def _meet(self, caller: socket.socket) -> None:
        with caller, suppress(OSError):
            first = until(caller, END).partition(b"\r\n")[0].decode()
            self.asked.append(first)
            if not first.startswith("CONNECT "):
                caller.sendall(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
                return
            caller.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            with (
                self._tls.wrap_socket(caller, server_side=True) as inside,
                socket.create_connection(("127.0.0.1", self._target)) as target,
            ):
                back = threading.Thread(target=copy, args=(target, inside), daemon=True)
                back.start()
                copy(inside, target)
                back.join()
