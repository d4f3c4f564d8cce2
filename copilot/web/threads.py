"""Blocking calls of the backend on threads, so that the event loop answers others meanwhile."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from copilot.web.told import Told

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Threads:
    """So many calls at a time; a call that takes longer than *seconds* is not waited for."""

    def __init__(self, name: str, count: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)
        self._seconds = seconds
        self._told = Told()

    async def run(
        self, call: Callable[Given, Result], *given: Given.args, **named: Given.kwargs
    ) -> Result:
        """What the call returns. Raises TimeoutError; a call that has begun goes on all the same.

        One that has not begun by then never does.
        """
        return await self._within(asyncio.wrap_future(self._pool.submit(call, *given, **named)))

    async def answer(self, begun: "Future[Result]") -> Result:
        """What a call that was begun elsewhere gives. Raises TimeoutError."""
        return await self._within(self._told.told(begun))

    async def _within(self, waiting: "asyncio.Future[Result]") -> Result:
        async with asyncio.timeout(self._seconds):
            return await waiting

    def close(self) -> None:
        """Begin no more calls; those that hang are not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)
