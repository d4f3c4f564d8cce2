"""What systemd hears, over real sockets of both kinds."""

import os
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from copilot.sd_notify import Notifier, watchdog_interval


@pytest.fixture(params=["path", "abstract"])
def heard(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, socket.socket]]:
    """Return the name of a socket as systemd writes it, and the socket."""
    short = os.path.relpath(tmp_path)  # a socket's path has a hundred characters at most
    path = min(str(tmp_path / "notify"), f"{short}/notify", key=len)
    name = str(tmp_path / "notify") if request.param == "path" else f"@copilot-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.bind(path if request.param == "path" else f"\0{name[1:]}")
        line.settimeout(5)
        yield name, line


def test_each_state_is_one_datagram(heard: tuple[str, socket.socket]) -> None:
    name, line = heard
    notifier = Notifier({"NOTIFY_SOCKET": name}, monotonic_ns=lambda: 1_234_567_890)

    notifier.ready("serving")
    notifier.reloading()
    notifier.watchdog()
    notifier.status("4 incidents wait")
    notifier.stopping()

    assert [line.recv(1024) for _ in range(5)] == [
        b"READY=1\nSTATUS=serving",
        b"RELOADING=1\nMONOTONIC_USEC=1234567",
        b"WATCHDOG=1",
        b"STATUS=4 incidents wait",
        b"STOPPING=1",
    ]


def test_a_status_cannot_say_anything_else(heard: tuple[str, socket.socket]) -> None:
    name, line = heard

    Notifier({"NOTIFY_SOCKET": name}).status("disk\nREADY=1\x1b[2J" + "x" * 500)

    said = line.recv(4096).decode()
    assert said.startswith("STATUS=disk READY=1\\x1b[2J")
    assert "\n" not in said
    assert len(said) <= 210


@pytest.mark.parametrize("name", ["", "vsock:2:1234", "relative/socket"])
def test_without_a_socket_of_systemd_nothing_is_said(name: str) -> None:
    Notifier({"NOTIFY_SOCKET": name} if name else {}).ready()


def test_a_socket_that_is_gone_or_full_does_not_stop_the_daemon(tmp_path: Path) -> None:
    Notifier({"NOTIFY_SOCKET": str(tmp_path / "gone")}).ready()
    Notifier({"NOTIFY_SOCKET": "/" + "x" * 500}).ready()

    name = f"@copilot-full-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as deaf:
        deaf.bind(f"\0{name[1:]}")
        notifier = Notifier({"NOTIFY_SOCKET": name})
        for _ in range(2000):  # the kernel keeps far fewer
            notifier.watchdog()


@pytest.mark.parametrize(
    ("environ", "interval"),
    [
        ({"WATCHDOG_USEC": "60000000"}, timedelta(minutes=1)),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "7"}, timedelta(minutes=1)),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "8"}, None),
        ({}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "²"}, None),
    ],
)
def test_the_interval_counts_for_the_process_it_was_meant_for(
    environ: dict[str, str], interval: timedelta | None
) -> None:
    assert watchdog_interval(environ, pid=7) == interval
