"""Claims about the whole daemon, seen from outside."""

import signal
from pathlib import Path

from tests.daemon.running import Investigator, RunningDaemon
from tests.doubles.messages_api import MessagesApi


def test_an_alert_becomes_a_report(tmp_path: Path) -> None:
    investigator = Investigator(turns=4)
    with MessagesApi(responder=investigator) as api, RunningDaemon(tmp_path, api) as daemon:
        [incident] = daemon.send("wf_alpha_001")
        daemon.wait_for([incident])

    assert api.refusals == []
    assert "se01.example.org" in daemon.text(incident, "report.md")
    assert set(investigator.counts.values()) == {1}


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
