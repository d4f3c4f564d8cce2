"""Sends alerts into an inbox one by one and says of each on standard output what it was told.

    python -m tests.inbox.sender FILE COUNT [--limit BYTES]

Runs as a process of its own, so that its system calls can be made to fail. A refused alert is sent
again, a few times. With --limit no file may grow past so many bytes until the first refusal.
"""

import argparse
import logging
import os
import resource
from pathlib import Path

from copilot.errors import InboxError
from copilot.inbox.inbox import Inbox
from tests.inbox.arrivals import NOW, RULES, arrival

TRIES = 4


def say(word: str, number: int) -> None:
    """Write it at once, in one call."""
    os.write(1, f"{word} wf_{number}\n".encode())


def send(inbox: Inbox, number: int) -> None:
    """Send one alert until it is accepted."""
    for _ in range(TRIES):
        try:
            inbox.accept([arrival(f"wf_{number}")])
        except InboxError as error:
            say("refused" if error.retryable else "gave up", number)
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        else:
            say("accepted", number)
            return


def main() -> None:
    """Send them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("count", type=int)
    parser.add_argument("--limit", type=int, default=0)
    arguments = parser.parse_args()
    logging.disable()
    with Inbox(arguments.file, RULES, now=lambda: NOW) as inbox:
        if arguments.limit:
            limits = (arguments.limit, resource.RLIM_INFINITY)
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        for number in range(arguments.count):
            send(inbox, number)


if __name__ == "__main__":
    main()
