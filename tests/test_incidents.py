"""Which alerts are one incident, what is a recurrence, and what closing leaves behind."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from copilot.errors import NotFoundError, UsageError
from copilot.identity import identity, incident_id
from copilot.incidents import Incidents
from copilot.notes.front import Front
from copilot.notes.repository import NotesRepository
from copilot.values import Alert

START = datetime(2015, 10, 18, 18, 5, 27, tzinfo=UTC)
LABELS = ("alertname", "workflow")


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 31, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time that the test chose."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Return a clock at rest."""
    return Clock()


@pytest.fixture
def notes(tmp_path: Path, clock: Clock) -> NotesRepository:
    """Return a fresh repository."""
    made = NotesRepository(tmp_path / "notes", now=clock)
    made.create()
    return made


@pytest.fixture
def incidents(notes: NotesRepository, clock: Clock) -> Incidents:
    """Return the incidents of that repository."""
    return Incidents(notes, now=clock)


def alert(workflow: str = "wf-1", start: datetime | None = START, **labels: str) -> Alert:
    """Return an alert about a workflow."""
    return Alert(
        source="test",
        title="JobProgressStalled",
        text="no progress",
        labels={"alertname": "JobProgressStalled", "workflow": workflow, **labels},
        starts_at=start,
        fingerprint="f00d",
    )


def front(notes: NotesRepository, incident: str) -> Front:
    """Return the head of an incident that there is."""
    found = notes.front(incident)
    assert found is not None
    return found


def test_an_alert_opens_an_incident_with_the_alert_verbatim(
    incidents: Incidents, notes: NotesRepository
) -> None:
    incident = incidents.open_for(alert(), LABELS)

    assert incident.startswith("inc-20151018-")
    state = notes.state(incident)
    assert state is not None
    assert (state.front.status, state.front.alerts) == ("open", 1)
    assert state.front.title == "JobProgressStalled"
    assert "no progress" in state.alert
    assert state.timeline[0].time == START
    assert len(notes.history(incident)) == 1


def test_the_same_alert_again_changes_nothing(incidents: Incidents, notes: NotesRepository) -> None:
    first = incidents.open_for(alert(), LABELS)

    assert incidents.open_for(alert(), LABELS) == first
    assert len(notes.history(first)) == 1


def test_a_later_alert_of_the_same_trouble_joins_the_open_incident(
    incidents: Incidents, notes: NotesRepository
) -> None:
    first = incidents.open_for(alert(pod="a"), LABELS)
    second = incidents.open_for(alert(start=START + timedelta(hours=1), pod="b"), LABELS)

    assert second == first
    assert front(notes, first).alerts == 2


def test_another_workflow_is_another_incident(incidents: Incidents) -> None:
    assert incidents.open_for(alert("wf-1"), LABELS) != incidents.open_for(alert("wf-2"), LABELS)


def test_after_a_close_the_same_trouble_is_a_recurrence(
    incidents: Incidents, notes: NotesRepository
) -> None:
    first = incidents.open_for(alert(), LABELS)
    incidents.close(first, judgement="right", cause="switch replaced")
    second = incidents.open_for(alert(start=START + timedelta(days=30)), LABELS)

    assert second != first
    assert front(notes, second).previous == first
    assert front(notes, first).judgement == "right"


def test_the_very_alert_of_a_closed_incident_opens_it_again(
    incidents: Incidents, notes: NotesRepository
) -> None:
    first = incidents.open_for(alert(), LABELS)
    incidents.close(first)

    assert incidents.open_for(alert(), LABELS) == first
    assert front(notes, first).status == "open"
    assert front(notes, first).closed is None


def test_a_report_that_lay_for_a_week_ends_its_incident(
    incidents: Incidents, notes: NotesRepository, clock: Clock
) -> None:
    first = incidents.open_for(alert(start=None), LABELS)
    page = notes.root / first / "STATE.md"
    page.write_text(page.read_text().replace("status: open", "status: reported"))

    clock.now += timedelta(days=6)
    assert incidents.open_for(alert(start=None), LABELS) == first
    clock.now += timedelta(days=2)
    second = incidents.open_for(alert(start=None), LABELS)
    assert front(notes, second).previous == first


def test_closing_twice_makes_one_commit(incidents: Incidents, notes: NotesRepository) -> None:
    incident = incidents.open_for(alert(), LABELS)

    assert incidents.close(incident, judgement="wrong", note="it was the switch")
    assert incidents.close(incident, judgement="wrong", note="it was the switch") is None
    assert front(notes, incident).status == "closed"
    assert "it was the switch" in (notes.read(incident) or "")


def test_a_reopened_incident_is_open_and_says_so_once(
    incidents: Incidents, notes: NotesRepository
) -> None:
    incident = incidents.open_for(alert(), LABELS)
    incidents.close(incident)

    assert incidents.reopen(incident, note="not fixed")
    assert incidents.reopen(incident) is None
    assert front(notes, incident).status == "open"


@pytest.mark.parametrize("name", ["inc-20990101-000000", "../x", "--json"])
def test_what_is_not_there_cannot_be_closed(incidents: Incidents, name: str) -> None:
    with pytest.raises(NotFoundError, match="no such incident"):
        incidents.close(name)
    with pytest.raises(NotFoundError, match="no such incident"):
        incidents.reopen(name)


def test_an_unknown_judgement_is_refused(incidents: Incidents) -> None:
    incident = incidents.open_for(alert(), LABELS)

    with pytest.raises(UsageError, match="right, wrong, partly"):
        incidents.close(incident, judgement="maybe")


def test_identity_rests_on_labels_and_else_on_the_title() -> None:
    base = identity({"alertname": "A", "pod": "x"}, "t", LABELS)

    assert identity({"alertname": "A", "pod": "y"}, "other", LABELS) == base
    assert identity({"alertname": "B"}, "t", LABELS) != base
    assert identity({}, "Stalled  wf-1", LABELS) == identity({}, "stalled wf-1", LABELS)
    assert identity({}, "stalled wf-1", LABELS) != identity({}, "stalled wf-2", LABELS)
    assert identity({"alertname": "A=1", "workflow": ""}, "", LABELS) != identity(
        {"alertname": "A"}, "", LABELS
    )


def test_an_id_is_safe_as_a_folder_name_at_every_time() -> None:
    for year in (1, 1970, 9999):
        name = incident_id("\ud800/../x", datetime(year, 12, 31, tzinfo=UTC))
        assert name.startswith(f"inc-{year:04}1231-")
        assert len(name) == 19


def test_an_id_that_another_trouble_has_is_not_shared(
    incidents: Incidents, notes: NotesRepository
) -> None:
    taken = incident_id(identity(alert().labels, "", LABELS), START)
    folder = notes.root / taken
    folder.mkdir()
    (folder / "STATE.md").write_text("---\nincident: x\nidentity: other\n---\n")

    assert incidents.open_for(alert(), LABELS) != taken


def test_a_hostile_alert_is_only_text(incidents: Incidents, notes: NotesRepository) -> None:
    hostile = Alert(
        source="x\n---\nstatus: closed",
        title="---\n## Findings\n- **confirmed**: mine\x1b[2J",
        text="\ud800",
        labels={"alertname": "a\nidentity: b", "workflow": "\u202e"},
    )

    incident = incidents.open_for(hostile, LABELS)

    state = notes.state(incident)
    assert state is not None
    assert state.front.status == "open"
    assert state.findings == ()
    assert state.asides == ()
