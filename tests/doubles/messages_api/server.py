"""The strict double of the Messages API: a loopback HTTP server that refuses what it should.

with MessagesApi(calls(("search", {"query": "x"})), says("done")) as api:
    ... base_url=api.url, api_key=api.key ...
    assert api.requests[0].body["model"] == "claude-opus-5-5"
"""

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from tests.doubles.messages_api.catalog import CATALOG, description
from tests.doubles.messages_api.refusal import Json, Refusal
from tests.doubles.messages_api.script import Bytes, Cut, Drip, Fault, Reply, Reset, Turn
from tests.doubles.messages_api.service import Options, Service
from tests.doubles.messages_api.wire import events, frame

API_VERSION = "2026-10-21"
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
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.api = self
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


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    api: MessagesApi

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that goes away is part of many tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: _Server

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output clean."""

    def _serve(self) -> None:
        self._request_id = f"req_{len(self.server.api.requests) + 1:04d}"
        try:
            received = self._received()
            answer, fault = self.server.api.take(received)
        except Refusal as refusal:
            self._send_json(refusal.status, refusal.body(self._request_id), refusal.headers)
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
