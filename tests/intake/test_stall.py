"""The stall detector: who is stalled, who is not, and what is said when it cannot be seen."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from connectors.embedded_logbook import EmbeddedLogbook
from connectors.logbook import Coverage, Latest, LatestPage, Overview
from copilot.errors import ConnectorError, InboxError
from copilot.intake import stall
from copilot.intake.stall import StallPoll
from copilot.intake.survey import fits
from copilot.settings.daemon import StallDetector
from tests.connectors.logbooks import Event, after_noon, embedded, of
from tests.intake.told import Told

MINUTE = 60
HOUR = 3600
DETECTOR = StallDetector(
    name="flows",
    logbook="local",
    field="workflow",
    progress="step",
    terminal="completed",
    threshold=timedelta(hours=1),
    horizon=timedelta(days=1),
    lag=timedelta(minutes=10),
    exclude=("rest-*", "*-sandbox"),
    severity="high",
)
Watched = Callable[..., Told]


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    """Return a function that makes a detector over the events."""

    def make(*events: Event, settings: StallDetector = DETECTOR) -> Told:
        return Told(StallPoll(embedded(tmp_path, events), settings))

    return make


def chatter(until: float, start: float = 0, every: float = 5 * MINUTE) -> list[Event]:
    """Return entries of no workflow: the logbook itself lives."""
    count = int((until - start) // every) + 1
    return [Event(start + place * every, "heartbeat") for place in range(count)]


def steps(workflow: str, start: float, until: float, every: float = 10 * MINUTE) -> list[Event]:
    """Return entries of progress of a workflow."""
    return [of(workflow, place) for place in range(int(start), int(until) + 1, int(every))]


def more(told: Told, events: Iterable[Event], tmp_path: Path, name: str) -> None:
    """Import more events into the logbook of *told*."""
    folder = tmp_path / name
    folder.mkdir()
    embedded(folder, list(events))
    assert isinstance(told.ask, StallPoll)
    assert isinstance(told.ask.logbook, EmbeddedLogbook)
    told.ask.logbook.import_file(folder / "events.jsonl", name)


def test_a_workflow_silent_for_longer_than_the_threshold_is_told_once(watched: Watched) -> None:
    told = watched(*chatter(3 * HOUR), of("slow", 0), *steps("fine", 0, 3 * HOUR))

    assert told.poll(after_noon(HOUR - 1)) == []
    assert told.poll(after_noon(HOUR)) == [
        "firing slow made no progress since 2026-03-01T12:00:00Z"
    ]
    assert told.poll(after_noon(HOUR + 60)) == []
    assert told.poll(after_noon(2 * HOUR)) == []
    [alert] = told.alerts
    assert alert.starts_at == after_noon(HOUR)
    assert alert.labels["workflow"] == "slow"
    assert alert.labels["severity"] == "high"


def test_progress_resolves_the_alert_that_was_told(watched: Watched, tmp_path: Path) -> None:
    told = watched(*chatter(4 * HOUR), of("slow", 0), *steps("fine", 0, 4 * HOUR))
    told.poll(after_noon(2 * HOUR))
    more(told, [of("slow", 2.2 * HOUR)], tmp_path, "more.log")

    assert told.poll(after_noon(2.5 * HOUR)) == ["resolved slow makes progress again"]
    assert told.poll(after_noon(2.6 * HOUR)) == []
    fired, resolved = told.alerts
    assert resolved.starts_at == fired.starts_at
    assert resolved.labels == fired.labels
    assert resolved.ends_at == after_noon(2.2 * HOUR)


def test_an_end_resolves_the_alert_too(watched: Watched, tmp_path: Path) -> None:
    told = watched(*chatter(4 * HOUR), of("slow", 0), *steps("fine", 0, 4 * HOUR))
    told.poll(after_noon(2 * HOUR))
    more(told, [of("slow", 2.2 * HOUR, "workflow completed")], tmp_path, "more.log")

    assert told.poll(after_noon(2.5 * HOUR)) == ["resolved slow has ended"]


def test_a_second_stall_is_an_alert_of_its_own(watched: Watched, tmp_path: Path) -> None:
    told = watched(*chatter(9 * HOUR), of("slow", 0), *steps("fine", 0, 9 * HOUR))
    told.poll(after_noon(2 * HOUR))
    more(told, [of("slow", 3 * HOUR)], tmp_path, "more.log")

    assert told.poll(after_noon(5 * HOUR)) == [
        "resolved slow makes progress again",
        "firing slow made no progress since 2026-03-01T15:00:00Z",
    ]
    assert told.alerts[0].starts_at != told.alerts[-1].starts_at


def test_ended_excluded_and_long_forgotten_workflows_are_left_out(watched: Watched) -> None:
    told = watched(
        *chatter(3 * HOUR), *steps("fine", 0, 3 * HOUR),
        of("done", 0), of("done", 1, "workflow completed"),
        of("rest-1", 0), of("my-sandbox", 0), of("old", -22 * HOUR),
        of("again", 0, "workflow completed"), of("again", 1),
    )  # fmt: skip

    assert told.poll(after_noon(3 * HOUR)) == [
        "firing again made no progress since 2026-03-01T12:00:01Z"
    ]


def test_a_stalled_workflow_past_the_horizon_is_forgotten_not_resolved(watched: Watched) -> None:
    told = watched(*chatter(30 * HOUR), of("slow", 0), *steps("fine", 0, 30 * HOUR))
    told.poll(after_noon(2 * HOUR))

    assert told.poll(after_noon(25 * HOUR)) == []
    assert told.cursor["stalled"] == {}


def test_a_lost_record_repeats_the_very_same_alert(watched: Watched) -> None:
    told = watched(*chatter(3 * HOUR), of("slow", 0), *steps("fine", 0, 3 * HOUR))
    told.poll(after_noon(2 * HOUR))
    told.cursor = {}
    told.poll(after_noon(3 * HOUR))

    first, second = told.alerts
    assert (first.labels, first.starts_at) == (second.labels, second.starts_at)


def test_an_inbox_that_takes_nothing_leaves_the_stall_to_be_told(watched: Watched) -> None:
    told = watched(*chatter(3 * HOUR), of("slow", 0), *steps("fine", 0, 3 * HOUR))

    def full(alerts: object) -> None:
        if alerts:
            raise InboxError("full", retryable=True)

    with pytest.raises(InboxError):
        told.ask(after_noon(2 * HOUR), {}, full)
    assert len(told.poll(after_noon(2 * HOUR))) == 1


def test_a_silent_logbook_is_one_alert_and_stalls_nobody(watched: Watched) -> None:
    told = watched(*(of(f"w{place}", place) for place in range(20)), *chatter(HOUR))

    assert told.poll(after_noon(HOUR + 11 * MINUTE)) == [
        "firing logbook local is silent since 2026-03-01T13:00:00Z"
    ]
    assert told.poll(after_noon(3 * HOUR)) == []
    assert told.last
    assert "newest entry" in told.last.note
    [alert] = told.alerts
    assert alert.starts_at == after_noon(HOUR + 10 * MINUTE)


def test_news_of_the_logbook_resolve_its_silence(watched: Watched, tmp_path: Path) -> None:
    told = watched(*steps("fine", 0, HOUR))
    told.poll(after_noon(2 * HOUR))
    more(told, steps("fine", HOUR, 2 * HOUR), tmp_path, "late.log")

    assert told.poll(after_noon(2 * HOUR + 60)) == ["resolved the logbook local has news again"]
    assert told.alerts[0].starts_at == told.alerts[1].starts_at
    assert told.alerts[0].labels == told.alerts[1].labels


def test_a_logbook_that_lags_ever_on_is_told_once(watched: Watched, tmp_path: Path) -> None:
    told = watched(*steps("fine", 0, HOUR))
    told.poll(after_noon(2 * HOUR))
    more(told, steps("fine", HOUR, 2 * HOUR), tmp_path, "late.log")

    assert told.poll(after_noon(3 * HOUR)) == []


def test_all_workflows_silent_at_once_are_the_logbooks_trouble(watched: Watched) -> None:
    """Other entries still come, so only the comparison of workflows tells."""
    flows = [event for n in range(6) for event in steps(f"w{n}", n * 60, HOUR + n * 60)]
    told = watched(*chatter(4 * HOUR), *flows)

    assert told.poll(after_noon(2.2 * HOUR)) == [
        "firing logbook local is without progress since 2026-03-01T13:05:00Z"
    ]
    assert told.poll(after_noon(3 * HOUR)) == []
    assert "None of 6 workflows" in told.alerts[0].text


def test_a_single_workflow_that_stops_is_stalled_though_all_are_silent(watched: Watched) -> None:
    told = watched(*chatter(3 * HOUR), *steps("only", 0, HOUR, MINUTE))

    assert told.poll(after_noon(2.5 * HOUR)) == [
        "firing only made no progress since 2026-03-01T13:00:00Z"
    ]


def test_slow_workflows_are_not_taken_for_a_hole(watched: Watched) -> None:
    """A dense one stops; the others report once in forty minutes, as they always did."""
    slow = [event for n in range(3) for event in steps(f"s{n}", n * 300, 5 * HOUR, 40 * MINUTE)]
    told = watched(*chatter(5 * HOUR), *slow, *steps("dense", 0, HOUR, 10))

    assert told.poll(after_noon(2 * HOUR)) == [
        "firing dense made no progress since 2026-03-01T13:00:00Z"
    ]


def test_a_past_hole_does_not_count_as_silence(watched: Watched) -> None:
    """From 13:00 to 15:00 nothing was ingested; each reports every 50 minutes, "dead" stopped."""
    flows = [
        event
        for n in range(30)
        for event in steps(f"w{n}", n * 100, 7 * HOUR, 50 * MINUTE)
        if not HOUR <= (event.seconds or 0) < 3 * HOUR
    ]
    told = watched(*chatter(7 * HOUR), *flows, of("dead", HOUR - 10))

    assert told.poll(after_noon(3 * HOUR + 5 * MINUTE)) == []
    assert told.poll(after_noon(3 * HOUR + 40 * MINUTE)) == []
    assert told.poll(after_noon(4.5 * HOUR)) == [
        "firing dead made no progress since 2026-03-01T12:59:50Z"
    ]
    assert told.alerts[0].starts_at == after_noon(2 * HOUR - 10)


def test_the_rhythm_of_batches_is_no_hole(watched: Watched) -> None:
    """All workflows report in the first minutes of each hour, and never in between."""
    batches = [of(f"w{n}", hour * HOUR + n * 10) for hour in range(9) for n in range(20) if n != 7]
    told = watched(*chatter(9 * HOUR), *batches, *(of("w7", hour * HOUR) for hour in range(6)))

    assert told.poll(after_noon(6 * HOUR + 30 * MINUTE)) == [
        "firing w7 made no progress since 2026-03-01T17:00:00Z"
    ]
    assert told.poll(after_noon(7.5 * HOUR)) == []


def test_any_entry_can_be_progress(watched: Watched) -> None:
    settings = StallDetector(
        name="any", logbook="local", field="workflow", threshold=timedelta(hours=1)
    )
    told = watched(
        *chatter(3 * HOUR), of("slow", 0, "whatever"), *steps("a", 0, 3 * HOUR),
        *steps("b", 0, 3 * HOUR), settings=settings,
    )  # fmt: skip

    assert told.poll(after_noon(1.25 * HOUR)) == [
        "firing slow made no progress since 2026-03-01T12:00:00Z"
    ]


def test_where_any_entry_is_progress_all_overdue_at_once_are_the_logbooks_trouble(
    watched: Watched,
) -> None:
    settings = StallDetector(
        name="any", logbook="local", field="workflow", threshold=timedelta(hours=1)
    )
    told = watched(*chatter(9 * HOUR), *(of(f"w{n}", n) for n in range(12)), settings=settings)

    assert told.poll(after_noon(HOUR + 20)) == [
        "firing logbook local is without progress since 2026-03-01T12:00:11Z"
    ]


@dataclass
class Torn:
    """A logbook that answers as it is told to."""

    book: Any
    error: str = ""
    why: str = ""
    name: str = "local"

    def latest(self, asked: Latest) -> LatestPage:
        """Return the book's page, perhaps as a part; or raise."""
        if self.error:
            raise ConnectorError(self.error, retryable=True)
        page: LatestPage = self.book.latest(asked)
        return replace(page, coverage=Coverage(self.why), rows=page.rows[: 1 if self.why else None])

    def overview(self, *asked: Any) -> Overview:
        """Return the book's overview."""
        seen: Overview = self.book.overview(*asked)
        return seen


@pytest.fixture
def torn(tmp_path: Path) -> tuple[Torn, Told]:
    """Return a logbook that can be torn, with a stalled workflow, and its detector."""
    events = [*chatter(9 * HOUR), of("slow", 0), *steps("fine", 0, 9 * HOUR)]
    book: Any = Torn(embedded(tmp_path, events))
    return book, Told(StallPoll(book, DETECTOR))


def test_a_logbook_out_of_reach_is_told_after_the_lag_and_resolves_nobody(
    torn: tuple[Torn, Told],
) -> None:
    book, told = torn
    told.poll(after_noon(2 * HOUR))
    book.error = "connection refused"

    assert told.poll(after_noon(3 * HOUR)) == []
    assert told.last
    assert "connection refused" in told.last.problem
    assert told.poll(after_noon(3 * HOUR + 10 * MINUTE)) == [
        "firing logbook local is unreachable since 2026-03-01T15:00:00Z"
    ]
    assert told.poll(after_noon(4 * HOUR)) == []
    book.error = ""
    assert told.poll(after_noon(5 * HOUR)) == ["resolved the logbook local has news again"]


def test_a_short_outage_is_not_told_at_all(torn: tuple[Torn, Told]) -> None:
    book, told = torn
    told.poll(after_noon(2 * HOUR))
    book.error = "connection refused"
    told.poll(after_noon(3 * HOUR))
    book.error = ""

    assert told.poll(after_noon(3 * HOUR + MINUTE)) == []
    assert told.cursor["blind"] == []


def test_an_answer_in_part_says_nothing_of_workflows(torn: tuple[Torn, Told]) -> None:
    book, told = torn
    told.poll(after_noon(2 * HOUR))
    book.why = "2 of 5 shards failed"

    assert told.poll(after_noon(3 * HOUR)) == []
    assert told.last
    assert "2 of 5 shards failed" in told.last.problem
    assert "slow" in str(told.cursor["stalled"])


def test_a_clock_that_runs_ahead_does_not_hide_a_silent_logbook(watched: Watched) -> None:
    told = watched(*steps("fine", 0, HOUR), Event(900 * HOUR, "a clock of 2026-04"))

    assert told.poll(after_noon(2 * HOUR)) == [
        "firing logbook local is silent since 2026-03-01T13:00:00Z"
    ]


def test_our_clock_set_back_resolves_nobody_and_repeats_nothing(watched: Watched) -> None:
    told = watched(*chatter(3 * HOUR), of("slow", 0), *steps("fine", 0, 3 * HOUR))
    told.poll(after_noon(2 * HOUR))

    assert told.poll(after_noon(0.5 * HOUR)) == []
    assert told.poll(after_noon(2 * HOUR + 1)) == []


def test_a_longer_threshold_leaves_a_told_stall_as_it_is(watched: Watched) -> None:
    told = watched(*chatter(3 * HOUR), of("slow", 0), *steps("fine", 0, 3 * HOUR))
    told.poll(after_noon(2 * HOUR))
    assert isinstance(told.ask, StallPoll)
    patient = DETECTOR.model_copy(update={"threshold": timedelta(hours=5)})
    told.ask = replace(told.ask, settings=patient)

    assert told.poll(after_noon(2 * HOUR)) == []


def test_a_told_stall_that_is_excluded_is_over(watched: Watched) -> None:
    told = watched(*chatter(3 * HOUR), of("slow", 0), *steps("fine", 0, 3 * HOUR))
    told.poll(after_noon(2 * HOUR))
    assert isinstance(told.ask, StallPoll)
    told.ask = replace(told.ask, settings=DETECTOR.model_copy(update={"exclude": ("sl*",)}))

    assert told.poll(after_noon(2 * HOUR)) == ["resolved slow may rest, by the settings of now"]


def test_pages_change_nothing(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stall, "Latest", lambda *given: replace(Latest(*given), limit=3))
    told = watched(
        *chatter(3 * HOUR), of("m-stalled", 0),
        *(event for name in "abcdefgxyz" for event in steps(name, 0, 3 * HOUR)),
    )  # fmt: skip

    assert len(told.poll(after_noon(3 * HOUR))) == 1


def test_more_stalls_than_are_told_at_once_come_with_the_next_polls(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stall, "AT_ONCE", 4)
    told = watched(
        *chatter(4 * HOUR), *steps("fine", 0, 4 * HOUR, MINUTE),
        *(of(f"w{place}", place) for place in range(6)),
    )  # fmt: skip

    assert [title[:9] for title in told.poll(after_noon(2 * HOUR))] == [
        "firing w0", "firing w1", "firing w2", "firing w3",
    ]  # fmt: skip
    assert told.last
    assert "2 more" in told.last.note
    assert [title[:9] for title in told.poll(after_noon(2 * HOUR))] == ["firing w4", "firing w5"]


def test_a_field_that_names_no_workflow_is_said(watched: Watched) -> None:
    told = watched(*chatter(HOUR), settings=DETECTOR.model_copy(update={"field": "wrokflow"}))

    assert told.poll(after_noon(HOUR)) == []
    assert told.last
    assert "'wrokflow'" in told.last.note


@pytest.mark.parametrize(
    ("glob", "name", "does"),
    [
        ("a", "a", True), ("a", "ab", False), ("a*", "ab", True), ("*b", "ab", True),
        ("*", "", True), ("a*a", "a", False), ("a*a", "aa", True), ("a*b*c", "a-b-c", True),
        ("a*b*c", "a-c-b", False), ("*b*", "abc", True), ("[a]*", "a", False), ("a.c", "abc", False),
        ("*ab*ab", "ab", False), ("a**b", "ab", True),
    ],
)  # fmt: skip
def test_only_the_star_of_a_glob_is_special(glob: str, name: str, *, does: bool) -> None:
    assert fits(glob, name) is does


def test_a_thousand_workflows_hold_one_that_is_stalled(tmp_path: Path) -> None:
    """The full size, a hundred thousand, is in benchmarks/stall.py."""
    flows = [of(f"wf-{n:04}", 2 * HOUR + n % 600) for n in range(1000) if n != 437]
    told = Told(StallPoll(embedded(tmp_path, [of("wf-0437", 60), *flows]), DETECTOR))

    assert told.poll(after_noon(2 * HOUR + 600)) == [
        "firing wf-0437 made no progress since 2026-03-01T12:01:00Z"
    ]
