"""Answers that other threads give, brought into the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from typing import TypeVar

Result = TypeVar("Result")


class Told:
    """Wakes the event loop once for all answers that are given together.

    A commit answers many senders. To wake the loop for each of them would be a system call each,
    at which the thread that answers loses its turn to whoever computes.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._given: list[Callable[[], None]] = []

    def told(self, begun: "Future[Result]") -> "asyncio.Future[Result]":
        """What another thread answers. Called in the event loop; to cancel it stops nobody."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[Result] = loop.create_future()

        def give(given: "Future[Result]") -> None:
            with self._lock:
                is_first = not self._given
                self._given.append(lambda: _pass_on(given, waiting))
            if is_first and not loop.is_closed():
                loop.call_soon_threadsafe(self._pass_on)

        begun.add_done_callback(give)
        return waiting

    def _pass_on(self) -> None:
        with self._lock:
            given, self._given = self._given, []
        for one in given:
            one()


def _pass_on(given: "Future[Result]", waiting: "asyncio.Future[Result]") -> None:
    if waiting.done():  # nobody waits for it any more
        return
    if given.cancelled():
        waiting.cancel()
    elif error := given.exception():
        waiting.set_exception(error)
    else:
        waiting.set_result(given.result())
