"""The server starts when it can, says why when it cannot, and leaves in time."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from copilot.errors import ConfigError
from copilot.web.app import Doors, application
from copilot.web.server import Server
from tests.web.desk import Desk
from tests.web.served import POST, Served, heard


def made(listen: str) -> Server:
    return Server(application(Desk(), Doors()), listen)


def test_a_port_that_is_taken_is_told_with_its_setting(served: Served) -> None:
    with pytest.raises(ConfigError, match=rf"daemon.listen: 127.0.0.1:{served.port} cannot"):
        made(f"127.0.0.1:{served.port}").start()


@pytest.mark.parametrize("listen", ["192.0.2.1:0", "host.invalid:0"])
def test_an_address_that_is_not_ours_is_told(listen: str) -> None:
    with pytest.raises(ConfigError, match="cannot be listened to"):
        made(listen).start()


def test_a_port_is_free_again_after_a_stop() -> None:
    first = made("127.0.0.1:0")
    first.start()
    port = first.port
    assert first.stop()
    assert not first.is_alive()

    second = made(f"127.0.0.1:{port}")
    second.start()

    assert second.port == port
    assert second.stop()


def test_stopping_what_never_started_is_nothing() -> None:
    assert made("127.0.0.1:0").stop()


@pytest.mark.bad_input("B85")
def test_the_environment_of_a_stranger_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_CONCURRENCY", "many")
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")

    with Served() as served:
        assert served.get("/healthz", x_forwarded_host="evil.example").status == 200


def test_what_is_under_way_is_answered_before_the_server_leaves() -> None:
    with Served(Desk(hold=threading.Event())) as served, ThreadPoolExecutor(2) as threads:
        assert served.desk.hold is not None
        waiting = threads.submit(served.post)
        while not served.desk.waiting:
            pass
        leaving = threads.submit(served.server.stop)
        served.desk.hold.set()

        assert waiting.result().status == 200
        assert leaving.result()


def test_silent_connections_do_not_hold_the_server_up() -> None:
    with Served() as served, served.dial() as silent, served.dial() as kept:
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert heard(kept).status == 200
        silent.sendall(f"POST {POST} HTTP/1.1\r\n".encode())

        assert served.server.stop(seconds=1.8)


def test_an_address_of_version_six_is_served() -> None:
    server = made("[::1]:0")
    try:
        server.start()
    except ConfigError:
        pytest.skip("this machine has no IPv6 loopback")

    assert server.port > 0
    assert server.stop()
