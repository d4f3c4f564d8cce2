"""Claims about the desk: what is wrong with one incident holds up no other."""

from pathlib import Path

from tests.daemon.running import Investigator, RunningDaemon
from tests.doubles.messages_api import MessagesApi


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
