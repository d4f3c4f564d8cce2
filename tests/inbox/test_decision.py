"""Which incident an alert belongs to, whatever order senders choose."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copilot.inbox.board import Board
from copilot.inbox.decision import TOO_LATE, UNSEEN, Case, decide
from copilot.inbox.values import SEVERITIES, Arrival, Outcome
from tests.inbox.arrivals import NOW, RULES, arrival, resolved


@dataclass
class Desk:
    """Decides about arrivals one after the other, in front of no database."""

    board: Board = field(default_factory=Board)
    now: datetime = NOW

    def take(self, *arrivals: Arrival) -> list[Outcome]:
        """What became of each."""
        outcomes: list[Outcome] = []
        for one in arrivals:
            rows = self.board.rows_for(one)
            decision = decide(one, rows, self.now, RULES, self.board.cases.__contains__)
            self.board.keep(one, decision)
            outcomes.append(decision.outcome)
        return outcomes

    @property
    def cases(self) -> list[Case]:
        """The incidents in the order they were opened."""
        return list(self.board.cases.values())

    def change(self, **values: object) -> None:
        """Change the newest incident as a person or a worker would."""
        case = self.cases[-1]
        self.board.cases[case.id] = replace(case, **values)  # type: ignore[arg-type]  # by name

    def groups(self) -> set[frozenset[str]]:
        """Which alerts are together."""
        firings = self.board.firings.values()
        return {
            frozenset(one.key for one in firings if one.incident == case.id) for case in self.cases
        }

    def facts(self) -> set[tuple[object, ...]]:
        """What must not depend on the order, beside the groups."""
        return {
            (case.identity, case.ignored, case.status, case.severity, case.firing, case.urgent,
             case.alerts, case.began, case.ended)
            for case in self.cases
        }  # fmt: skip


def decided(arrivals: Iterable[Arrival]) -> Desk:
    """A desk that took those."""
    desk = Desk()
    desk.take(*arrivals)
    return desk


@st.composite
def firings(draw: st.DrawFn, *, span: float) -> list[Arrival]:
    """What senders say of a few alerts within *span* minutes: that they fire, that they ended."""
    said: list[Arrival] = []
    for number in range(draw(st.integers(1, 6))):
        workflow = draw(st.sampled_from(["wf_1", "wf_2", "wf_3"]))
        start = draw(st.floats(0, span)) + number / 10**6
        fires = arrival(
            workflow,
            minute=start,
            severity=draw(st.sampled_from(SEVERITIES)),
            ignored=draw(st.sampled_from(["", "", "a rule"])),
        )
        ended = NOW + timedelta(minutes=draw(st.floats(start, max(span, start))))
        over = replace(fires, status="resolved", ends_at=max(ended, fires.starts_at))
        said += draw(st.sampled_from([[fires], [over], [fires, over]]))
    return said


@st.composite
def shuffled(draw: st.DrawFn, *, span: float) -> tuple[list[Arrival], list[Arrival]]:
    """Arrivals, and the same in another order and some of them several times."""
    said = draw(firings(span=span))
    again = draw(st.lists(st.sampled_from(said), max_size=8))
    return said, list(draw(st.permutations([*said, *again])))


@settings(max_examples=300)
@given(shuffled(span=14))
def test_any_order_and_any_repetition_group_the_same_way(
    pair: tuple[list[Arrival], list[Arrival]],
) -> None:
    straight, mixed = decided(pair[0]), decided(pair[1])

    assert mixed.groups() == straight.groups()
    assert mixed.facts() == straight.facts()


@given(firings(span=600), st.data())
def test_a_repetition_changes_no_group_whenever_it_comes(
    said: list[Arrival], data: st.DataObject
) -> None:
    repeated = list(said)
    for place in data.draw(st.lists(st.integers(0, len(said) - 1), max_size=6)):
        first = repeated.index(said[place])
        repeated.insert(data.draw(st.integers(first + 1, len(repeated))), said[place])

    assert decided(repeated).groups() == decided(said).groups()


@given(shuffled(span=600))
def test_every_alert_has_one_incident_and_no_incident_two_troubles(
    pair: tuple[list[Arrival], list[Arrival]],
) -> None:
    desk = decided(pair[1])

    identities = {one.key: one.identity for one in pair[0]}
    for firing in desk.board.firings.values():
        assert desk.board.cases[firing.incident].identity == identities[firing.key]
    assert set(desk.board.firings) == set(identities)
    assert sum(case.alerts for case in desk.cases) == len(identities)


@given(firings(span=600))
def test_one_trouble_does_not_change_what_becomes_of_another(said: list[Arrival]) -> None:
    apart = [decided(one for one in said if one.identity == its).groups() for its in _ids(said)]

    assert decided(said).groups() == set().union(*apart)


@given(firings(span=600))
def test_only_one_incident_of_an_identity_is_the_newest(said: list[Arrival]) -> None:
    desk = decided(said)

    newest = [(case.identity, case.ignored) for case in desk.cases if case.newest]
    assert len(newest) == len(set(newest))
    assert set(newest) == {(case.identity, case.ignored) for case in desk.cases}


@pytest.mark.bad_input("B25")
def test_two_peers_fourteen_seconds_apart_are_one_incident_in_every_order() -> None:
    said = [arrival(f"wf_{place}", minute=place) for place in range(3)]
    said += [replace(one, status="resolved", ends_at=NOW + timedelta(minutes=5)) for one in said]
    chance = random.Random(14)

    for _ in range(500):
        peers = [
            (moment + late, chance.random(), one)
            for late in (0, 14)
            for moment, one in enumerate(said)
        ]
        chance.shuffle(peers)
        if chance.random() < 0.5:
            peers.sort(key=lambda one: one[:2])
        desk = decided(one for _, _, one in peers)
        assert [case.alerts for case in desk.cases] == [1, 1, 1]


@pytest.mark.bad_input("B041")
def test_the_same_alert_is_only_counted() -> None:
    desk = Desk()

    assert desk.take(arrival(), arrival(), arrival()) == ["opened", "repeated", "repeated"]
    assert len(desk.cases) == 1


@pytest.mark.bad_input("B041")
def test_another_alert_of_the_trouble_joins_while_it_goes_on() -> None:
    """A repeated alert got a new hash, and an incident each time."""
    desk = Desk()

    assert desk.take(arrival(minute=0), arrival(minute=90)) == ["opened", "joined"]
    assert len(desk.cases) == 1


@pytest.mark.bad_input("B042")
def test_different_workflows_are_never_one_incident() -> None:
    """Only the alert's name counted, and workflows were merged."""
    desk = decided([arrival("wf_1"), arrival("wf_2")])

    assert len(desk.cases) == 2


@pytest.mark.bad_input("B050")
def test_two_replicas_of_one_alert_are_one_incident() -> None:
    """Replicas differ in a label, so also in the fingerprint and the key."""
    desk = decided([arrival(), replace(arrival(), key="b" * 64)])

    assert [case.alerts for case in desk.cases] == [2]


@pytest.mark.bad_input("B048")
def test_an_alert_that_fires_every_six_hours_has_incidents_of_its_own() -> None:
    """Everything was appended to the first incident for seven days."""
    desk = Desk()
    for hours in range(0, 7 * 24, 6):
        desk.now = NOW + timedelta(hours=hours)
        desk.take(arrival(minute=hours * 60), resolved(minute=hours * 60, ended=hours * 60 + 5))

    assert len(desk.cases) == 28
    assert [case.previous for case in desk.cases[1:]] == [case.id for case in desk.cases[:-1]]


@pytest.mark.bad_input("B048")
def test_a_closed_incident_takes_no_other_alert() -> None:
    desk = decided([arrival()])
    desk.change(status="closed")

    assert desk.take(arrival(minute=1), arrival()) == ["recurred", "repeated"]


@pytest.mark.bad_input("B048")
def test_a_report_that_lay_for_a_week_takes_no_other_alert() -> None:
    desk = decided([arrival()])
    desk.change(status="reported")

    desk.now = NOW + timedelta(days=7)
    within = desk.take(arrival(minute=1))
    desk.now += timedelta(days=7, seconds=1)
    after = desk.take(arrival(minute=2))

    assert (within, after) == (["joined"], ["recurred"])


def test_an_incident_that_waits_for_weeks_is_still_the_same() -> None:
    desk = decided([arrival()])
    desk.now = NOW + timedelta(days=30)

    assert desk.take(arrival(minute=1)) == ["joined"]


def test_firing_again_within_the_cooldown_is_the_same_incident_and_waits_again() -> None:
    desk = decided([arrival(), resolved(ended=1)])
    before = desk.cases[0]

    outcome = desk.take(arrival(minute=16))

    assert (before.status, before.reason) == ("dismissed", TOO_LATE)
    assert (outcome, desk.cases[0].status) == (["joined"], "waiting")


def test_firing_again_after_the_cooldown_is_a_recurrence() -> None:
    desk = decided([arrival(), resolved(ended=1)])

    assert desk.take(arrival(minute=16.1)) == ["recurred"]
    assert desk.cases[1].previous == desk.cases[0].id


def test_an_old_alert_that_comes_late_does_not_join_an_incident_that_began_much_later() -> None:
    desk = decided([arrival(minute=100), resolved(minute=100, ended=101)])

    assert desk.take(arrival(minute=10)) == ["recurred"]


@pytest.mark.bad_input("B24")
def test_resolved_before_firing_is_dismissed_and_the_late_firing_only_counted() -> None:
    desk = Desk()

    assert desk.take(resolved(), arrival()) == ["resolved", "repeated"]
    assert [(case.status, case.reason) for case in desk.cases] == [("dismissed", UNSEEN)]


@pytest.mark.bad_input("B24")
def test_what_fires_with_its_old_start_long_after_its_end_is_a_recurrence() -> None:
    """Alertmanager ends an alert whose Prometheus is away; back again, it fires with its start."""
    desk = decided([arrival(), resolved(ended=1)])
    desk.now = NOW + timedelta(minutes=14)
    soon = desk.take(arrival())
    desk.now = NOW + timedelta(minutes=17)
    later = desk.take(arrival(), arrival())

    assert (soon, later) == (["repeated"], ["recurred", "repeated"])
    assert [case.firing for case in desk.cases] == [0, 1]
    assert desk.cases[1].previous == desk.cases[0].id
    assert desk.cases[1].status == "waiting"


def test_a_late_word_of_the_old_end_does_not_end_the_recurrence_and_a_new_one_does() -> None:
    desk = decided([arrival(), resolved(ended=1)])
    desk.now = NOW + timedelta(minutes=17)
    desk.take(arrival())

    old, new = resolved(ended=1), resolved(ended=20)

    assert desk.take(old, new) == ["repeated", "resolved"]
    assert [case.resolved for case in desk.cases] == [True, True]


def test_while_others_of_the_incident_fire_an_alert_with_its_old_start_is_only_counted() -> None:
    desk = decided([arrival(), arrival(minute=1), resolved(ended=2)])
    desk.now = NOW + timedelta(hours=3)

    assert desk.take(arrival()) == ["repeated"]


def test_an_alert_without_a_start_fires_once_more_when_its_incident_is_closed() -> None:
    undated = replace(arrival(), is_dated=False)
    desk = decided([undated])
    repeated = desk.take(undated)
    desk.change(status="closed")

    assert (repeated, desk.take(undated, undated)) == (["repeated"], ["recurred", "repeated"])


def test_a_critical_alert_is_investigated_in_whatever_order_its_two_words_come() -> None:
    over = replace(resolved(), severity="critical")

    for said in ([arrival(severity="critical"), over], [over, arrival(severity="critical")]):
        [case] = decided(said).cases
        assert (case.status, case.resolved) == ("waiting", True)


def test_an_incident_is_resolved_when_its_last_alert_is() -> None:
    desk = decided([arrival(minute=0), arrival(minute=1), resolved(minute=0, ended=2)])
    half = desk.cases[0].resolved

    desk.take(resolved(minute=1, ended=3))

    assert (half, desk.cases[0].resolved) == (False, True)


def test_an_investigation_under_way_is_not_dismissed_when_the_alert_ends() -> None:
    for status in ("queued", "running", "waiting_model", "reported"):
        desk = decided([arrival()])
        desk.change(status=status)

        desk.take(resolved())

        assert (desk.cases[0].status, desk.cases[0].resolved) == (status, True)


def test_an_ignored_alert_is_recorded_and_dismissed_with_its_reason() -> None:
    desk = Desk()

    assert desk.take(arrival(ignored="a heartbeat"), arrival(ignored="a heartbeat")) == [
        "ignored", "repeated",
    ]  # fmt: skip
    assert [(case.status, case.reason) for case in desk.cases] == [("dismissed", "a heartbeat")]


def test_an_alert_that_is_no_longer_ignored_is_investigated() -> None:
    desk = decided([arrival(ignored="a rule that was too wide")])

    assert desk.take(arrival()) == ["opened"]
    assert desk.cases[1].status == "waiting"


def test_the_most_severe_alert_decides_how_severe_an_incident_is() -> None:
    desk = decided([arrival(severity="low"), arrival(minute=1, severity="high")])

    assert desk.cases[0].severity == "high"


def test_an_alert_without_an_end_or_with_one_before_its_start_ended_when_that_was_heard() -> None:
    for ended in (None, -5):
        desk = decided([arrival(), arrival(status="resolved", ended=ended)])

        assert desk.cases[0].ended == NOW


def test_an_id_that_another_incident_has_is_not_given_twice() -> None:
    desk = decided([arrival()])
    desk.change(status="closed")

    desk.take(replace(arrival(), key="c" * 64))

    assert len({case.id for case in desk.cases}) == 2


@pytest.mark.bad_input("B19")
def test_times_outside_the_calendar_are_taken() -> None:
    early = datetime.fromisoformat("0001-01-01T00:00:00+14:00")
    late = datetime.fromisoformat("9999-12-31T23:59:59-12:00")

    desk = decided([replace(arrival(), starts_at=early), replace(arrival("x"), starts_at=late)])

    assert [case.id[:12] for case in desk.cases] == ["inc-00010101", "inc-99991231"]


def _ids(said: list[Arrival]) -> set[str]:
    return {one.identity for one in said}
