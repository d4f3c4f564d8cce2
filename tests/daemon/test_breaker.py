"""Claims about when the model is asked and when not."""

from copilot.daemon.breaker import Breaker
from copilot.daemon.shared_models import GuardedModel
from tests.doubles.scripted_model import ScriptedModel
from tests.models.conftest import request


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


def test_a_service_that_was_never_asked_is_well() -> None:
    breaker = Breaker(Clock())

    assert breaker.is_well
    assert breaker.admits()


def test_four_failures_in_a_minute_stop_nobody() -> None:
    breaker = Breaker(Clock())

    for _ in range(4):
        breaker.failed("overloaded")

    assert breaker.admits()


def test_five_failures_in_a_minute_stop_everybody() -> None:
    breaker = Breaker(Clock())

    for _ in range(5):
        breaker.failed("network", "no route")

    assert not breaker.admits()
    assert breaker.reason == "network: no route"


def test_failures_that_are_spread_out_stop_nobody() -> None:
    clock = Clock()
    breaker = Breaker(clock)

    for _ in range(20):
        breaker.failed("overloaded")
        clock.time += 20

    assert breaker.admits()


def test_a_refused_key_stops_everybody_at_once_and_needs_a_person() -> None:
    breaker = Breaker(Clock())

    breaker.failed("auth", "invalid x-api-key")

    assert not breaker.admits()
    assert breaker.needs_person


def test_a_request_that_is_wrong_says_nothing_of_the_service() -> None:
    breaker = Breaker(Clock())

    for _ in range(50):
        breaker.failed("invalid")

    assert breaker.is_well


def test_a_wait_of_an_hour_is_waited_by_all() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    breaker.failed("rate_limit", wait_s=3600)

    clock.time += 3599
    before = breaker.admits()
    clock.time += 2

    assert not before
    assert breaker.admits()


def test_after_the_pause_one_tries_and_the_others_wait() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    breaker.failed("billing")
    clock.time += 61

    assert [breaker.admits() for _ in range(3)] == [True, False, False]


def test_looking_whether_one_may_try_takes_no_probe() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    breaker.failed("billing")
    clock.time += 61

    assert breaker.may_try
    assert breaker.may_try
    assert breaker.admits()
    assert not breaker.may_try


def test_a_probe_that_answers_frees_everybody() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    breaker.failed("spend_cap")
    clock.time += 61
    breaker.admits()

    breaker.succeeded()

    assert [breaker.admits() for _ in range(3)] == [True, True, True]


def test_a_probe_that_fails_pauses_again() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    breaker.failed("spend_cap")
    clock.time += 61
    breaker.admits()

    breaker.failed("overloaded")

    assert not breaker.admits()


def test_a_probe_that_never_ends_is_followed_by_another() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    breaker.failed("spend_cap")
    clock.time += 61
    breaker.admits()

    clock.time += 61

    assert breaker.admits()


def test_a_service_that_answers_nobody_is_silent() -> None:
    clock = Clock()
    breaker = Breaker(clock)

    with breaker.asking():
        clock.time += 36
        assert breaker.is_silent(35)


def test_a_slow_answer_beside_quick_ones_is_no_silence() -> None:
    clock = Clock()
    breaker = Breaker(clock)

    with breaker.asking():
        clock.time += 36
        breaker.succeeded()
        assert not breaker.is_silent(35)


def test_one_models_answer_says_nothing_of_another_model_of_the_service() -> None:
    breaker = Breaker(Clock())

    GuardedModel(ScriptedModel(["well"], "small"), breaker).respond(request())

    assert (breaker.answered("small"), breaker.answered("large")) == (1000.0, 0.0)
