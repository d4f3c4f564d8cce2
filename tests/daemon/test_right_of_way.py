"""Claims about who goes first: senders who are answered late, for a bounded time, then the work."""

from pathlib import Path
from threading import Event, Thread
from typing import Any, cast

import pytest

from copilot.daemon.jobs import Job
from copilot.daemon.right_of_way import AFTER_S, LATE_S, LOOK_EVERY_S, MANY, RightOfWay
from copilot.daemon.shared_models import SharedModels
from copilot.daemon.strikes import Strikes
from copilot.daemon.worker import ASIDE_S, Worker
from copilot.inbox.inbox import Inbox
from tests.bench import NOW, made_workspace
from tests.daemon.flood import Clock, answered


def test_nobody_stands_aside_while_senders_are_answered_in_time() -> None:
    clock = Clock()
    way = RightOfWay(clock, clock.sleep)
    answered(way, clock, *[LATE_S / 2] * 100)

    way.stand_aside(5)

    assert clock.slept == 0


def test_nobody_stands_aside_for_a_few_who_wait_for_a_slow_disk() -> None:
    clock = Clock()
    way = RightOfWay(clock, clock.sleep)
    answered(way, clock, *[1.0] * (MANY - 1))

    way.stand_aside(5)

    assert clock.slept == 0


def test_work_goes_on_soon_after_the_last_late_answer() -> None:
    clock, stood = Clock(), list[float]()
    way = RightOfWay(clock, clock.sleep, stood.append)
    answered(way, clock, *[2 * LATE_S] * MANY)

    way.stand_aside(5)

    assert AFTER_S <= stood[0] <= AFTER_S + LOOK_EVERY_S
    assert not way.is_pressed


def test_work_stands_aside_no_longer_than_it_said() -> None:
    clock, stood = Clock(), list[float]()

    def keep_coming(seconds: float) -> None:
        clock.sleep(seconds)
        answered(way, clock, *[2 * LATE_S] * MANY)

    way = RightOfWay(clock, keep_coming, stood.append)
    keep_coming(0)
    way.stand_aside(2)

    assert 2 <= stood[0] < 2.5
    assert way.is_pressed


def test_of_many_who_stand_aside_one_looks_whether_it_is_over() -> None:
    clock, looks, sleeping, over = Clock(), list[float](), Event(), Event()

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        sleeping.set()
        over.wait(20)
        clock.sleep(5)

    way = RightOfWay(clock, sleep)
    answered(way, clock, *[2 * LATE_S] * MANY)
    first = Thread(target=way.stand_aside, args=(5,))
    first.start()
    sleeping.wait(20)
    way.stand_aside(0)
    over.set()
    first.join()

    assert len(looks) == 1


@pytest.mark.parametrize("is_pressed", [True, False])
def test_an_investigation_lets_senders_go_first_before_each_turn(
    tmp_path: Path, *, is_pressed: bool
) -> None:
    clock, workspace = Clock(), made_workspace(tmp_path)
    way = RightOfWay(clock, clock.sleep)
    if is_pressed:
        answered(way, clock, *[2 * LATE_S] * MANY)
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
