"""What was accepted is kept and found again, in a file and on a server alike."""

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from copilot.errors import InboxError, NotFoundError, UsageError
from copilot.inbox.inbox import Inbox
from copilot.inbox.values import Arrival, Entry, Known, Rules, Severity, Status
from copilot.values import JsonObject, digest
from tests.inbox.arrivals import NOW, RULES, Clock, arrival, resolved
from tests.inbox.conftest import Open

LATER = NOW + timedelta(minutes=1)


def one(inbox: Inbox) -> Entry:
    """Return the only incident."""
    [entry] = inbox.list()
    return entry


def run_to(inbox: Inbox, status: Status) -> Entry:
    """Return an incident that came to that status by the usual way."""
    [taken] = inbox.accept([arrival()])
    steps: dict[str, Callable[[], Entry]] = {
        "queued": lambda: inbox.queued(taken.incident, 1),
        "running": lambda: inbox.started(taken.incident, 1),
        "reported": lambda: inbox.finished(taken.incident, 1, "reported"),
        "closed": lambda: inbox.close(taken.incident),
    }
    entry = one(inbox)
    for name, step in steps.items():
        if entry.status != status:
            entry = step()
            assert entry.status == name
    return entry


def test_what_was_accepted_is_there_after_a_restart(place: Path | str, opened: Open) -> None:
    first = opened(place)
    [taken] = first.accept([arrival()])
    first.shut()

    entry = opened(place).incident(taken.incident)

    assert entry == Entry(
        id=taken.incident, identity=arrival().identity, title="wf_1 stalled", severity="normal",
        status="waiting", reason="", previous="", began=NOW, opened=NOW,
        due=NOW + RULES.debounce, updated=NOW, runs=0, resolved=False, alerts=1,
    )  # fmt: skip


def test_a_sender_that_goes_away_meanwhile_takes_nothing_back(inbox: Inbox) -> None:
    begun = inbox.begin([arrival()])

    assert not begun.cancel()
    assert [one.outcome for one in begun.result(60)] == ["opened"]
    assert [one.outcome for one in inbox.accept([arrival()])] == ["repeated"]


def test_an_alert_that_fires_once_more_is_kept_with_each_of_its_incidents(
    inbox: Inbox, clock: Clock
) -> None:
    [first, *_] = inbox.accept([arrival(), resolved(ended=1)])
    clock.go_on(minutes=17)
    [second, again] = inbox.accept([arrival(), arrival()])
    clock.go_on(minutes=1)
    [over] = inbox.accept([resolved(ended=18)])

    assert (second.outcome, again.outcome, over.outcome) == ("recurred", "repeated", "resolved")
    assert first.incident != second.incident == again.incident == over.incident
    kept = [inbox.alerts(one.incident) for one in (first, second)]
    assert [[(one.count, one.status) for one in some] for some in kept] == [
        [(2, "resolved")], [(3, "resolved")],
    ]  # fmt: skip


@pytest.mark.bad_input("B87")
def test_what_came_while_the_clock_stood_in_1970_is_the_same_and_due_once_it_is_right(
    place: Path | str, opened: Open, clock: Clock
) -> None:
    clock.now = datetime(1970, 1, 1, tzinfo=UTC)
    inbox = opened(place)
    [early] = inbox.accept([replace(arrival(), starts_at=clock.now)])
    assert inbox.due(clock.now, 10) == []

    clock.now = NOW
    [again] = inbox.accept([replace(arrival(), starts_at=clock.now)])

    assert (again.incident, again.outcome) == (early.incident, "repeated")
    assert [entry.id for entry in inbox.due(NOW, 10)] == [early.incident]


@pytest.mark.bad_input("B23")
def test_a_thousand_identical_posts_from_ten_threads_are_one_incident(inbox: Inbox) -> None:
    def post() -> None:
        for _ in range(100):
            inbox.accept([arrival()])

    threads = [threading.Thread(target=post) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    [stored] = inbox.alerts(one(inbox).id)
    assert (one(inbox).alerts, stored.count) == (1, 1000)


def test_the_inbox_groups_as_the_decision_does_in_one_post_or_in_many(
    place: Path | str, opened: Open
) -> None:
    said = [
        word
        for minute in range(4)
        for workflow in ("wf_1", "wf_2", "wf_3")
        for word in (arrival(workflow, minute=minute), resolved(workflow, minute=minute, ended=5))
    ]
    inbox = opened(place)
    random.Random(8).shuffle(said)

    for start in range(0, len(said), 5):
        inbox.accept(said[start : start + 5])
    inbox.accept(said)

    assert sorted((entry.title, entry.alerts, entry.resolved) for entry in inbox.list()) == [
        ("wf_1 stalled", 4, True), ("wf_2 stalled", 4, True), ("wf_3 stalled", 4, True),
    ]  # fmt: skip


@pytest.mark.bad_input("B18")
def test_ten_thousand_alerts_in_one_post_are_counted_right(inbox: Inbox) -> None:
    many = [replace(arrival(), key=digest(str(number))) for number in range(10_000)]

    taken = inbox.accept(many)

    assert len(taken) == 10_000
    assert one(inbox).alerts == 10_000


def test_a_recurrence_names_the_incident_before(inbox: Inbox) -> None:
    [first] = inbox.accept([arrival()])
    inbox.accept([resolved()])

    [second] = inbox.accept([arrival(minute=60)])

    entry = inbox.incident(second.incident)
    assert entry is not None
    assert (second.outcome, entry.previous) == ("recurred", first.incident)


@pytest.mark.bad_input("B22")
def test_no_character_of_an_alert_is_lost_and_none_of_its_title_acts(inbox: Inbox) -> None:
    odd = "a\0b\nc\x1b[2J \u202e😀 \ud800 'x' \"y\" %s {{7*7}}"
    alert: JsonObject = {"title": odd, "labels": {odd: odd}, "raw": odd}

    [taken] = inbox.accept([replace(arrival(), alert=alert, ignored=odd, source=odd)])

    entry = inbox.incident(taken.incident)
    [stored] = inbox.alerts(taken.incident)
    assert entry is not None
    assert stored.alert == alert
    for text in (entry.title, entry.reason, stored.ignored, stored.source):
        assert "\\x00" in text
        assert not any(sign in text for sign in "\0\x1b\u202e\ud800")


@pytest.mark.bad_input("B32")
def test_a_group_key_is_kept_as_the_digest_that_it_is(inbox: Inbox) -> None:
    group = digest('{}/{severity=~"' + "x" * 65_536 + '"}:{}')

    [taken] = inbox.accept([replace(arrival(), group=group)])

    assert inbox.alerts(taken.incident)[0].group == group
    assert len(taken.incident) == 19


@pytest.mark.parametrize("name", ["", "inc-\0", "../../etc/passwd", "%", "inc-\ud800"])
def test_an_incident_that_is_not_there_is_none(inbox: Inbox, name: str) -> None:
    inbox.accept([arrival()])

    assert inbox.incident(name) is None
    assert inbox.alerts(name) == []
    with pytest.raises(NotFoundError, match="no such incident"):
        inbox.cancel(name, "")


def test_due_are_those_whose_debounce_is_over_most_severe_and_then_oldest_first(
    inbox: Inbox, clock: Clock
) -> None:
    severities: list[tuple[Severity, str]] = [
        ("normal", "a"), ("critical", "b"), ("normal", "c"), ("low", "d"), ("high", "e"),
    ]  # fmt: skip
    for severity, name in severities:
        inbox.accept([replace(arrival(name), severity=severity)])
        clock.go_on(seconds=1)

    titles = [entry.title[0] for entry in inbox.due(LATER, 10)]

    assert titles == ["b", "e", "a", "c", "d"]
    assert [entry.title[0] for entry in inbox.due(NOW + RULES.debounce, 10)] == ["a"]
    assert [entry.title[0] for entry in inbox.due(LATER, 2)] == ["b", "e"]


def test_incidents_are_listed_newest_first_by_what_they_are(inbox: Inbox, clock: Clock) -> None:
    inbox.accept([arrival("a", severity="high"), arrival("b", ignored="a rule")])
    later = clock.go_on(minutes=5)
    inbox.accept([arrival("c")])

    def titles(entries: list[Entry]) -> str:
        return "".join(entry.title[0] for entry in entries)

    assert titles(inbox.list()) == "cba"
    assert titles(inbox.list(limit=1)) == "c"
    assert titles(inbox.list(status="waiting")) == "ca"
    assert titles(inbox.list(severity="high")) == "a"
    assert titles(inbox.list(identity=arrival("b").identity)) == "b"
    assert titles(inbox.list(since=later)) == "c"
    assert [one.alert["title"] for one in inbox.newest(2)] == ["c stalled", "b stalled"]
    assert inbox.counts() == {"waiting": 2, "dismissed": 1}


def test_an_alert_is_noted_once_and_an_ignored_one_never(inbox: Inbox) -> None:
    inbox.accept([arrival("a"), arrival("b"), arrival("b", minute=1), arrival("c", ignored="x")])

    fresh = inbox.unnoted(10)
    inbox.noted(one.key for one in fresh[0][1])

    assert [(entry.title[0], len(some)) for entry, some in fresh] == [("a", 1), ("b", 2)]
    assert [entry.title[0] for entry, _ in inbox.unnoted(10)] == ["b"]


def test_an_alert_that_is_no_longer_ignored_is_noted(inbox: Inbox) -> None:
    inbox.accept([arrival(ignored="a rule")])

    inbox.accept([arrival()])

    [(entry, [stored])] = inbox.unnoted(10)
    assert (entry.status, stored.ignored, stored.count) == ("waiting", "", 2)


def test_a_run_goes_from_waiting_to_its_end(inbox: Inbox) -> None:
    entry = run_to(inbox, "reported")

    assert (entry.status, entry.runs, inbox.due(LATER, 10)) == ("reported", 1, [])


def test_a_step_that_is_told_twice_or_late_changes_nothing(inbox: Inbox) -> None:
    its = run_to(inbox, "reported").id

    assert inbox.queued(its, 1).status == "reported"
    assert inbox.started(its, 1).status == "reported"
    assert inbox.finished(its, 1, "failed", "late").status == "reported"
    inbox.retry(its)
    assert inbox.finished(its, 1, "reported").status == "waiting"
    assert (inbox.started(its, 2).status, inbox.finished(its, 1, "failed").status) == (
        "running", "running",
    )  # fmt: skip


def test_a_worker_that_was_killed_before_the_desk_wrote_down_its_run_still_counts(
    inbox: Inbox,
) -> None:
    [taken] = inbox.accept([arrival()])

    assert inbox.started(taken.incident, 1).status == "running"
    assert inbox.queued(taken.incident, 1).status == "running"


def test_a_cancelled_incident_is_not_started_and_keeps_its_reason(inbox: Inbox) -> None:
    [taken] = inbox.accept([arrival()])

    inbox.cancel(taken.incident, "not ours")

    entry = inbox.started(taken.incident, 1)
    assert (entry.status, entry.reason) == ("cancelled", "not ours")


@pytest.mark.parametrize("status", ["reported", "closed"])
def test_what_has_ended_cannot_be_cancelled(inbox: Inbox, status: Status) -> None:
    its = run_to(inbox, status).id

    assert inbox.cancel(its, "too late").status == status


def test_an_incident_that_waits_for_the_model_is_found_and_runs_again(inbox: Inbox) -> None:
    its = run_to(inbox, "running").id
    inbox.finished(its, 1, "waiting_model", "the model is down")

    assert [entry.id for entry in inbox.due(LATER, 9, status="waiting_model")] == [its]
    assert inbox.queued(its, 2).reason == ""


def test_a_retry_makes_an_ended_incident_due_at_once(inbox: Inbox, clock: Clock) -> None:
    its = run_to(inbox, "reported").id

    inbox.retry(its)

    assert [entry.id for entry in inbox.due(clock(), 10)] == [its]


def test_a_closed_incident_is_reopened_before_it_is_tried_again(inbox: Inbox) -> None:
    its = run_to(inbox, "closed").id

    with pytest.raises(UsageError, match="reopen it first"):
        inbox.retry(its)

    assert inbox.reopen(its).status == "reported"
    assert inbox.reopen(its).status == "reported"


def test_a_payment_counts_once_and_is_never_less(inbox: Inbox, clock: Clock) -> None:
    """Invariant I9."""
    for usd in ("0.000000001", "0.25", "0.1", "-3"):
        inbox.spend("inc-1", 1, 7, clock(), Decimal(usd))
    inbox.spend("inc-1", 2, 7, clock(), Decimal("0.5"))

    assert inbox.spent(NOW) == Decimal("0.75")
    assert inbox.spent(NOW + timedelta(seconds=1)) == 0


def test_what_ended_long_ago_is_forgotten_and_what_it_cost_is_not(
    inbox: Inbox, clock: Clock
) -> None:
    old = run_to(inbox, "reported").id
    for seq in range(3):
        inbox.spend(old, 1, seq, clock.go_on(hours=12), Decimal("0.1"))
    [waiting] = inbox.accept([arrival("wf_2")])
    clock.go_on(days=100)

    assert inbox.forget(clock() - timedelta(days=90)) == 1

    assert [entry.id for entry in inbox.list()] == [waiting.incident]
    assert inbox.alerts(old) == []
    assert inbox.spent(NOW) == Decimal("0.3")
    assert inbox.forget(clock() - timedelta(days=90)) == 0
    assert inbox.spent(NOW) == Decimal("0.3")


def test_an_incident_whose_alert_is_still_repeated_is_not_forgotten(
    inbox: Inbox, clock: Clock
) -> None:
    run_to(inbox, "reported")
    clock.go_on(days=100)
    inbox.accept([arrival()])

    assert inbox.forget(clock() - timedelta(days=90)) == 0


@pytest.mark.bad_input("B33")
def test_beyond_the_backlog_a_post_is_refused_whole_and_repeats_are_not(
    place: Path | str, opened: Open, clock: Clock
) -> None:
    inbox = opened(place, Rules(backlog=3))
    inbox.accept([arrival("a"), arrival("b")])

    with pytest.raises(InboxError, match="3 incidents wait already") as refused:
        inbox.accept([arrival("c"), arrival("d")])
    repeated = inbox.accept([arrival("a"), arrival("b", minute=1)])

    assert refused.value.retryable
    assert [one.outcome for one in repeated] == ["repeated", "joined"]
    assert len(inbox.list()) == 2
    inbox.cancel(inbox.list()[0].id, "")
    clock.go_on(seconds=2)
    assert [one.outcome for one in inbox.accept([arrival("c"), arrival("d")])] == ["opened"] * 2


def test_incidents_that_the_notes_know_are_adopted_once(inbox: Inbox, clock: Clock) -> None:
    same = arrival()
    known = [
        Known("inc-1", same.identity, "old", "closed", "", NOW - timedelta(days=9), NOW),
        Known("inc-2", same.identity, "new", "reported", "inc-1", NOW - timedelta(days=1), NOW),
    ]

    assert (inbox.adopt(known), inbox.adopt(known)) == (2, 0)

    assert [taken.incident for taken in inbox.accept([same])] == ["inc-2"]
    clock.go_on(days=8)
    [taken] = inbox.accept([arrival(minute=8 * 24 * 60)])
    entry = inbox.incident(taken.incident)
    assert entry is not None
    assert entry.previous == "inc-2"


def test_an_older_incident_that_is_adopted_late_is_not_the_newest(inbox: Inbox) -> None:
    [taken] = inbox.accept([arrival()])
    before = NOW - timedelta(days=1)

    inbox.adopt([Known("inc-1", arrival().identity, "old", "reported", "", before, NOW)])

    assert inbox.accept([arrival(minute=1)]) == [replace(taken, outcome="joined")]


def test_a_shut_inbox_refuses_and_says_so(place: Path | str, opened: Open) -> None:
    inbox = opened(place)
    inbox.shut()

    with pytest.raises(InboxError, match="closed") as refused:
        inbox.accept([arrival()])

    assert refused.value.retryable


def test_one_bad_post_does_not_stop_its_neighbours(inbox: Inbox) -> None:
    bad: Arrival = replace(arrival("bad"), alert={"title": "x", "labels": {"a": b"bytes"}})  # type: ignore[dict-item]
    answers: list[str] = []
    start = threading.Barrier(20)

    def post(number: int) -> None:
        start.wait()
        try:
            [taken] = inbox.accept([bad if number % 2 else arrival(f"wf_{number}")])
            answers.append(taken.outcome)
        except InboxError as error:
            answers.append(f"{error.retryable}")

    threads = [threading.Thread(target=post, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (answers.count("opened"), answers.count("False"), len(inbox.list())) == (10, 10, 10)
    assert inbox.trouble == ""
