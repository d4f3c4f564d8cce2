"""A desk behind the real server on loopback, and two ways to talk to it."""

import json
import socket
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from typing import Any, Self

from copilot.web.access import Access
from copilot.web.app import Doors, application
from copilot.web.limits import Limits
from copilot.web.server import Server
from tests.web.desk import Desk

JSON = {"content_type": "application/json"}
POST = "/v1/alerts/alertmanager"
QUICK = Limits(header_s=0.4, body_s=0.4, answer_s=0.5, linger_s=0.1)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        assert self.body.endswith(b"\n")
        assert self.body.count(b"\n") == 1
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The one-line error that every refusal carries."""
        [(key, text)] = self.json.items()
        assert key == "error"
        assert "Traceback" not in text
        return str(text)


@dataclass
class Served:
    """The server of one test."""

    desk: Desk = field(default_factory=Desk)
    access: Access = field(default_factory=Access)
    hosts: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def __enter__(self) -> Self:
        doors = Doors(self.access, self.hosts, self.limits)
        self.server = Server(application(self.desk, doors), "127.0.0.1:0", self.limits)
        self.server.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.desk.hold:
            self.desk.hold.set()
        assert self.server.stop()

    @property
    def port(self) -> int:
        return self.server.port

    @property
    def open_connections(self) -> int:
        return len(self.server._vendor.server_state.connections)

    def ask(self, method: str, path: str, body: bytes = b"", /, **headers: str) -> Answer:
        """One request of an ordinary client. `_` in the names of headers stands for `-`."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body or None, named)
            return _answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str = POST, body: bytes = b"{}", /, **headers: str) -> Answer:
        named = {**JSON, **headers}
        return self.ask("POST", path, body, **named)

    def dial(self) -> socket.socket:
        """A connection on which nothing was said."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def say(self, *pieces: bytes) -> Answer:
        """The answer to bytes as they are."""
        with self.dial() as line:
            for piece in pieces:
                line.sendall(piece)
            return heard(line)

    def is_up(self) -> bool:
        return self.get("/healthz").status == 200


def heard(line: socket.socket) -> Answer:
    """The next answer on that line; raises when it was closed without one."""
    response = HTTPResponse(line)
    response.begin()
    return _answer(response)


def _answer(response: HTTPResponse) -> Answer:
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, headers, response.read())


def is_closed(line: socket.socket) -> bool:
    """Whether the server closed that line, once it says something about it."""
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True
