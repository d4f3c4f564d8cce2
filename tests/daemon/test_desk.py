"""Claims about the desk: what is wrong with one incident holds up no other."""

import os
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from copilot import app
from copilot.assembly import VERSION
from copilot.daemon.desk import NOTED_IN_A_FLOOD, Desk, Triage
from copilot.daemon.housekeeping import Housekeeping
from copilot.daemon.jobs import due_job, next_job
from copilot.daemon.right_of_way import MANY, RightOfWay
from copilot.daemon.shared_models import SharedModels
from copilot.engine.place import Place
from copilot.inbox.inbox import Inbox
from copilot.inbox.values import Arrival, Rules, Severity
from copilot.journal import Journal
from copilot.workspace import Workspace
from tests.bench import ALERT, NOW, made_workspace
from tests.daemon import flood
from tests.daemon.running import Investigator, RunningDaemon
from tests.doubles.messages_api import MessagesApi
from tests.engine.toys import running, wait_over

AT_ONCE = Rules(debounce=timedelta(0))


def arrival(name: str, severity: Severity) -> Arrival:
    """Return an alert of the trouble *name*."""
    return Arrival(
        alert={"title": name}, key=name, identity=name, group="", source="test",
        status="firing", starts_at=NOW, ends_at=None, severity=severity,
    )  # fmt: skip


@dataclass
class Clock:
    """Stands still until it is set."""

    time: datetime

    def __call__(self) -> datetime:
        return self.time


def desk_of(
    workspace: Workspace,
    inbox: Inbox,
    *,
    models: SharedModels | None = None,
    now: Callable[[], datetime] = lambda: NOW,
    way: RightOfWay | None = None,
) -> Desk:
    """Return a desk without a queue, before a purse that is never empty."""
    return Desk(
        workspace=lambda: workspace,
        inbox=inbox,
        engine=cast("Any", None),
        models=models or SharedModels(),
        allowance=lambda _: "full",
        now=now,
        way=way or RightOfWay(time.monotonic, time.sleep),
    )


def test_an_incident_whose_notes_are_spoilt_holds_up_no_other(tmp_path: Path) -> None:
    with (
        MessagesApi(responder=Investigator(turns=3)) as api,
        RunningDaemon(tmp_path, api, intake="  cooldown: 0s") as daemon,
    ):
        [spoilt] = daemon.send("wf_alpha_001")
        daemon.wait_for([spoilt])
        page = tmp_path / "notes" / spoilt / "STATE.md"
        page.unlink()
        page.mkdir()  # nobody can write a file there
        daemon.send("wf_alpha_001", startsAt="2026-11-30T10:46:00Z")
        [other] = daemon.send("wf_beta_002")
        daemon.wait_for([other])

        assert daemon.incident(other)["status"] == "reported"
        assert "an incident cannot be worked on" in daemon.said()


def test_an_incident_that_the_command_line_began_can_be_investigated_by_the_daemon(
    tmp_path: Path,
) -> None:
    workspace = made_workspace(tmp_path)
    begun = app.run(workspace, ALERT, app.Wishes())
    investigator = Investigator(turns=3)
    with MessagesApi(responder=investigator) as api, RunningDaemon(tmp_path, api) as daemon:
        asked = {"incident": begun.incident, "question": "and now?"}
        daemon.post("/v1/investigations", asked)
        daemon.wait_for([begun.incident])
        found = daemon.incident(begun.incident)

    assert investigator.counts[begun.incident, 1] == 1
    assert found["run"]["status"] == "succeeded"


def test_what_other_daemons_run_does_not_count_against_our_workers(tmp_path: Path) -> None:
    workspace = made_workspace(tmp_path)
    rules = Rules(debounce=timedelta(0))
    place = Place(tmp_path / "state", starts_per_hour=1)  # the first uses it up: the others stay
    with (
        Inbox(tmp_path / "inbox.sqlite", rules, now=lambda: NOW) as inbox,
        running(place, lambda *_: {}) as engine,
    ):
        engine.submit("first", {})
        wait_over(engine, "first")
        for one in inbox.accept([arrival(f"elsewhere {number}", "normal") for number in range(9)]):
            inbox.queued(one.incident, 1)
            inbox.started(one.incident, 1)
        inbox.accept([arrival(f"here {number}", "normal") for number in range(6)])
        desk = Desk(
            workspace=lambda: workspace,
            inbox=inbox,
            engine=engine,
            models=SharedModels(),
            allowance=lambda _: "full",
            now=lambda: NOW,
            way=RightOfWay(time.monotonic, time.sleep),
        )
        desk._hand_out()
        counts = inbox.counts()
        desk.close()

    assert counts == {"running": 9, "queued": workspace.settings.daemon.workers, "waiting": 2}


def test_what_is_reopened_in_the_notes_is_open_for_the_next_alert(tmp_path: Path) -> None:
    workspace = made_workspace(tmp_path)
    with Inbox(tmp_path / "inbox.sqlite", now=lambda: NOW) as inbox:
        incident = app.run(workspace, ALERT, app.Wishes()).incident
        workspace.incidents.close(incident)
        house = Housekeeping(lambda: workspace, inbox, cast("Any", None))
        house.adopt()
        workspace.incidents.reopen(incident)
        house._learn_closed()
        found = inbox.incident(incident)

    assert found
    assert found.status == "reported"


def test_what_a_cancelled_run_had_paid_when_its_daemon_died_counts_once(tmp_path: Path) -> None:
    workspace = made_workspace(tmp_path)
    with Inbox(tmp_path / "inbox.sqlite", now=lambda: NOW) as inbox:
        [taken] = inbox.accept([arrival("a", "normal")])
        incident = taken.incident
        with Journal(workspace.journal_path(incident, 1), now=lambda: NOW) as journal:
            journal.append("response", 1, {"usd": "0.25"})  # answered, and not counted
            inbox.cancel(incident, "by an operator")
            house = Housekeeping(lambda: workspace, inbox, cast("Any", None))
            spent = []
            for _ in range(2):
                house._count_again(NOW)
                spent.append(inbox.spent(NOW))
            journal.append("response", 2, {"usd": "0.5"})  # the call that was under way
            house._count_again(NOW)
            spent.append(inbox.spent(NOW))

    assert spent == [Decimal("0.25"), Decimal("0.25"), Decimal("0.75")]


def test_what_is_closed_in_the_notes_is_closed_wherever_it_was_written(tmp_path: Path) -> None:
    """The clock of the folder may be another, and only what was written since is read."""
    workspace = made_workspace(tmp_path)
    with Inbox(tmp_path / "inbox.sqlite", now=lambda: NOW) as inbox:
        incident = app.run(workspace, ALERT, app.Wishes()).incident
        house = Housekeeping(lambda: workspace, inbox, cast("Any", None))
        house.adopt()
        page = workspace.notes.root / incident / "STATE.md"
        os.utime(page, (1_000_000, 1_000_000))
        house._learn_closed()
        workspace.incidents.close(incident)
        os.utime(page, (1_000_300, 1_000_300))
        house._learn_closed()
        found = inbox.incident(incident)

    assert found
    assert found.status == "closed"


@pytest.mark.bad_input("B043")
def test_a_rule_that_no_alert_has_met_for_six_hours_is_said_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock(NOW)
    workspace = replace(made_workspace(tmp_path), now=clock)
    place = Place(tmp_path / "engine")
    said = []
    with (
        Inbox(tmp_path / "inbox.sqlite", now=clock) as inbox,
        running(place, lambda *_: {}) as engine,
    ):
        house = Housekeeping(lambda: workspace, inbox, engine, lambda: ["identity label wrokflow"])
        for hours in (0, 5, 7):
            clock.time = NOW + timedelta(hours=hours)
            caplog.clear()
            house.round()
            said.append([vars(one).get("rule") for one in caplog.records if "rule" in vars(one)])

    assert said == [[], [], ["identity label wrokflow"]]


def test_after_an_outage_the_most_severe_begins_first(tmp_path: Path) -> None:
    workspace = made_workspace(tmp_path)
    with Inbox(tmp_path / "inbox.sqlite", AT_ONCE, now=lambda: NOW) as inbox:
        low, critical = inbox.accept([arrival("a", "low"), arrival("b", "critical")])
        inbox.queued(low.incident, 1)
        inbox.finished(low.incident, 1, "waiting_model", "it was away")
        later = NOW + timedelta(minutes=5)
        desk = desk_of(workspace, inbox, now=lambda: later)
        found = [entry.id for entry in desk._due(2)]
        desk.close()

    assert found == [critical.incident, low.incident]


def test_more_incidents_than_one_round_looks_at_are_triaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("copilot.daemon.desk.TRIAGED_AT_ONCE", 1)
    workspace, models = made_workspace(tmp_path), SharedModels()
    models.breaker(workspace).failed("auth", "invalid x-api-key")
    with Inbox(tmp_path / "inbox.sqlite", AT_ONCE, now=lambda: NOW) as inbox:
        taken = inbox.accept([arrival(name, "normal") for name in "abc"])
        desk = desk_of(workspace, inbox, models=models)
        begun = [desk._triage() for _ in range(4)]
        desk._threads.shutdown()

    assert begun == [1, 1, 1, 0]
    for one in taken:
        assert "Offline triage" in (tmp_path / "notes" / one.incident / "report.md").read_text()


def test_in_a_flood_few_alerts_are_noted_before_the_desk_looks_up(tmp_path: Path) -> None:
    workspace, clock = made_workspace(tmp_path), flood.Clock()
    way = RightOfWay(clock, clock.sleep)
    flood.come(way, MANY)
    with Inbox(tmp_path / "inbox.sqlite", AT_ONCE, now=lambda: NOW) as inbox:
        inbox.accept([arrival(f"workflow {number}", "normal") for number in range(12)])
        desk = desk_of(workspace, inbox, way=way)
        noted = [desk._note(), desk._note()]
        desk.close()

    assert noted == [NOTED_IN_A_FLOOD, 12 - NOTED_IN_A_FLOOD]


def test_the_one_that_finds_out_is_the_one_that_was_tried_longest_ago(tmp_path: Path) -> None:
    workspace, clock = made_workspace(tmp_path), Clock(NOW)
    with Inbox(tmp_path / "inbox.sqlite", AT_ONCE, now=clock) as inbox:
        low, critical = inbox.accept([arrival("a", "low"), arrival("b", "critical")])
        for one in (low, critical):
            clock.time += timedelta(seconds=1)
            inbox.queued(one.incident, 1)
            inbox.finished(one.incident, 1, "waiting_model", "it was away")
        clock.time += timedelta(minutes=5)
        desk = desk_of(workspace, inbox, now=clock)
        found = [entry.id for entry in desk._by_last_try()]
        desk.close()

    assert found == [low.incident, critical.incident]


def test_an_investigation_that_was_paid_for_goes_on_with_its_own_model(tmp_path: Path) -> None:
    workspace = made_workspace(tmp_path)
    with Inbox(tmp_path / "inbox.sqlite", AT_ONCE, now=lambda: NOW) as inbox:
        [taken] = inbox.accept([arrival("a", "normal")])
        entry = inbox.incident(taken.incident)
        assert entry
        ours = workspace.with_run(replace(workspace.run_options, model="claude-sonnet-5-5"))
        begun = {"version": VERSION, "model": "claude-sonnet-5-5", "policy": "default"}
        with Journal(ours.journal_path(entry.id, 1), now=lambda: NOW) as journal:
            journal.append("started", 0, {**begun, "question": ""})
        kept = due_job(ours, entry, "cheaper")
        anew = next_job(ours, entry, "cheaper")

    cheaper = workspace.settings.daemon.spend
    assert (kept.options.model, kept.record) == ("claude-sonnet-5-5", "0001.jsonl")
    assert kept.options.turns == cheaper.fewer_turns
    assert (anew.options.model, anew.record) == (cheaper.cheaper_model, "0002.jsonl")


def test_a_triage_that_failed_is_tried_again_after_a_rest_and_one_that_did_not_is_not() -> None:
    failed, done = Future[bool](), Future[bool]()
    failed.set_result(False)
    done.set_result(True)

    assert not Triage(NOW, failed).is_to_be_repeated(NOW)
    assert Triage(NOW, failed).is_to_be_repeated(NOW + timedelta(minutes=1))
    assert not Triage(NOW, done).is_to_be_repeated(NOW + timedelta(minutes=1))
