"""Claims about an investigation that alone is failed by the model's service."""

from copilot.daemon.strikes import MOST, Strikes


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        self.time += 1.0
        return self.time


def strikes_in_a_row(strikes: Strikes, clock: Clock, count: int) -> list[bool]:
    """What is said to so many failures, each after somebody else was answered."""
    return [strikes.failed("one", answered=clock()) for _ in range(count)]


def test_who_is_failed_while_others_are_answered_is_out_after_some_runs() -> None:
    clock = Clock()

    said = strikes_in_a_row(Strikes(clock), clock, MOST + 1)

    assert said == [False] * MOST + [True]


def test_while_nobody_is_answered_nobody_is_out() -> None:
    strikes = Strikes(Clock())

    assert not any(strikes.failed("one", answered=1000.0) for _ in range(10 * MOST))


def test_an_answer_of_its_own_begins_anew() -> None:
    clock = Clock()
    strikes = Strikes(clock)
    strikes_in_a_row(strikes, clock, MOST)

    strikes.forget("one")

    assert strikes_in_a_row(strikes, clock, MOST) == [False] * MOST


def test_the_failures_of_one_are_no_strike_against_another() -> None:
    clock = Clock()
    strikes = Strikes(clock)
    strikes_in_a_row(strikes, clock, MOST)

    assert not strikes.failed("other", answered=clock())
