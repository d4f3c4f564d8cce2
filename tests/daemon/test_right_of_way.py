"""Claims about who goes first: senders who come in a flood, for a bounded time, then the work."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, cast

import pytest

from copilot.daemon.jobs import Job
from copilot.daemon.right_of_way import AFTER_S, APART_S, LOOK_EVERY_S, MANY, RightOfWay
from copilot.daemon.shared_models import SharedModels
from copilot.daemon.strikes import Strikes
from copilot.daemon.worker import ASIDE_S, Worker
from copilot.inbox.inbox import Inbox
from tests.bench import NOW, made_workspace
from tests.daemon.flood import Clock, come


def test_nobody_stands_aside_for_senders_who_come_one_after_the_other() -> None:
    clock = Clock()
    way = RightOfWay(clock, clock.sleep)
    for _ in range(100):
        come(way, MANY - 1)

    way.stand_aside(5)

    assert clock.slept == 0


def test_work_goes_on_soon_after_the_last_flood() -> None:
    clock, stood = Clock(), list[float]()
    way = RightOfWay(clock, clock.sleep, stood.append)
    come(way, MANY)

    way.stand_aside(5)

    assert AFTER_S <= stood[0] <= AFTER_S + LOOK_EVERY_S
    assert not way.is_pressed


@pytest.mark.parametrize("most", [APART_S / 2, 5 * APART_S])
def test_in_a_flood_without_an_end_work_goes_on_when_it_is_its_turn(most: float) -> None:
    clock, stood = Clock(), list[float]()
    way = RightOfWay(clock, flooded(clock, lambda: way), stood.append)
    come(way, MANY)

    way.stand_aside(most)

    assert min(most, APART_S) <= stood[0] < min(most, APART_S) + 2 * LOOK_EVERY_S
    assert way.is_pressed


def test_in_a_flood_those_who_stand_aside_go_on_one_after_the_other() -> None:
    clock, went, lock = Clock(), list[float](), Lock()
    sleep = flooded(clock, lambda: way)

    def one_at_a_time(seconds: float) -> None:
        with lock:
            sleep(seconds)

    way = RightOfWay(clock, one_at_a_time)
    come(way, MANY)

    def stand() -> None:
        way.stand_aside(100)
        went.append(clock.now)

    threads = [Thread(target=stand) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(20)

    assert len(went) == 4
    assert all(later - sooner >= APART_S * 0.9 for sooner, later in pairwise(sorted(went)))


def test_of_many_who_stand_aside_one_looks_whether_it_is_over() -> None:
    clock, looks, sleeping, over = Clock(), list[float](), Event(), Event()

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        sleeping.set()
        over.wait(20)
        clock.sleep(5)

    way = RightOfWay(clock, sleep)
    come(way, MANY)
    first = Thread(target=way.stand_aside, args=(5,))
    first.start()
    sleeping.wait(20)
    way.stand_aside(0)
    over.set()
    first.join()

    assert len(looks) == 1


def flooded(clock: Clock, way: Callable[[], RightOfWay]) -> Callable[[float], None]:
    """A sleep in which many senders come."""

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        come(way(), MANY)

    return sleep


@pytest.mark.parametrize("is_pressed", [True, False])
def test_an_investigation_lets_senders_go_first_before_each_turn(
    tmp_path: Path, *, is_pressed: bool
) -> None:
    clock, workspace = Clock(), made_workspace(tmp_path)
    way = RightOfWay(clock, clock.sleep)
    if is_pressed:
        come(way, MANY)
    with Inbox(tmp_path / "inbox.sqlite", now=lambda: NOW) as inbox:
        worker = Worker(
            workspace=lambda: workspace,
            inbox=inbox,
            models=SharedModels(),
            allowance=lambda _: "full",
            observe=lambda _: None,
            ended=lambda *_: None,
            strikes=Strikes(clock),
            way=way,
        )
        worker._stop(Job("inc-20261130-000000", 1, "0001.jsonl", cast("Any", None)))

    assert bool(clock.slept) is is_pressed
    assert clock.slept * LOOK_EVERY_S < ASIDE_S
