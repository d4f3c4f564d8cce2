"""What ends an investigation from outside: Ctrl-C once, Ctrl-C twice, SIGTERM, a clock.

Once asks for the report; everything else stops now. Either way the journal is whole, so the same
command goes on where it stopped.
"""

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from types import FrameType

from copilot.cli import exit_codes
from copilot.cli.faults import Stopped


class Interrupts:
    """Whether a person has asked for the report. A handler prints nothing: it may cut a print."""

    def __init__(self) -> None:
        self.report_wanted = False

    def interrupt(self, _number: int, _frame: FrameType | None) -> None:
        """The first Ctrl-C asks for the report, the second stops."""
        if self.report_wanted:
            raise Stopped("stopped", exit_codes.INTERRUPTED)
        self.report_wanted = True


@contextmanager
def watching(timeout: timedelta | None) -> Iterator[Interrupts]:
    """Listen to the signals while the block runs; afterwards they mean what they meant before."""
    interrupts = Interrupts()

    def terminate(_number: int, _frame: FrameType | None) -> None:
        raise Stopped("stopped by SIGTERM", exit_codes.TERMINATED)

    def expire(_number: int, _frame: FrameType | None) -> None:
        raise Stopped(f"stopped after --timeout {timeout}", exit_codes.TIMEOUT)

    handlers = {
        signal.SIGINT: interrupts.interrupt,
        signal.SIGTERM: terminate,
        signal.SIGALRM: expire,
    }
    with ExitStack() as undo:
        for number, handler in handlers.items():
            undo.callback(signal.signal, number, signal.signal(number, handler))
        if timeout is not None:
            undo.callback(signal.setitimer, signal.ITIMER_REAL, 0)
            signal.setitimer(signal.ITIMER_REAL, max(timeout.total_seconds(), 0.001))
        yield interrupts
