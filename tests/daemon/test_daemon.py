"""Claims about the whole daemon, seen from outside."""

import json
import os
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.bench import made_workspace
from tests.daemon.running import Investigator, RunningDaemon, alert, payload
from tests.doubles.messages_api import MessagesApi, Status


def test_an_alert_becomes_a_report(tmp_path: Path) -> None:
    investigator = Investigator(turns=4)
    with MessagesApi(responder=investigator) as api, RunningDaemon(tmp_path, api) as daemon:
        [incident] = daemon.send("wf_alpha_001")
        daemon.wait_for([incident])

    assert api.refusals == []
    assert "se01.example.org" in daemon.text(incident, "report.md")
    assert set(investigator.counts.values()) == {1}


@pytest.mark.bad_input("B056")
def test_a_killed_daemon_goes_on_where_it_was_and_pays_nothing_twice(tmp_path: Path) -> None:
    investigator = Investigator(turns=6, latency_s=0.2)
    with MessagesApi(responder=investigator) as api, RunningDaemon(tmp_path, api) as daemon:
        [incident] = daemon.send("wf_alpha_001")
        daemon.wait(lambda: investigator.counts[incident, 3])
        daemon.kill()
        recorded = {event.turn for event in daemon.events(incident) if event.kind == "response"}
        daemon.start()
        daemon.wait_for([incident])

    again = {turn for (_, turn), count in investigator.counts.items() if count > 1}
    assert not again & recorded
    assert len(again) <= 1


def test_sigterm_lets_the_call_under_way_be_recorded(tmp_path: Path) -> None:
    investigator = Investigator(turns=5, latency_s=0.3)
    with MessagesApi(responder=investigator) as api, RunningDaemon(tmp_path, api) as daemon:
        [incident] = daemon.send("wf_alpha_001")
        daemon.wait(lambda: investigator.counts[incident, 2])
        code = daemon.kill(signal.SIGTERM)
        daemon.start()
        daemon.wait_for([incident])

    assert code == 0
    assert set(investigator.counts.values()) == {1}


def test_from_sigterm_on_nobody_is_let_in_whatever_the_daemon_is_busy_with(tmp_path: Path) -> None:
    shim, held, reached = tmp_path / "bin" / "git", tmp_path / "held", tmp_path / "reached"
    shim.parent.mkdir()
    shim.write_text(
        f"#!/bin/sh\nwhile [ -e {held} ]; do touch {reached}; sleep 0.05; done\n"
        f'exec {shutil.which("git")} "$@"\n'
    )
    shim.chmod(0o755)
    environ = {"PATH": f"{shim.parent}:{os.environ['PATH']}"}
    with (
        MessagesApi(responder=Investigator()) as api,
        RunningDaemon(tmp_path, api, environ=environ) as daemon,
    ):
        held.touch()
        daemon.send("wf_alpha_001")
        daemon.wait(reached.exists)
        assert daemon.process
        daemon.process.send_signal(signal.SIGTERM)
        daemon.wait(lambda: daemon.get("/readyz").status_code == 503)
        refused = daemon.post("/v1/alerts/alertmanager", payload(alert("wf_beta")))
        held.unlink()
        code = daemon.process.wait(30)

    assert code == 0
    assert (refused.status_code, "leaving" in refused.text) == (503, True)


def test_a_resolved_alert_ends_its_investigation_early_with_what_is_known(tmp_path: Path) -> None:
    investigator = Investigator(turns=30, latency_s=0.2)
    with MessagesApi(responder=investigator) as api, RunningDaemon(tmp_path, api) as daemon:
        [incident] = daemon.send("wf_alpha_001")
        daemon.wait(lambda: investigator.counts[incident, 3])
        daemon.send("wf_alpha_001", status="resolved", endsAt="2026-11-30T10:50:00Z")
        daemon.wait_for([incident])

    assert max(turn for _, turn in investigator.counts) < 10
    assert "resolved" in daemon.text(incident, "report.md")


def test_a_cancelled_investigation_stops_and_a_retry_goes_on_where_it_was(tmp_path: Path) -> None:
    investigator = Investigator(turns=8, latency_s=0.2)
    with MessagesApi(responder=investigator) as api, RunningDaemon(tmp_path, api) as daemon:
        [incident] = daemon.send("wf_alpha_001")
        daemon.wait(lambda: investigator.counts[incident, 3])
        cancelled = daemon.post(f"/v1/incidents/{incident}/cancel", {"reason": "not now"})
        daemon.wait(lambda: investigator.under_way == 0)
        stopped_at = max(turn for _, turn in investigator.counts)
        daemon.wait_for([incident], "cancelled")
        daemon.post(f"/v1/incidents/{incident}/retry", {})
        daemon.wait_for([incident])

    assert cancelled.json()["status"] == "cancelled"
    assert stopped_at < 8
    assert set(investigator.counts.values()) == {1}


def test_a_second_daemon_is_told_who_has_the_workspace(tmp_path: Path) -> None:
    with MessagesApi(responder=Investigator()) as api, RunningDaemon(tmp_path, api) as daemon:
        second = subprocess.run(
            [sys.executable, "-m", "copilot", "--config", str(tmp_path), "serve"],
            capture_output=True, text=True, timeout=30, check=False, env=daemon.environ,
        )  # fmt: skip

    assert second.returncode == 3
    assert "in use by another daemon" in second.stderr
    assert "Traceback" not in second.stderr


def test_the_command_line_hands_its_investigation_to_the_daemon_and_follows_it(
    tmp_path: Path,
) -> None:
    investigator = Investigator(turns=4)
    with MessagesApi(responder=investigator) as api, RunningDaemon(tmp_path, api) as daemon:
        (tmp_path / "alert.json").write_text(json.dumps(payload(alert("wf_alpha_001"))))
        done = daemon.copilot("investigate", str(tmp_path / "alert.json"))

    assert done.returncode == 0, done.stderr
    assert "a daemon runs here" in done.stderr
    assert "ACTION NEEDED" in done.stdout
    assert set(investigator.counts.values()) == {1}


def test_while_the_model_is_away_there_is_triage_and_then_the_full_report(tmp_path: Path) -> None:
    investigator = Investigator(turns=3)
    down = Status(401, "authentication_error", "invalid x-api-key")
    with (
        MessagesApi(*[down] * 3, responder=investigator) as api,
        RunningDaemon(tmp_path, api) as daemon,
    ):
        [incident] = daemon.send("wf_alpha_001")
        daemon.wait_for([incident], "waiting_model")
        daemon.wait((tmp_path / "notes" / incident / "report.md").exists)
        triage = daemon.text(incident, "report.md")
        ready = daemon.get("/readyz")

    assert "Offline triage" in triage
    assert ready.status_code == 503
    assert "model" in ready.text


@pytest.mark.parametrize("wrong", ["nonsense: 1\n", "model:\n  ca: nowhere.pem\n"])
def test_settings_that_are_wrong_leave_the_old_ones_in_force(tmp_path: Path, wrong: str) -> None:
    with (
        MessagesApi(responder=Investigator(turns=3)) as api,
        RunningDaemon(tmp_path, api) as daemon,
    ):
        assert daemon.process
        (tmp_path / "copilot.yaml").write_text(wrong)
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait(lambda: "settings are wrong" in daemon.said())
        [incident] = daemon.send("wf_alpha_001")
        daemon.wait_for([incident])


def _says(daemon: RunningDaemon, words: str) -> bool:
    return words in daemon.said()


def test_changed_runbooks_are_taken_on_a_hangup_and_wrong_ones_leave_the_old(
    tmp_path: Path,
) -> None:
    book = tmp_path / "runbooks" / "stalls" / "SKILL.md"
    book.parent.mkdir(parents=True)
    right = "---\nname: stalls\ndescription: {}\nmetadata:\n  alertnames: '*'\n---\nx\n"
    with (
        MessagesApi(responder=Investigator(turns=3)) as api,
        RunningDaemon(tmp_path, api) as daemon,
    ):
        assert daemon.process
        for name, text, said in (
            ("wf_alpha_001", right.format("the new words"), "settings are reloaded"),
            ("wf_beta_002", "no front matter", "settings are wrong"),
        ):
            book.write_text(text)
            daemon.process.send_signal(signal.SIGHUP)
            daemon.wait(partial(_says, daemon, said))
            [incident] = daemon.send(name)
            daemon.wait_for([incident])
            message = str(daemon.events(incident)[0].data["message"])
            assert "- stalls/SKILL.md: the new words\n" in message

    assert "stalls/SKILL.md:1: begin with a front matter" in daemon.said()


@pytest.mark.bad_input("B042")
def test_different_workflows_are_different_incidents_and_repeats_are_not(tmp_path: Path) -> None:
    investigator = Investigator(turns=3)
    with MessagesApi(responder=investigator) as api, RunningDaemon(tmp_path, api) as daemon:
        first = daemon.send("wf_alpha_001", "wf_beta_002")
        again = daemon.send("wf_alpha_001", "wf_beta_002")
        daemon.wait_for(first)

    assert first == again
    assert len(set(first)) == 2


@pytest.mark.bad_input("B88")
def test_what_the_daemon_makes_is_its_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with (
            MessagesApi(responder=Investigator(turns=3)) as api,
            RunningDaemon(tmp_path, api) as daemon,
        ):
            [incident] = daemon.send("wf_alpha_001")
            daemon.wait_for([incident])
    finally:
        os.umask(before)

    made = [*(tmp_path / "state" / "journals").rglob("*"), *(tmp_path / "state").glob("inbox*")]
    assert made
    assert [path for path in made if path.stat().st_mode & 0o077] == []


@pytest.mark.bad_input("B89")
def test_with_all_standard_streams_closed_it_serves_and_leaves(tmp_path: Path) -> None:
    closing = (
        "import os, sys\n"
        "for number in (0, 1, 2): os.close(number)\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'copilot', *sys.argv[1:]])"
    )
    with (
        MessagesApi(responder=Investigator(turns=3)) as api,
        RunningDaemon(tmp_path, api, program=("-c", closing)) as daemon,
    ):
        daemon.wait_for(daemon.send("wf_alpha_001"))
        code = daemon.kill(signal.SIGTERM)

    assert code == 0


@pytest.mark.bad_input("B90")
def test_with_too_few_open_files_it_says_so_and_does_not_start(tmp_path: Path) -> None:
    made_workspace(tmp_path)
    done = subprocess.run(
        ["bash", "-c", 'ulimit -n 32; exec "$0" "$@"', sys.executable, "-m", "copilot",
         "--config", str(tmp_path), "serve", "--listen", "127.0.0.1:0", "--model", "offline"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "open files" in done.stderr
