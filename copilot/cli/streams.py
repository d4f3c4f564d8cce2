"""Standard streams that somebody closed before we were started."""

import os
import sys


def stand_in() -> None:
    """Put `/dev/null` in the place of each closed stream.

    Else the next file that is opened gets its number, and what is printed goes there. Only stdin
    stays None for Python: a command that wants to read it says that it is closed.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            nowhere = open(number, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - kept for the life of the process
            setattr(sys, name, nowhere)
