"""A closed gate lets nothing begin, and a drain waits for what is paid for and for nothing else."""

from collections.abc import Callable
from threading import Event, Thread

from copilot.engine.gate import Gate
from tests.engine.toys import wait_until


def begun(work: Callable[[], object]) -> Thread:
    """Start *work* in a thread that may wait at a gate for ever."""
    thread = Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_a_drain_waits_for_the_step_under_way(tmp_path: object) -> None:
    gate, inside, go_on = Gate(), Event(), Event()

    def step() -> None:
        with gate.step():
            inside.set()
            go_on.wait(20)

    thread = begun(step)
    inside.wait(20)

    assert not gate.drain(0.05)
    go_on.set()
    assert gate.drain(20)
    thread.join(20)


def test_a_step_that_comes_to_a_closed_gate_never_begins() -> None:
    gate, began = Gate(), Event()

    def step() -> None:
        with gate.step():
            began.set()

    assert gate.drain(0)
    thread = begun(step)

    assert not began.wait(0.1)
    assert thread.is_alive()
    assert gate.drain(0)


def test_a_step_whose_inner_call_waits_at_the_gate_does_not_hold_up_the_drain() -> None:
    gate, first_done, come_back = Gate(), Event(), Event()

    def task() -> None:
        with gate.step() as passage:
            with gate.call(passage):
                pass
            first_done.set()
            come_back.wait(20)
            with gate.call(passage):
                raise AssertionError("the gate is closed")

    thread = begun(task)
    first_done.wait(20)
    gate.close()

    assert not gate.drain(0.05)  # between two calls it may still write
    come_back.set()
    assert gate.drain(20)
    assert thread.is_alive()


def test_while_one_inner_call_is_paid_for_another_that_waits_does_not_end_the_drain() -> None:
    gate, paying, go_on = Gate(), Event(), Event()

    def pays() -> None:
        with gate.call(passage):
            paying.set()
            go_on.wait(20)

    with gate.step() as passage:
        first = begun(pays)
        paying.wait(20)
        gate.close()
        begun(lambda: gate.call(passage).__enter__())
        wait_until(lambda: passage.parked == 1)

        assert not gate.drain(0.05)
        go_on.set()
        first.join(20)
        assert gate.drain(20)


def test_without_the_lease_nothing_begins_and_with_it_again_it_goes_on() -> None:
    held = [False]
    gate, began = Gate(is_held=lambda: held[0]), Event()

    def step() -> None:
        with gate.step():
            began.set()

    thread = begun(step)
    assert not began.wait(0.1)
    assert not gate.is_open

    held[0] = True
    assert began.wait(20)
    thread.join(20)


def test_many_steps_at_once_are_counted_right() -> None:
    gate, count = Gate(), [0] * 20

    def steps(number: int) -> None:
        for _ in range(200):
            with gate.step() as passage, gate.call(passage):
                count[number] += 1

    threads = [begun(lambda number=number: steps(number)) for number in range(20)]  # type: ignore[misc]
    for thread in threads:
        thread.join(20)

    assert sum(count) == 4000
    assert gate.drain(0)
