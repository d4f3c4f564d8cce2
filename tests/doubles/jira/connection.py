"""The wire of the double: HTTP in, JSON or a fault out."""

import contextlib
import json
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.doubles.jira.faults import Fault


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came in. Header names are lower case; the body is what the JSON holds."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back. A body of bytes is sent as it is."""

    status: int
    body: Any
    headers: Mapping[str, str]


class Listener(ThreadingHTTPServer):
    """Accepts connections; `take` answers what comes in on them."""

    daemon_threads = True
    block_on_close = False
    take: Callable[[Received], Answer | Fault]

    def handle_error(self, *_: object) -> None:
        """Say nothing: a client that goes away is part of many tests."""


class Connection(BaseHTTPRequestHandler):
    """One client's connection."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: Listener

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output clean."""

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        raw = self.rfile.read(int(headers.get("content-length", 0)))
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        received = Received(
            self.command, parts.path, query, headers, json.loads(raw) if raw else None
        )
        match self.server.take(received):
            case Fault(resets=True):
                self._reset()
            case Fault() as fault:
                self._send(fault.status or 500, fault.headers, fault.body, fault.drips_s)
            case Answer(status, body, headers_out):
                text = body if isinstance(body, bytes) else json.dumps(body).encode()
                kind = {"Content-Type": "application/json;charset=UTF-8"}
                self._send(status, {**kind, **headers_out}, text, 0)

    def _send(self, status: int, headers: Mapping[str, str], body: bytes, drips_s: float) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            if not drips_s:
                self.wfile.write(body)
            for byte in body if drips_s else b"":
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(drips_s)

    def _reset(self) -> None:
        self.close_connection = True
        linger = struct.pack("ii", 1, 0)  # closing now sends RST instead of FIN
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()
