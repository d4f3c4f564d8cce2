"""Clients that say nothing, too little or too late; and a thousand of them."""

import resource
import time
from contextlib import ExitStack

import pytest

from copilot.web.limits import Limits
from tests.web.served import POST, Served, heard, is_closed

HEAD = f"POST {POST} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode()


def test_a_connection_that_says_nothing_is_closed(hasty: Served) -> None:
    with hasty.dial() as line:
        assert is_closed(line)


def test_a_head_that_drips_is_closed_all_the_same(hasty: Served) -> None:
    began = time.monotonic()
    with hasty.dial() as line:
        line.settimeout(0.05)
        for byte in HEAD * 10:
            try:
                line.sendall(bytes([byte]))
                if line.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break

    assert 0.3 < time.monotonic() - began < 20  # to drip all of it takes a minute


def test_the_second_request_of_a_connection_has_no_longer(hasty: Served) -> None:
    with hasty.dial() as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert heard(line).status == 200

        line.sendall(b"GET /hea")

        assert is_closed(line)


def test_a_body_that_does_not_come_is_told_so_and_closed(hasty: Served) -> None:
    with hasty.dial() as line:
        line.sendall(HEAD + b"Content-Length: 10\r\n\r\n{")

        answer = heard(line)

        assert answer.status == 408
        assert answer.headers["connection"] == "close"
        assert is_closed(line)
        assert hasty.desk.turned == [("alertmanager", 408)]


def test_a_client_that_never_reads_its_answer_is_dropped() -> None:
    with Served(limits=Limits(header_s=0.3)) as served, served.dial() as line:
        served.desk.page = "x" * (8 << 20)
        line.sendall(b"GET /v1/alerts?limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3)

        deadline = time.monotonic() + 60
        while served.open_connections and time.monotonic() < deadline:
            time.sleep(0.01)

        assert served.open_connections == 0


@pytest.fixture
def _enough_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2300:
        pytest.skip(f"a thousand sockets need more than {soft} descriptors (hard limit {hard})")


@pytest.mark.usefixtures("_enough_descriptors")
def test_health_answers_behind_a_thousand_silent_connections() -> None:
    with Served() as served, ExitStack() as silent:
        for _ in range(1000):
            silent.enter_context(served.dial())

        began = time.monotonic()
        assert served.is_up()
        assert served.post().status == 200
        assert time.monotonic() - began < served.limits.header_s / 2  # none had to be timed out
        assert served.open_connections <= 101


def test_the_connection_that_was_silent_longest_makes_room() -> None:
    with Served(limits=Limits(connections=3)) as served, ExitStack() as open_ones:
        first, second, _third = (open_ones.enter_context(served.dial()) for _ in range(3))
        assert served.is_up()

        assert is_closed(first)
        second.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert heard(second).status == 200


def test_when_all_are_busy_a_sender_is_told_to_try_again_and_health_answers() -> None:
    with Served(limits=Limits(connections=2)) as served, ExitStack() as open_ones:
        for _ in range(2):
            line = open_ones.enter_context(served.dial())
            line.sendall(HEAD + b"Content-Length: 10\r\nExpect: 100-continue\r\n\r\n")
            assert line.recv(1024).startswith(b"HTTP/1.1 100 ")  # its body is awaited
        answer = served.post()

        assert answer.status == 503
        assert answer.headers["retry-after"] == "5"
        assert answer.headers["connection"] == "close"
        assert served.is_up()
        assert served.desk.turned == [("alertmanager", 503)]


def test_however_many_are_busy_there_is_an_end() -> None:
    with Served(limits=Limits(connections=2)) as served, ExitStack() as open_ones:
        busy = [open_ones.enter_context(served.dial()) for _ in range(2)]
        for line in busy:
            line.sendall(HEAD + b"Content-Length: 10\r\nExpect: 100-continue\r\n\r\n")
            assert line.recv(1024).startswith(b"HTTP/1.1 100 ")
        crowd = [open_ones.enter_context(served.dial()) for _ in range(20)]

        assert sum(is_closed(line) for line in crowd[:-1]) == 19
        assert served.open_connections == 3
