"""What the daemon tells systemd, over the datagram socket that systemd names. A no-op elsewhere.

The protocol is sd_notify(3). Nothing here fails the daemon: the watcher must not end what it
watches.
"""

import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta

from copilot.safe_text import one_line

STATUS_CHARACTERS = 200


class Notifier:
    """Tells systemd where the daemon stands. Safe for many threads."""

    def __init__(
        self, environ: Mapping[str, str], *, monotonic_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        name = environ.get("NOTIFY_SOCKET", "")
        # An abstract name is written with @ and begins with NUL; anything else is not for us.
        self._address = f"\0{name[1:]}" if name.startswith("@") else name
        self._is_told = name.startswith(("/", "@"))
        self._monotonic_ns = monotonic_ns

    def ready(self, status: str = "") -> None:
        """The daemon serves; also said when a reload is over."""
        self._tell("READY=1", *_status(status))

    def reloading(self) -> None:
        """The daemon takes in new settings; `ready` ends it."""
        self._tell("RELOADING=1", f"MONOTONIC_USEC={self._monotonic_ns() // 1000}")

    def stopping(self, status: str = "") -> None:
        """The daemon leaves."""
        self._tell("STOPPING=1", *_status(status))

    def watchdog(self) -> None:
        """The work goes on. To be said from the loop that does it, well within the interval."""
        self._tell("WATCHDOG=1")

    def status(self, text: str) -> None:
        """One line that `systemctl status` shows."""
        self._tell(*_status(text))

    def _tell(self, *lines: str) -> None:
        if not self._is_told or not lines:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.setblocking(False)
            line.sendto("\n".join(lines).encode("utf-8", "replace"), self._address)


def watchdog_interval(environ: Mapping[str, str], pid: int) -> timedelta | None:
    """How often systemd wants to hear of process *pid*; None when it does not."""
    usec, watched = environ.get("WATCHDOG_USEC", ""), environ.get("WATCHDOG_PID", "")
    if watched and watched != str(pid):
        return None
    if not usec.isascii() or not usec.isdecimal() or int(usec) == 0:
        return None
    return timedelta(microseconds=int(usec))


def _status(text: str) -> list[str]:
    """A line for the status; on one line, so that it cannot say anything else."""
    return [f"STATUS={one_line(text, STATUS_CHARACTERS)}"] if text else []
