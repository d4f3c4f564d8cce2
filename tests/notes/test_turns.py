"""Claims about the line of those who want to write the notes."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from copilot.errors import NotesError
from copilot.notes.turns import Turns


def test_who_came_first_is_first() -> None:
    turns, served = Turns(), list[int]()

    def come(number: int) -> None:
        with turns.turn():
            served.append(number)

    with ThreadPoolExecutor(8) as threads, turns.turn():
        for number in range(8):
            threads.submit(come, number)
            while turns.length < number + 2:  # it is in the line
                pass

    assert served == list(range(8))


def test_who_has_had_a_turn_stands_behind_those_who_wait() -> None:
    turns, served = Turns(), list[str]()

    def come() -> None:
        with turns.turn():
            served.append("who waited")

    with ThreadPoolExecutor(1) as threads:
        with turns.turn():
            threads.submit(come)
            while turns.length < 2:
                pass
        with turns.turn():
            served.append("who came again")

    assert served == ["who waited", "who came again"]


def test_who_waits_too_long_is_told_and_holds_up_nobody() -> None:
    turns, served = Turns(), Event()
    with ThreadPoolExecutor(1) as threads, turns.turn():

        def come() -> None:
            with pytest.raises(NotesError, match="wait to write the notes"), turns.turn(0.0):
                served.set()

        threads.submit(come).result()
    with turns.turn(0.0):
        assert not served.is_set()
    assert turns.length == 0
