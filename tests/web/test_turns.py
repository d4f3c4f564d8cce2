"""What an answer costs the event loop in turns that it may lose: one wake-up, one piece."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future

import pytest

from copilot.errors import InboxError
from copilot.web.gathered import Gathered
from copilot.web.told import Told


class Line(asyncio.Transport):
    """The end of a connection, which writes down what becomes of it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[bytes | str] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Remember a piece."""
        self.seen.append(bytes(data))

    def close(self) -> None:
        """Remember that it was closed."""
        self.seen.append("closed")

    def abort(self) -> None:
        """Remember that it was broken off."""
        self.seen.append("aborted")


def test_what_is_written_in_one_turn_of_the_loop_leaves_as_one_piece() -> None:
    line = Line()

    async def write() -> None:
        gathered = Gathered(line, asyncio.get_running_loop())
        for piece in (b"head ", b"body", b""):
            gathered.write(piece)
        await asyncio.sleep(0)
        gathered.write(b"another")
        await asyncio.sleep(0)

    asyncio.run(write())

    assert line.seen == [b"head body", b"another"]


def test_what_was_written_is_sent_before_the_line_is_closed() -> None:
    line = Line()

    async def write() -> None:
        gathered = Gathered(line, asyncio.get_running_loop())
        gathered.write(b"answer")
        gathered.close()
        await asyncio.sleep(0)

    asyncio.run(write())

    assert line.seen == [b"answer", "closed"]


def test_a_line_that_is_broken_off_sends_nothing_more() -> None:
    line = Line()

    async def write() -> None:
        gathered = Gathered(line, asyncio.get_running_loop())
        gathered.write(b"answer")
        gathered.abort()
        await asyncio.sleep(0)

    asyncio.run(write())

    assert line.seen == ["aborted"]


def test_the_loop_is_woken_once_for_all_that_is_answered_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[Future[int]] = [Future() for _ in range(50)]
    woken = []

    async def ask() -> list[int]:
        loop = asyncio.get_running_loop()
        wake = loop.call_soon_threadsafe

        def waking(call: Callable[[], object]) -> asyncio.Handle:
            woken.append(call)
            return wake(call)

        monkeypatch.setattr(loop, "call_soon_threadsafe", waking)
        told = Told()
        waiting = [told.told(one) for one in begun]
        answering = threading.Thread(target=answer)
        answering.start()
        answering.join()  # the loop stands still meanwhile, as it does when it has lost its turn
        return await asyncio.gather(*waiting)

    def answer() -> None:
        for number, one in enumerate(begun):
            one.set_result(number)

    assert asyncio.run(ask()) == list(range(50))
    assert len(woken) == 1


def test_an_error_is_told_to_the_one_whom_it_concerns() -> None:
    good: Future[str] = Future()
    bad: Future[str] = Future()

    async def ask() -> list[str | BaseException]:
        told = Told()
        waiting = [told.told(bad), told.told(good)]
        bad.set_exception(InboxError("the disk is full"))
        good.set_result("kept")
        return await asyncio.gather(*waiting, return_exceptions=True)

    failed, kept = asyncio.run(ask())

    assert isinstance(failed, InboxError)
    assert kept == "kept"


def test_an_answer_that_nobody_waits_for_any_more_goes_nowhere() -> None:
    late: Future[str] = Future()
    good: Future[str] = Future()

    async def ask() -> str:
        told = Told()
        given_up, waiting = told.told(late), told.told(good)
        given_up.cancel()
        late.set_result("late")
        good.set_result("kept")
        return await waiting

    assert asyncio.run(ask()) == "kept"


def test_a_call_that_is_given_up_where_it_was_begun_keeps_nobody_else_waiting() -> None:
    given_up: Future[str] = Future()
    good: Future[str] = Future()

    async def ask() -> list[str | BaseException]:
        told = Told()
        waiting = [told.told(given_up), told.told(good)]
        given_up.cancel()
        good.set_result("kept")
        async with asyncio.timeout(20):
            return await asyncio.gather(*waiting, return_exceptions=True)

    cancelled, kept = asyncio.run(ask())

    assert isinstance(cancelled, asyncio.CancelledError)
    assert kept == "kept"
