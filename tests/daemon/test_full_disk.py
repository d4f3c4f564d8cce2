"""A daemon whose state lies on a small disk of its own, which fills up and is emptied again."""

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.running import Investigator, RunningDaemon, alert, payload
from tests.doubles.messages_api import MessagesApi

MIB = 1 << 20


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """Return a folder whose state is a disk of 24 MiB."""
    state = tmp_path / "state"
    state.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m,mode=0700", "copilot-test", str(state)],
        check=False, capture_output=True,
    )  # fmt: skip
    if mounted.returncode:
        pytest.skip("this user may not mount a small disk of its own")
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", "--lazy", str(state)], check=True)


def fill(file: Path) -> None:
    """Leave no room on the disk of *file*."""
    with file.open("wb", buffering=0) as ballast:
        for size in (MIB, 4096):
            try:
                while ballast.write(b"x" * size):
                    pass
            except OSError:
                continue


@pytest.mark.bad_input("B33")
def test_a_full_disk_is_answered_503_and_all_goes_on_when_there_is_room(small: Path) -> None:
    investigator = Investigator(turns=6, latency_s=0.3)
    with MessagesApi(responder=investigator) as api, RunningDaemon(small, api) as daemon:
        before = daemon.send("wf_before_001")
        daemon.wait(lambda: investigator.counts.total() >= 2)
        fill(small / "state" / "ballast")
        answers = [
            daemon.post("/v1/alerts/alertmanager", payload(alert(f"wf_full_{number}")))
            for number in range(3)
        ]
        ready = daemon.get("/readyz")
        (small / "state" / "ballast").unlink()
        after = daemon.send("wf_after_001")
        daemon.wait_for([*before, *after], within=100)
        known = daemon.get("/v1/incidents").json()["incidents"]

    assert [answer.status_code for answer in answers] == [503] * 3
    assert all(answer.headers["Retry-After"] for answer in answers)
    assert ready.status_code == 503
    assert "MiB" in ready.text
    assert {one["incident"] for one in known} == {*before, *after}
    assert investigator.counts.total() <= 2 * 6 + 1


def test_what_was_acknowledged_while_the_disk_filled_up_outlives_a_kill(small: Path) -> None:
    told: list[tuple[int, list[str]]] = []
    with MessagesApi(responder=Investigator(turns=3)) as api, RunningDaemon(small, api) as daemon:

        def send() -> None:
            for number in range(60):
                answer = daemon.post("/v1/alerts/alertmanager", payload(alert(f"wf_{number:03}")))
                found = answer.json().get("incidents", [])
                told.append((answer.status_code, [str(one["id"]) for one in found]))

        sender = threading.Thread(target=send)
        sender.start()
        daemon.wait(lambda: len(told) >= 20)
        fill(small / "state" / "ballast")
        sender.join()
        daemon.kill()
        (small / "state" / "ballast").unlink()
        daemon.start()
        acknowledged = {incident for _, incidents in told for incident in incidents}
        missing = [one for one in acknowledged if daemon.incident(one).get("incident") != one]

    assert {status for status, _ in told} == {200, 503}
    assert len(acknowledged) >= 20
    assert missing == []
