"""`copilot usage`: tables, CSV, JSON, charts and days, all from the journals."""

import csv
import io
import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from copilot.cli.session import Session
from copilot.cli.ui import Screen
from copilot.journal import Event
from copilot.notes.front import Front
from copilot.notes.repository import NotesRepository
from copilot.notes.state import State, render
from tests.cli.conftest import Run
from tests.context.measured import Written, investigated

DAY = datetime(2026, 11, 30, 18, tzinfo=UTC)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the folder of a run on the strict double with every lever, and its incident."""
    folder = tmp_path_factory.mktemp("run")
    return folder, investigated(folder)[1]


@pytest.fixture
def incident(measured: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the id of the incident in the folder that we are in."""
    monkeypatch.chdir(measured[0])
    monkeypatch.setenv("COLUMNS", "80")
    return measured[1]


def written(folder: Path, incident: str, events: list[Event]) -> Path:
    """Write a journal of that incident by hand."""
    path = folder / "state" / "journals" / incident / "0001.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{event.line()}\n" for event in events))
    return path


def one_request(usd: str | None = "0.5") -> list[Event]:
    """A journal with one request of 1,010 tokens."""
    journal = Written()
    journal.ask(1)
    journal.answer(1, (0, 0, 1000, 10), usd=usd)
    return journal.events


def today(folder: Path) -> Session:
    """A session in the evening of the day of those journals."""
    return Session(Screen(), cwd=folder, now=lambda: DAY)


def test_the_table_has_every_request_and_its_last_line_the_sum(incident: str, run: Run) -> None:
    done = run("usage", incident)
    report = json.loads(run("usage", incident, "--json").out)

    requests, sources, levers = (part.splitlines() for part in done.out.split("\n\n"))
    assert len(requests) == len(report["requests"]) + 2
    assert requests[-1].split()[-2] == f"{report['total']['usd']:.4f}"
    assert any(line.split()[-1] == "search_logbook" for line in sources)
    assert [line.split()[0] for line in levers] == ["LEVER", "offload", "clearing", "compaction"]


def test_the_json_adds_up(incident: str, run: Run) -> None:
    found = json.loads(run("usage", incident, "--json").out)

    assert found["schema"] == "copilot.usage/1"
    for name in ("input", "cache_read", "cache_write", "output", "usd"):
        whole = sum(row[name] for row in found["requests"])
        assert whole == pytest.approx(found["total"][name])
    assert sum(found["usd_by_source"].values()) == pytest.approx(found["total"]["usd"])


def test_the_csv_is_what_the_notes_keep(incident: str, run: Run) -> None:
    done = run("usage", incident, "--csv")

    assert done.out == run("notes", "show", incident, "usage.csv").out
    assert {row["kind"] for row in csv.DictReader(io.StringIO(done.out))} == {"turn", "compaction"}


@pytest.mark.parametrize("width", ["40", "80"])
def test_the_chart_fits_the_terminal_and_marks_the_levers(
    incident: str, run: Run, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)

    lines = run("usage", incident, "--chart").out.splitlines()

    assert max(map(len, lines)) <= int(width)
    [marks] = [line for line in lines if line.lstrip().startswith("marks")]
    assert {"C", "S"} <= set(marks)
    assert any("clearing from 6,500" in line for line in lines)


def test_the_svg_is_written_and_nothing_is_printed(incident: str, run: Run, tmp_path: Path) -> None:
    done = run("usage", incident, "--svg", str(tmp_path / "wedge.svg"))

    assert (done.code, done.out) == (0, "")
    root = ET.fromstring((tmp_path / "wedge.svg").read_text())
    assert incident in (root.findtext("{http://www.w3.org/2000/svg}title") or "")


def test_a_file_that_cannot_be_written_is_said(incident: str, run: Run, tmp_path: Path) -> None:
    done = run("usage", incident, "--svg", str(tmp_path / "no" / "wedge.svg"))

    assert done.code == 2
    assert "cannot be written" in done.err


@pytest.mark.parametrize(
    "arguments",
    [(), ("ID", "--days", "3"), ("ID", "--csv", "--json"), ("--days", "3", "--chart")],
)
def test_what_excludes_one_another_is_refused(
    workspace: Path, run: Run, arguments: tuple[str, ...]
) -> None:
    done = run("usage", *arguments)

    assert done.code == 2
    assert done.err.startswith("copilot: ")


def test_an_incident_that_is_not_there_is_named(workspace: Path, run: Run) -> None:
    done = run("usage", "inc-20260131-ffffff")

    assert done.code == 4
    assert "no such incident" in done.err


def test_an_investigation_by_rules_costs_nothing(investigated: str, run: Run) -> None:
    found = json.loads(run("usage", investigated, "--json").out)

    assert found["total"]["usd"] == 0
    assert run("usage", investigated).code == run("usage", investigated, "--chart").code == 0


def test_an_investigation_that_asked_nothing_is_said_in_words(workspace: Path, run: Run) -> None:
    name = known(workspace, "inc-20260131-000001")
    written(workspace, name, Written("offline").events)

    assert "no request was paid for" in run("usage", name).err
    assert "no request was answered yet" in run("usage", name, "--chart").out
    assert json.loads(run("usage", name, "--json").out)["requests"] == []


def test_a_day_is_the_sum_over_all_incidents(workspace: Path, run: Run) -> None:
    for name in ("inc-1", "inc-2"):
        written(workspace, name, one_request())

    found = json.loads(run("usage", "--days", "1", "--json", obj=today(workspace)).out)

    [day] = found["days"]
    assert (day["day"], day["investigations"], day["usd"]) == ("2026-11-30", 2, 1.0)
    assert (day["cache_write"], day["output"]) == (2000, 20)


def known(folder: Path, name: str) -> str:
    """The id of an incident that the notes have."""
    NotesRepository(folder / "notes", now=lambda: DAY).create()
    (folder / "notes" / name).mkdir(parents=True)
    (folder / "notes" / name / "STATE.md").write_text(render(State(front=Front(incident=name))))
    return name


def task_record(journal: Path, name: str, *, answered: bool = True, usd: str = "0.25") -> None:
    """Write the journal of a task with two requests beside that of its investigation."""
    task = Written()
    task.events[0] = replace(task.events[0], data={"task": f"{name}: which host is down?"})
    for turn in (1, 2):
        task.ask(turn)
        task.answer(turn, (0, 0, 500, 5), usd=usd)
    if answered:
        task.add("report", 2, text="FINDINGS")
    path = journal.with_name(f"{journal.stem}.task-{name}.jsonl")
    path.write_text("".join(f"{event.line()}\n" for event in task.events))


def test_a_task_is_part_of_its_investigation_and_none_of_its_own(workspace: Path, run: Run) -> None:
    journal = written(workspace, "inc-1", one_request())
    task_record(journal, "aaa")
    task_record(journal, "bbb")

    found = json.loads(run("usage", "--days", "1", "--json", obj=today(workspace)).out)

    [day] = found["days"]
    assert (day["investigations"], day["requests"], day["usd"]) == (1, 5, 1.5)


def test_what_tasks_used_is_shown_with_the_incident(workspace: Path, run: Run) -> None:
    name = known(workspace, "inc-20260131-000001")
    events = one_request()
    paid = {"usage": {"cache_write": 1000, "output": 10}, "usd": "0.5"}
    data = {"call": "t", "tool": "task", "text": "FINDINGS", **paid}
    events.append(Event(9, DAY, "result", 1, data))  # type: ignore[arg-type]  # JSON
    journal = written(workspace, name, events)
    task_record(journal, "aaa")
    task_record(journal, "bbb", answered=False)

    table = run("usage", name).out.split("\n\n")[-1].splitlines()
    found = json.loads(run("usage", name, "--json").out)

    assert table[0].split()[:4] == ["TASK", "ANSWERED", "REQUESTS", "INPUT"]
    assert [line.split()[:3] for line in table[1:]] == [["aaa", "yes", "2"], ["bbb", "no", "2"]]
    assert "which host is down?" in table[1]
    assert [(task["requests"], task["usd"]) for task in found["tasks"]] == [(2, 0.5), (2, 0.5)]
    assert (found["total"]["requests"], found["total"]["usd"]) == (5, 1.5)


@pytest.mark.parametrize("command", ["usage", "incidents show"])
def test_a_policy_that_keeps_too_little_is_said(workspace: Path, run: Run, command: str) -> None:
    name = known(workspace, "inc-20260131-000001")
    says = "keep is too tight for get_ticket: 3 of its cleared results were needed again"
    events = one_request()
    data = {"call": "c", "tool": "x", "text": "y", "rereads": "get_ticket", "advice": says}
    events.append(Event(9, DAY, "result", 1, data))  # type: ignore[arg-type]  # JSON
    written(workspace, name, events)

    assert says in run(*command.split(), name).err
    assert json.loads(run(*command.split(), name, "--json").out)["advice"] == [says]


def test_days_before_are_left_out(workspace: Path, run: Run) -> None:
    written(workspace, "inc-1", one_request())
    late = Session(Screen(), cwd=workspace, now=lambda: DAY + timedelta(days=2))

    assert json.loads(run("usage", "--days", "2", "--json", obj=late).out)["days"] == []
    assert len(json.loads(run("usage", "--days", "3", "--json", obj=late).out)["days"]) == 1


def test_a_price_that_is_not_known_makes_the_day_at_least_so_much(
    workspace: Path, run: Run
) -> None:
    written(workspace, "inc-1", one_request())
    written(workspace, "inc-2", one_request(usd=None))

    done = run("usage", "--days", "1", obj=today(workspace))

    assert done.out.splitlines()[-1].split()[-1] == "≥0.5000"


def test_a_damaged_journal_is_named_and_the_others_count(workspace: Path, run: Run) -> None:
    written(workspace, "inc-1", one_request())
    path = written(workspace, "inc-2", one_request())
    path.write_text(path.read_text().replace('"usage":{', '"usage":{{'))

    done = run("usage", "--days", "1", obj=today(workspace))

    assert "inc-2" in done.err
    assert done.out.splitlines()[-1].split()[2] == "1"


def test_a_line_that_is_being_written_is_not_counted(workspace: Path, run: Run) -> None:
    path = written(workspace, "inc-1", one_request())
    path.write_text(path.read_text().removesuffix("\n"))

    found = json.loads(run("usage", "--days", "1", "--json", obj=today(workspace)).out)

    assert found["total"]["requests"] == 0


def test_a_journal_last_written_before_the_days_is_not_opened(workspace: Path, run: Run) -> None:
    path = written(workspace, "inc-old", one_request())
    path.write_text(path.read_text().replace('"usage":{', '"usage":{{'))
    a_year_ago = (DAY - timedelta(days=366)).timestamp()
    os.utime(path, (a_year_ago, a_year_ago))

    done = run("usage", "--days", "7", obj=today(workspace))

    assert "cannot be read" not in done.err
