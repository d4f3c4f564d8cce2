"""One poll run again and again: cursors, failures, rests, hung runs, counts (B052-B055)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from copilot.errors import ConnectorError, CopilotError, InboxError
from copilot.intake.cursors import CursorFile
from copilot.intake.polls import Accept, Asked, Poll
from copilot.intake.watch import HUNG, Watch
from copilot.values import Alert, JsonObject

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SOON = timedelta(milliseconds=20)
ALERT = Alert(source="test", title="t", text="")


@dataclass
class Clock:
    """A clock that is set by hand."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        """Return its time."""
        return self.now


@dataclass
class Question:
    """Counts how often it was asked, tells one alert, and does what `then` says."""

    then: Callable[[], None] = lambda: None
    alerts: Sequence[Alert] = (ALERT,)
    asked: list[tuple[datetime, JsonObject]] = field(default_factory=list)
    ended: Event = field(default_factory=Event)
    problem: str = ""

    def __call__(self, now: datetime, cursor: JsonObject, accept: Accept) -> Asked:
        """Ask."""
        self.asked.append((now, cursor))
        try:
            self.then()
            accept(self.alerts)
        finally:
            self.ended.set()
        return Asked({"until": now.isoformat()}, problem=self.problem)


@dataclass
class Bench:
    """A watch over a question, its clock, and what was taken in."""

    folder: Path
    question: Question
    patience: timedelta = timedelta(seconds=20)
    clock: Clock = field(default_factory=Clock)
    taken: list[tuple[str, str]] = field(default_factory=list)
    full: bool = False

    def __post_init__(self) -> None:
        """Make the watch."""
        poll = Poll("news", MINUTE, self.question, self.patience)
        self.cursor = CursorFile(self.folder, "news")
        self.watch = Watch(poll, self.cursor, self._take, self.clock)

    def _take(self, alerts: Sequence[Alert], source: str) -> None:
        if self.full:
            raise InboxError("the inbox is full", retryable=True)
        self.taken += [(alert.title, source) for alert in alerts]

    def minutes(self, count: int) -> None:
        """Run once a minute."""
        for _ in range(count):
            self.clock.now += MINUTE
            self.watch.run()


def failing() -> None:
    raise ConnectorError("the tracker does not answer", retryable=True)


def broken() -> None:
    raise IndexError("a bug")


def waited(event: Event) -> None:
    event.wait()


@pytest.fixture
def never() -> Iterator[Event]:
    """Return what hung questions wait for; it comes when the test is over."""
    event = Event()
    yield event
    event.set()


def test_the_cursor_is_saved_after_the_alert_was_accepted(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Question())
    seen: list[JsonObject] = []
    bench.question.then = lambda: seen.append(bench.cursor.read())

    bench.watch.run()
    bench.minutes(1)

    assert bench.taken == [("t", "poller:news")] * 2
    assert seen == [{}, {"until": NOON.isoformat()}]
    assert bench.question.asked[1][1] == {"until": NOON.isoformat()}


def test_an_alert_that_was_not_accepted_leaves_the_cursor_where_it_was(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Question(), full=True)

    bench.watch.run()

    assert bench.cursor.read() == {}
    assert bench.watch.state.standing == "failing"
    assert bench.watch.state.problem == "the inbox is full"


def test_a_new_daemon_goes_on_from_the_saved_cursor(tmp_path: Path) -> None:
    Bench(tmp_path, Question()).watch.run()
    bench = Bench(tmp_path, Question())

    bench.minutes(120)

    assert bench.question.asked[0] == (NOON + MINUTE, {"until": NOON.isoformat()})


def test_a_cursor_that_was_torn_is_a_fresh_start(tmp_path: Path) -> None:
    cursor = CursorFile(tmp_path, "news")
    for text in ("", "{", "[]", '{"version": 99}', "[" * 100_000):
        cursor.path.write_text(text)

        assert cursor.read() == {}


def test_a_cursor_that_cannot_be_saved_says_so_and_keeps_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file, no folder")
    cursor = CursorFile(tmp_path / "state", "news")

    with pytest.raises(CopilotError, match="cannot save where the poll got to"):
        cursor.write({"a": 1})


def test_a_cursor_leaves_no_other_file_behind(tmp_path: Path) -> None:
    cursor = CursorFile(tmp_path / "new", "news")
    cursor.write({"a": 1})
    cursor.write({"a": 2})

    assert [path.name for path in (tmp_path / "new").iterdir()] == ["news.json"]
    assert cursor.read() == {"a": 2}


def test_a_failing_source_is_asked_ever_more_rarely_and_its_problem_can_be_read(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path, Question(failing))

    bench.minutes(40)

    minutes = [int((now - NOON) / MINUTE) for now, _ in bench.question.asked]
    assert minutes == [1, 2, 4, 8, 16, 26, 36]
    assert bench.watch.state.problem == "the tracker does not answer"
    assert bench.watch.state.counts.failed == 7
    assert bench.watch.state.counts.skipped == 33


def test_a_source_that_answers_again_is_asked_as_before(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Question(failing))
    bench.minutes(4)
    bench.question.then = lambda: None
    bench.minutes(10)

    state = bench.watch.state

    assert (state.standing, state.problem, state.counts.runs) == ("ok", "", 3 + 7)
    assert state.last_good == bench.clock.now


def test_an_answer_in_part_saves_its_cursor_and_counts_as_failed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Question(problem="half of it"))

    bench.watch.run()

    assert bench.cursor.read() == {"until": NOON.isoformat()}
    assert (bench.watch.state.standing, bench.watch.state.problem) == ("failing", "half of it")


def test_a_clock_set_far_back_does_not_lengthen_a_rest(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Question(failing))
    bench.minutes(3)
    bench.clock.now -= timedelta(days=30)

    bench.watch.run()

    assert len(bench.question.asked) == 3


@pytest.mark.bad_input("B054")
def test_a_poll_that_hangs_is_given_up_and_says_timed_out(tmp_path: Path, never: Event) -> None:
    bench = Bench(tmp_path, Question(lambda: waited(never)), SOON)

    bench.watch.run()

    state = bench.watch.state
    assert (state.standing, state.counts.timed_out) == ("timed out", 1)
    assert "given up" in state.problem
    assert bench.taken == []


def test_what_a_given_up_run_still_brings_goes_nowhere(tmp_path: Path, never: Event) -> None:
    bench = Bench(tmp_path, Question(lambda: waited(never)), SOON)
    bench.watch.run()

    never.set()
    assert bench.question.ended.wait(60)

    assert bench.taken == []
    assert bench.cursor.read() == {}


@pytest.mark.bad_input("B054")
def test_a_hung_run_does_not_keep_the_next_from_running(tmp_path: Path, never: Event) -> None:
    hangs = iter([True])
    bench = Bench(tmp_path, Question(lambda: waited(never) if next(hangs, False) else None), SOON)
    bench.watch.run()
    bench.minutes(1)

    assert bench.watch.state.standing == "ok"
    assert len(bench.taken) == 1


def test_only_a_few_hung_runs_are_suffered_at_once(tmp_path: Path, never: Event) -> None:
    bench = Bench(tmp_path, Question(lambda: waited(never)), SOON)

    bench.minutes(40)

    assert len(bench.question.asked) == HUNG
    assert bench.watch.state.standing == "timed out"
    assert bench.watch.state.counts.skipped == 40 - HUNG


def test_an_error_of_ours_comes_out_and_is_said(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Question(broken))

    with pytest.raises(IndexError):
        bench.watch.run()

    assert bench.watch.state.standing == "failing"
    assert "IndexError" in bench.watch.state.problem


def test_a_closed_watch_asks_no_more(tmp_path: Path) -> None:
    bench = Bench(tmp_path, Question())

    assert bench.watch.close(0)
    bench.watch.run()

    assert bench.question.asked == []
