"""Claims about a daemon whose model is away, or whose dollars are used up."""

import json
import re
import signal
import subprocess
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.bench import LOG
from tests.daemon.running import Investigator, RunningDaemon
from tests.doubles.line import Line, Way
from tests.doubles.messages_api import MessagesApi, Status

IMPATIENT = "  model_pause: 1s\n  model_silence: 2s"
AWAY: tuple[Way, ...] = ("refused", "silent", "overloaded", "failed")
CRITICAL = {"alertname": "WorkflowStalled", "workflow": "wf_gamma_003", "severity": "critical"}


def is_triaged(daemon: RunningDaemon, *incidents: str) -> bool:
    """Whether each of them has a report."""
    return all((daemon.folder / "notes" / one / "report.md").exists() for one in incidents)


def metric(daemon: RunningDaemon, series: str) -> float:
    """The number that a scrape has for a series."""
    found = re.search(
        rf"^copilot_{re.escape(series)} (\S+)$", daemon.get("/metrics").text, re.MULTILINE
    )
    assert found, series
    return float(found[1])


def reports(daemon: RunningDaemon, incident: str) -> list[dict[str, Any]]:
    """Every report that the notes hold of an incident, the oldest first."""
    notes, name = daemon.folder / "notes", f"{incident}/report.json"

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=notes, capture_output=True, text=True, check=True
        ).stdout

    commits = git("log", "--format=%H", "--reverse", "--", name).split()
    return [json.loads(git("show", f"{one}:{name}")) for one in commits]


def cited(report: dict[str, Any]) -> list[str]:
    """The lines that a report cites, as it quotes them."""
    claims = [report["cause"], *report["chain"], *report["evidence"]]
    return [one["quote"] for claim in claims if claim for one in claim["evidence"]]


@pytest.mark.parametrize("way", AWAY)
def test_while_the_model_is_away_there_is_triage_and_then_the_full_report(
    tmp_path: Path, way: Way
) -> None:
    investigator = Investigator(turns=3)
    with MessagesApi(responder=investigator) as api, Line(api, wait_ms=20) as line:
        line.cut(way)
        with RunningDaemon(tmp_path, line, daemon=IMPATIENT) as daemon:
            [first] = daemon.send("wf_alpha_001")
            daemon.wait(lambda: is_triaged(daemon, first))
            [second] = daemon.send("wf_beta_002")
            ready = daemon.get("/readyz")
            degraded = metric(daemon, 'degraded{reason="model"}')
            line.mend()
            daemon.wait_for([first, second])
            daemon.wait(lambda: daemon.get("/readyz").json() == {"status": "ready"})
            triage, full = reports(daemon, first)

    assert triage["notice"].startswith("Offline triage by rules, not a language model: ")
    assert len(cited(triage)) > 1
    assert set(cited(triage)) <= set(LOG.splitlines())
    assert (ready.status_code, degraded) == (200, 1)
    assert ready.json()["degraded"][0].startswith("model: ")
    assert "notice" not in full
    assert investigator.counts[first, 3] == 1
    assert set(investigator.counts.values()) == {1}


def test_a_kill_while_the_model_is_away_loses_nothing_and_triages_nothing_twice(
    tmp_path: Path,
) -> None:
    investigator = Investigator(turns=5, latency_s=0.1)
    with (
        MessagesApi(responder=investigator) as api,
        Line(api, wait_ms=20) as line,
        RunningDaemon(tmp_path, line, daemon=IMPATIENT) as daemon,
    ):
        [begun] = daemon.send("wf_alpha_001")
        daemon.wait(lambda: investigator.counts[begun, 2])
        line.cut("overloaded")
        [fresh] = daemon.send("wf_beta_002")
        daemon.wait(lambda: is_triaged(daemon, begun, fresh))
        daemon.wait_for([begun, fresh], "waiting_model")
        daemon.kill()
        line.mend()
        daemon.start()
        daemon.wait_for([begun, fresh])
        found = [reports(daemon, one) for one in (begun, fresh)]
        recorded = [one for one in daemon.events(begun) if one.kind == "response"]

    assert [len(one) for one in found] == [2, 2]
    assert [one.turn for one in recorded] == sorted({one.turn for one in recorded})
    twice = {call for call, count in investigator.counts.items() if count > 1}
    assert twice <= {(begun, 2), (begun, 3)}  # under way when the line was cut


def test_a_request_that_fails_while_all_others_are_answered_ends_its_incident_only(
    tmp_path: Path,
) -> None:
    investigator, poisoned, is_mended = Investigator(turns=1), Investigator(), threading.Event()

    def responder(body: dict[str, Any]) -> Any:
        if "wf_alpha_001" in json.dumps(body["messages"][0]) and not is_mended.is_set():
            poisoned(body)
            return Status(500, "api_error", headers={"retry-after-ms": "1"})
        return investigator(body)

    with (
        MessagesApi(responder=responder) as api,
        RunningDaemon(tmp_path, api, daemon="  model_pause: 1s") as daemon,
    ):
        [bad] = daemon.send("wf_alpha_001")
        for number in range(1, 8):
            asked = poisoned.counts.total()
            daemon.wait(partial(lambda before: poisoned.counts.total() > before, asked))
            daemon.wait_for(daemon.send(f"wf_beta_{number:03}"))
            if daemon.incident(bad)["status"] == "failed":
                break
        ended, [triage] = daemon.incident(bad), reports(daemon, bad)
        is_mended.set()
        daemon.copilot("incidents", "retry", bad)
        daemon.wait_for([bad])

    assert ended["status"] == "failed"
    assert "answered others meanwhile" in ended["reason"]
    assert f"copilot incidents retry {bad}" in ended["reason"]
    assert "notice" in triage


@pytest.mark.parametrize("period", ["hour", "day"])
def test_used_up_dollars_park_an_investigation_and_leave_the_severe_their_reserve(
    tmp_path: Path, period: str
) -> None:
    investigator = Investigator(turns=4)
    spend = f"  spend: {{{period}_usd: 10, reserve: RESERVE, degrade_at: 1}}"
    scarce = IMPATIENT + "\n" + spend.replace("RESERVE", "0.9999")  # a tenth of a cent
    with (
        MessagesApi(responder=investigator) as api,
        RunningDaemon(tmp_path, api, daemon=scarce) as daemon,
    ):
        [parked] = daemon.send("wf_alpha_001")
        daemon.wait(lambda: is_triaged(daemon, parked))
        paid = investigator.counts.total()
        [waiting] = daemon.send("wf_beta_002")
        [severe] = daemon.send("wf_gamma_003", labels=CRITICAL)
        daemon.wait_for([severe])
        daemon.wait(lambda: is_triaged(daemon, waiting))
        standing = [daemon.incident(one)["status"] for one in (parked, waiting)]
        ready = daemon.get("/readyz")
        degraded = metric(daemon, 'degraded{reason="spend"}')
        settings = tmp_path / "copilot.yaml"
        settings.write_text(settings.read_text().replace("0.9999", "0"))
        assert daemon.process
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_for([parked, waiting])
        triage, full = reports(daemon, parked)
        for_severe = reports(daemon, severe)

    assert paid == 1
    assert standing == ["waiting_model", "waiting"]
    assert (ready.status_code, degraded) == (200, 1)
    assert ready.json()["degraded"][0].startswith("spend: ")
    assert "the dollars of this hour or day are used" in triage["notice"]
    assert "notice" not in full
    assert [report.get("notice") for report in for_severe] == [None]
    assert set(investigator.counts.values()) == {1}
