"""The server: a listening socket of our own, and the vendor's loop on a thread."""

import logging
import socket
import threading

import uvicorn
from starlette.types import ASGIApp

from copilot.errors import ConfigError, CopilotError
from copilot.web.access import split_address
from copilot.web.connection import connections_within
from copilot.web.limits import Limits

log = logging.getLogger(__name__)

BATCH = 64
"""Connections accepted at a time: more would take descriptors before the cap can act."""
WAITING = 1024
"""Connections that the kernel keeps for us meanwhile."""
START_S = 10.0


class Server:
    """Serves *app* at `HOST:PORT` between `start` and `stop`."""

    def __init__(self, app: ASGIApp, listen: str, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        self._listen = listen
        self._socket: socket.socket | None = None
        self._vendor = _Vendor(
            uvicorn.Config(
                app,
                loop="asyncio",  # else whatever happens to be installed
                http=connections_within(limits),
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                workers=1,  # else the environment is asked
                proxy_headers=False,
                server_header=False,
                backlog=BATCH,
                h11_max_incomplete_event_size=limits.header_bytes,
                timeout_keep_alive=max(1, int(limits.header_s)),
                timeout_graceful_shutdown=2,
            )
        )
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)

    @property
    def port(self) -> int:
        """The port that is listened to, also when 0 was asked for."""
        assert self._socket is not None
        return int(self._socket.getsockname()[1])

    def start(self) -> None:
        """Listen and serve. Raises ConfigError when the address cannot be had."""
        self._socket = _bound(self._listen)
        self._thread.start()
        self._vendor.has_begun.wait(START_S)
        if not self._vendor.started:
            self._socket.close()
            raise CopilotError(f"the web server did not start at {self._listen}; its log says why")

    def stop(self, seconds: float = 5.0) -> bool:
        """Take no more connections and end; True when what was under way is answered."""
        self._vendor.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def is_alive(self) -> bool:
        """True while it serves."""
        return self._thread.is_alive()

    def _run(self) -> None:
        assert self._socket is not None
        try:
            self._vendor.run(sockets=[self._socket])
        finally:
            self._vendor.has_begun.set()


class _Vendor(uvicorn.Server):
    """The vendor's server, which says when it has begun."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.has_begun = threading.Event()
        """Set once it serves, or never will."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(WAITING)  # the vendor has just set it to the size of a batch
        self.has_begun.set()


def _bound(listen: str) -> socket.socket:
    """A socket at `HOST:PORT`, not listening yet."""
    host, port = split_address(listen)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
        except OSError:
            bound.close()
            raise
    except OSError as error:
        raise ConfigError(
            f"daemon.listen: {listen} cannot be listened to ({error.strerror}); "
            "end what has it, or name another port"
        ) from None
    return bound
