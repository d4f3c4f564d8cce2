"""A signal that comes at any moment is heeded, and never stops the thread that it comes to."""

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from copilot.daemon.signals import Signals

MOMENTS = 400
"""More than one look and one wait have."""


def a_round(signals: Signals, reloads: list[int]) -> None:
    """What the daemon's main thread does of signals between two pieces of work."""
    if signals.take_reload():
        reloads.append(1)
    signals.wait(0.01)


def interrupted(
    at: int, signals: Signals, handler: Callable[[int, None], None], reloads: list[int]
) -> bool:
    """Call *handler* at the *at*-th step of a round, as Python does; whether the round had so many.

    Fails when the round does not end.
    """
    steps = 0

    def trace(frame: FrameType, _event: str, _argument: object) -> Any:
        nonlocal steps
        frame.f_trace_opcodes = True
        steps += 1
        if steps == at:
            sys.settrace(None)
            handler(signal.SIGTERM, None)
        return trace

    def run() -> None:
        sys.settrace(trace)
        try:
            a_round(signals, reloads)
        finally:
            sys.settrace(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive(), f"a signal at step {at} stopped the thread that it came to"
    return steps >= at


def test_a_signal_at_any_step_of_the_main_thread_asks_it_to_leave() -> None:
    for at in range(1, MOMENTS):
        signals = Signals()
        if not interrupted(at, signals, signals.terminate, []):
            break
        assert signals.is_leaving
    else:
        raise AssertionError("there were more moments than were tried")

    assert at > 10


def test_a_reload_that_is_asked_for_at_any_step_is_taken_by_this_round_or_the_next() -> None:
    for at in range(1, MOMENTS):
        signals = Signals()
        reloads: list[int] = []
        if not interrupted(at, signals, signals.hang_up, reloads):
            break
        a_round(signals, reloads)
        assert len(reloads) == 1, at
    else:
        raise AssertionError("there were more moments than were tried")

    assert at > 10


def test_a_signal_ends_a_wait_at_once() -> None:
    signals = Signals()
    threading.Timer(0.05, signals.terminate, (signal.SIGTERM, None)).start()

    signals.wait(60)  # the test's own limit of time is what would notice

    assert signals.is_leaving
