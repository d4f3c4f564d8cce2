"""How long our own side of a request takes: fold, build, check, from a recorded journal."""

import statistics
import time
from collections.abc import Iterable, Sequence

from copilot.context.request import Frame, build
from copilot.context.validate import check
from copilot.context.view import View
from copilot.journal import Event
from copilot.ledger import Ledger

ROUNDS = 15
WINDOW = 10**9


def build_ms(events: Sequence[Event], frame: Frame, turn: int) -> float | None:
    """The median milliseconds to build and check the request of *turn*; None without one."""
    before = list(_before(events, turn))
    if len(before) == len(events):
        return None
    view, ledger = View(), Ledger()
    for event in before:
        ledger.add(event)
        view.add(event)
    taken = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        request = build(view, frame, ledger.support)
        check(request, window=WINDOW, estimate=0, paused=view.is_paused)
        taken.append(time.perf_counter() - begun)
    return round(statistics.median(taken) * 1000, 2)


def _before(events: Iterable[Event], turn: int) -> Iterable[Event]:
    for event in events:
        if event.kind == "request" and event.turn >= turn:
            return
        yield event
