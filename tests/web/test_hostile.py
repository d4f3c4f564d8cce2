"""Requests that are meant to confuse, to exhaust or to come from elsewhere."""

import json
import re

import pytest

from copilot.web.limits import Limits
from tests.web.served import POST, Served, heard, is_closed

HEAD = f"POST {POST} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode()
MIB = 1 << 20


@pytest.mark.bad_input("B10")
def test_a_body_of_ten_mebibytes_is_refused_before_it_came(served: Served) -> None:
    answer = served.say(HEAD + b"Content-Length: 10485760\r\n\r\n")

    assert answer.status == 413
    assert answer.headers["connection"] == "close"
    assert served.desk.turned == [("alertmanager", 413)]


@pytest.mark.bad_input("B10")
def test_a_sender_that_pushes_ten_mebibytes_still_reads_the_refusal(served: Served) -> None:
    with served.dial() as line:
        line.sendall(HEAD + b"Content-Length: 10485760\r\n\r\n" + b"x" * (2 * MIB))

        assert heard(line).status == 413


@pytest.mark.bad_input("B11")
def test_chunks_without_an_end_are_refused_at_one_mebibyte(served: Served) -> None:
    chunk = b"10000\r\n" + b"1" * 65536 + b"\r\n"

    answer = served.say(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 17)

    assert answer.status == 413
    assert served.desk.deliveries == []


@pytest.mark.bad_input("B10", "B11")
def test_one_mebibyte_is_taken_and_one_byte_more_is_not(served: Served) -> None:
    most = json.dumps({"x": "y" * (MIB - 9)}).encode()
    assert len(most) == MIB

    assert served.post(POST, most).status == 200
    assert served.post(POST, most + b" ").status == 413


def test_a_chunked_body_is_taken_whole(served: Served) -> None:
    chunks = (b"1\r\n{\r\n", b"1;x=y\r\n}\r\n", b"0\r\nTrailer: x\r\n\r\n")

    answer = served.say(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *chunks)

    assert answer.status == 200
    assert served.desk.deliveries[0].body == b"{}"


def test_a_sender_that_goes_away_in_the_middle_leaves_nothing(served: Served) -> None:
    with served.dial() as line:
        line.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")

    assert served.is_up()
    assert served.desk.deliveries == []


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.nip.io", "", "localhost@evil.example", "localhost:x", "[::1",
     "localhost, evil.example", "127.0.0.1:8080.evil.example", "2130706433", "0x7f.1",
     "local host", "evil.example:127.0.0.1", "127.1", "localhost/x"],
)  # fmt: skip
@pytest.mark.bad_input("B79")
def test_a_request_for_another_host_is_misdirected(served: Served, host: str) -> None:
    answer = served.say(f"POST {POST} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())

    assert answer.status == 421
    assert "daemon.hosts" in answer.error
    assert served.desk.deliveries == []


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "localhost.", "127.0.0.1:8080", "[::1]:8080"]
)
def test_this_machines_own_names_are_served(served: Served, host: str) -> None:
    assert served.get("/v1/alerts", host=host).status == 200


def test_a_configured_name_is_served() -> None:
    with Served(hosts=("Ops.Example",)) as served:
        assert served.get("/v1/alerts", host="ops.example:443").status == 200
        assert served.get("/v1/alerts", host="evil.example").status == 421


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /healthz HTTP/1.0\r\n\r\n", 421),
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400),
    ],
    ids=["1.0", "none", "two"],
)
@pytest.mark.bad_input("B79")
def test_a_request_that_names_no_single_host_is_refused(
    served: Served, head: bytes, status: int
) -> None:
    assert served.say(head).status == status


@pytest.mark.parametrize(
    "header",
    [
        {"origin": "null"}, {"origin": "https://evil.example"}, {"origin": "http://localhost:1"},
        {"origin": "http://localhost:8080.evil.example"}, {"origin": ""},
        {"sec_fetch_site": "cross-site"}, {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "x"},
    ],
)  # fmt: skip
@pytest.mark.bad_input("B79")
def test_a_page_of_another_site_makes_no_browser_post(
    served: Served, header: dict[str, str]
) -> None:
    answer = served.post(host="localhost:8080", **header)

    assert answer.status == 403
    assert answer.error
    assert served.desk.deliveries == []


def test_a_page_of_ours_may_post(served: Served) -> None:
    own = {"origin": "http://localhost:8080", "sec_fetch_site": "same-origin"}

    assert served.post(host="localhost:8080", **own).status == 200


@pytest.mark.parametrize(
    "path",
    ["/static/..%2f..%2f", "//etc/passwd", "/../../etc/passwd", "/v1/alerts/", "/v1//alerts",
     "/v1/alerts/%00", "/v1/alerts/ALERTMANAGER", "/%2e%2e/", "/healthz/x", "/v1/alerts/other",
     "http://evil.example/healthz", "/\\", "/v1/%61lerts/../x"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.bad_input("B80")
def test_a_path_that_is_not_there_is_not_found(served: Served, method: str, path: str) -> None:
    answer = served.say(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())

    assert answer.status == 404
    assert answer.error == "Not Found"
    assert "location" not in answer.headers


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /" + b"a" * 8192 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
        (b"GET /?" + b"a" * 8192 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 1000 + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 60_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 600_000, 400),
        (b"GET /\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 421),
        (b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX : y\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n", 400),
        (HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
        (HEAD + b"Content-Length: -1\r\n\r\n{}", 400),
        (HEAD + b"Content-Length: 0x2\r\n\r\n{}", 400),
        (HEAD + b"Content-Length: 99999999999999999999\r\n\r\n{}", 413),
        (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
        (HEAD + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n", 400),
        (HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400),
        (HEAD + b"Transfer-Encoding: identity\r\n\r\n{}", 400),
        (HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", 400),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2;\n{}\r\n0\r\n\r\n", 400),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n", 400),
    ],
    ids=["path", "query", "headers", "header", "endless", "0.9", "tls", "h2", "latin", "space",
         "nul", "smuggling", "lengths", "negative", "hex", "huge", "codings", "tab", "unknown coding", "identity", "two codings", "chunk", "line feed",
         "overrun"],
)  # fmt: skip
@pytest.mark.bad_input("B80")
def test_what_is_no_honest_http_is_refused_and_the_server_stays_up(
    served: Served, request_bytes: bytes, status: int
) -> None:
    answer = served.say(request_bytes)

    assert answer.status == status
    assert answer.error
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert served.desk.deliveries == []
    assert served.is_up()


@pytest.mark.parametrize(
    "offer",
    [b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n",
     b"Connection: Upgrade\r\nUpgrade: websocket\r\n"],
    ids=["h2c", "websocket"],
)  # fmt: skip
def test_an_alert_whose_sender_offers_another_protocol_is_taken(
    served: Served, offer: bytes
) -> None:
    """Java's own client offers HTTP/2 with each POST; some parsers then read no body."""
    body = b"{}"
    answer = served.say(HEAD + offer + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    assert answer.status == 200
    assert [one.body for one in served.desk.deliveries] == [body]


@pytest.mark.bad_input("B80")
def test_a_smuggled_request_is_never_answered(served: Served) -> None:
    hidden = b"GET /v1/alerts HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with served.dial() as line:
        line.sendall(
            HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden
        )

        assert heard(line).status == 400
        assert is_closed(line)


def test_two_requests_in_one_breath_are_answered_in_order(served: Served) -> None:
    last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with served.dial() as line:
        line.sendall(HEAD + b"Content-Length: 2\r\n\r\n{}" + last)
        with line.makefile("rb") as both:
            said = both.read()

    bodies = re.findall(rb"\r\n\r\n({.*})\n", said)
    assert b"incidents" in bodies[0]
    assert bodies[1:] == [b'{"status":"ok"}']


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/healthz"), ("GET", "/metrics"), ("GET", "/nothing"), ("GET", POST),
     ("GET", "/v1/incidents?limit=x"), ("POST", "/v1/investigations")],
)  # fmt: skip
def test_no_answer_is_anything_a_browser_would_run_or_keep(
    served: Served, method: str, path: str
) -> None:
    headers = served.ask(method, path).headers

    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers
    assert headers["content-type"].split(";")[0] in ("application/json", "text/plain")


def test_a_websocket_is_not_opened(served: Served) -> None:
    answer = served.get("/healthz", connection="Upgrade", upgrade="websocket")

    assert answer.status == 200


def test_a_refusal_without_a_body_keeps_the_next_request_of_the_line_waiting_for_nothing() -> None:
    with Served(limits=Limits(linger_s=120)) as served, served.dial() as line:
        for _ in range(3):
            line.sendall(b"GET /v1/alerts HTTP/1.1\r\nHost: evil.example\r\n\r\n")

            assert heard(line).status == 421
