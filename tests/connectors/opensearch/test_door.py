"""The door, against a small real server: what is sent, what is refused, what is cut off."""

import gzip
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from connectors.opensearch import Basic, Bearer, Patience, Signed, Site
from connectors.opensearch.door import LARGEST_BODY, Door
from connectors.opensearch.replies import Ask, NoReply
from tests.certificates import make, server_side

THEN = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASK = Ask("POST", "_msearch", "search", [{"index": ["app-*"]}, {"size": 0}])
Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Keeps each request and answers as the test says."""

    seen: list[tuple[str, str, dict[str, str], bytes]]
    answer: Answer
    protocol_version = "HTTP/1.1"

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.seen.append((self.command, self.path, headers, body))
        type(self).answer(self)

    do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - http.server calls them so

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        """Answer with *body*."""
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(answer: Answer, context: ssl.SSLContext | None = None) -> Iterator[tuple[str, list]]:  # type: ignore[type-arg] # see Handler.seen
    """Give the address of a server that answers so, and the requests that it got."""
    handler = type("One", (Handler,), {"seen": [], "answer": staticmethod(answer)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    scheme = "https" if context else "http"
    try:
        yield f"{scheme}://127.0.0.1:{server.server_port}", handler.seen  # type: ignore[attr-defined] # made above
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def door(url: str, **site: object) -> Door:
    return Door(Site(url, ("app-*",), **site), lambda: THEN)  # type: ignore[arg-type] # by name


def well(handler: Handler) -> None:
    handler.send(b'{"ok": true}', content_type="application/json")


def test_a_request_goes_to_the_configured_address_and_below_its_path() -> None:
    with serving(well) as (url, seen):
        reply = door(f"{url}/api/datasources/proxy/uid/abc").send(ASK)

    assert reply.document() == {"ok": True}
    [(method, path, headers, body)] = seen
    assert (method, path) == ("POST", "/api/datasources/proxy/uid/abc/_msearch")
    assert headers["content-type"] == "application/x-ndjson"
    assert body == b'{"index":["app-*"]}\n{"size":0}\n'


@pytest.mark.parametrize(
    ("login", "header"),
    [
        (None, None),
        (Basic("reader", "pässword"), "Basic cmVhZGVyOnDDpHNzd29yZA=="),
        (Bearer("token-1"), "Bearer token-1"),
    ],
)
def test_a_login_is_one_header(login: object, header: str | None) -> None:
    with serving(well) as (url, seen):
        door(url, login=login).send(ASK)

    assert seen[0][2].get("authorization") == header


def test_a_signed_request_is_signed_for_the_path_that_is_sent() -> None:
    login = Signed("eu-west-1", "es", "AKID", "key")
    ask = Ask("GET", "app-*,b/_field_caps", "look", None, {"fields": "*"})
    with serving(well) as (url, seen):
        door(url, login=login).send(ask)

    _, path, headers, _ = seen[0]
    assert path == "/app-*,b/_field_caps?fields=%2A"
    assert headers["x-amz-date"] == "20260301T120000Z"
    assert headers["authorization"].startswith(
        "AWS4-HMAC-SHA256 Credential=AKID/20260301/eu-west-1/es/"
    )


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    def away(handler: Handler) -> None:
        handler.send(b"", 302, location=f"http://127.0.0.1:{handler.server.server_port}/else")  # type: ignore[attr-defined] # an HTTPServer

    with serving(away) as (url, seen):
        reply = door(url, login=Bearer("token-1")).send(ASK)

    assert reply.status == 302
    assert len(seen) == 1


@pytest.mark.bad_input("B85")
def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(well) as (url, _):
        assert door(url).send(ASK).status == 200


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_over_the_limit_is_cut_off(packed: bool) -> None:
    large = b'"' + b"x" * LARGEST_BODY + b'"'

    def answer(handler: Handler) -> None:
        body = gzip.compress(large) if packed else large
        coding = "gzip" if packed else "identity"
        try:
            handler.send(body, content_type="application/json", content_encoding=coding)
        except OSError:  # hung up on, as it should be
            handler.close_connection = True

    with serving(answer) as (url, _), pytest.raises(NoReply, match="over 8 MiB") as caught:
        door(url).send(ASK)

    assert caught.value.too_large
    assert not caught.value.again


@pytest.mark.parametrize("begun", [False, True], ids=["no-answer", "dripping"])
def test_an_answer_that_takes_too_long_is_given_up(begun: bool) -> None:
    release = threading.Event()

    def slow(handler: Handler) -> None:
        if begun:
            handler.send_response(200)
            handler.send_header("content-length", "100")
            handler.end_headers()
            handler.wfile.write(b"{")
            handler.wfile.flush()
        release.wait(10)
        handler.close_connection = True

    with serving(slow) as (url, _):
        with pytest.raises(NoReply, match=r"no whole answer within 0\.2 s") as caught:
            door(url, patience=Patience(answer_s=0.2)).send(ASK)
        release.set()

    assert caught.value.timed_out


def test_an_answer_that_breaks_off_may_be_asked_for_again() -> None:
    def broken(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "100")
        handler.end_headers()
        handler.wfile.write(b'{"half')
        handler.close_connection = True

    with serving(broken) as (url, _), pytest.raises(NoReply, match="broke off") as caught:
        door(url).send(ASK)

    assert caught.value.again


def test_nothing_listening_is_said_plainly() -> None:
    with serving(well) as (url, _):
        gone = url

    with pytest.raises(NoReply, match="no connection"):
        door(gone).send(ASK)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an authority, and a certificate of it for a server and for a client."""
    return make(tmp_path_factory.mktemp("tls"), "IP:127.0.0.1")


def test_a_certificate_of_an_unknown_authority_is_refused(certificates: Path) -> None:
    with (
        serving(well, server_side(certificates)) as (url, seen),
        pytest.raises(NoReply, match="certificate was not accepted") as caught,
    ):
        door(url, login=Bearer("token-1")).send(ASK)

    assert not caught.value.again
    assert seen == []


def test_a_certificate_of_the_named_authority_is_accepted(certificates: Path) -> None:
    with serving(well, server_side(certificates)) as (url, _):
        assert door(url, ca_file=certificates / "ca.pem").send(ASK).status == 200


def test_mutual_tls_shows_our_certificate(certificates: Path) -> None:
    with serving(well, server_side(certificates, mutual=True)) as (url, _):
        trusting = door(
            url,
            ca_file=certificates / "ca.pem",
            client_certificate=certificates / "client.pem",
            client_key=certificates / "client.key",
        )
        assert trusting.send(ASK).status == 200
