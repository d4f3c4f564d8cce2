"""The wire of the double: HTTP in, JSON or a stream of events out, and every way to break off."""

import contextlib
import itertools
import json
import socket
import struct
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.doubles.messages_api.refusal import Json, Refusal
from tests.doubles.messages_api.script import Bytes, Cut, Drip, Fault, Reset
from tests.doubles.messages_api.wire import events, frame

LARGEST_BODY = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came in. Header names are lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: Json

    @property
    def betas(self) -> frozenset[str]:
        """The betas that were asked for."""
        listed = self.headers.get("anthropic-beta", "").split(",")
        return frozenset(beta.strip() for beta in listed if beta.strip())


class Listener(ThreadingHTTPServer):
    """Accepts connections; `take` answers what comes in on them."""

    daemon_threads = True
    block_on_close = False
    numbers: "itertools.count[int]"
    take: Callable[[Received], tuple[Json, Fault | None]]

    def handle_error(self, *_: object) -> None:
        """Say nothing: a client that goes away is part of many tests."""


class GoneError(Exception):
    """The client was killed while it sent: what came is no request."""


class Connection(BaseHTTPRequestHandler):
    """One client's connection."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: Listener

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output clean."""

    def _serve(self) -> None:
        self._request_id = f"req_{next(self.server.numbers):04d}"
        try:
            received = self._received()
            answer, fault = self.server.take(received)
        except GoneError:
            self.close_connection = True
            return
        except Refusal as refusal:
            self._send_json(refusal.status, refusal.body(self._request_id), refusal.headers)
            return
        except Exception as error:  # noqa: BLE001 - a dropped connection would hide the cause
            failed = Refusal(f"the double failed: {error!r}", status=500, type="api_error")
            stop = {"x-should-retry": "false"}
            self._send_json(failed.status, failed.body(self._request_id), stop)
            return
        streams = bool(received.body.get("stream"))
        match fault:
            case Reset():
                self._reset()
            case Bytes(body, content_type):
                self._send(200, body, content_type)
            case Cut() | Drip() | None if streams:
                self._stream(list(events(answer)), fault)
            case Cut(clean=clean):
                text = json.dumps(answer).encode()
                self._send(200, text[: len(text) // 2] if clean else b"", "application/json")
            case _:
                self._send_json(200, answer)

    def _received(self) -> Received:
        headers = {name.lower(): value for name, value in self.headers.items()}
        length = int(headers.get("content-length", 0))
        if length > LARGEST_BODY:
            self.close_connection = True
            raise Refusal("Request exceeds the maximum size", status=413, type="request_too_large")
        raw = self.rfile.read(length)
        if len(raw) < length:
            raise GoneError
        try:
            body = json.loads(raw) if raw else {}
        except ValueError as error:
            raise Refusal(f"The request body is not valid JSON: {error}") from error
        if not isinstance(body, dict):
            raise Refusal("The request body is not a JSON object")
        return Received(self.command, self.path, headers, body)

    def _stream(self, all_events: list[Json], fault: Cut | Drip | None) -> None:
        self.send_response(200)
        self._common_headers("text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        shown = all_events[: fault.after] if isinstance(fault, Cut) else all_events
        for event in shown:
            if isinstance(fault, Drip):
                time.sleep(fault.seconds)
            self._chunk(frame(event))
        if isinstance(fault, Cut) and fault.error:
            error = {"type": fault.error, "message": "scripted"}
            self._chunk(frame({"type": "error", "error": error}))
        if isinstance(fault, Cut) and not fault.clean:
            self.close_connection = True  # no last chunk: the client sees a dropped connection
            return
        self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _send_json(self, status: int, body: Json, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(body).encode(), "application/json", (headers or {}).items())

    def _send(
        self, status: int, body: bytes, content_type: str, more: Iterable[tuple[str, str]] = ()
    ) -> None:
        self.send_response(status)
        self._common_headers(content_type)
        for name, value in more:
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(body)
            self.wfile.flush()

    def _common_headers(self, content_type: str) -> None:
        self.send_header("content-type", content_type)
        self.send_header("request-id", self._request_id)
        self.send_header("anthropic-organization-id", "org-of-the-double")

    def _reset(self) -> None:
        self.close_connection = True
        linger = struct.pack("ii", 1, 0)  # closing now sends RST instead of FIN
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()
