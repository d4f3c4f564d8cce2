"""Several daemons share one PostgreSQL: an alert that all of them receive opens one incident."""

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest

from copilot.errors import InboxError
from copilot.inbox.inbox import Inbox
from copilot.inbox.values import Taken
from copilot.values import digest
from tests import postgres
from tests.inbox.arrivals import NOW, arrival
from tests.inbox.conftest import Open

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from copilot.inbox.inbox import Inbox
from tests.inbox.arrivals import NOW, RULES, arrival
with Inbox(sys.argv[1], RULES, now=lambda: NOW) as inbox:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(25):
        print(inbox.accept([arrival(f"wf_{number}", minute=int(sys.argv[2]))])[0])
"""


@pytest.fixture
def daemons(server: postgres.Cluster, opened: Open) -> list[Inbox]:
    """Return the inboxes of three daemons on one database."""
    url = server.new_database()
    return [opened(url) for _ in range(3)]


def at_once(calls: Sequence[Callable[[], object]]) -> None:
    """Make the calls on threads of their own, starting together."""
    start = threading.Barrier(len(calls))

    def make(call: Callable[[], object]) -> None:
        start.wait()
        call()

    threads = [threading.Thread(target=make, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_the_same_alert_at_all_daemons_at_once_is_one_incident(daemons: list[Inbox]) -> None:
    taken: list[Taken] = []

    def send(inbox: Inbox, number: int) -> None:
        taken.extend(inbox.accept([arrival(f"wf_{number}")]))

    for number in range(30):
        at_once([partial(send, inbox, number) for inbox in daemons])

    assert len(daemons[0].list(limit=1000)) == 30
    assert [one.outcome for one in taken].count("opened") == 30
    assert [one.outcome for one in taken].count("repeated") == 60


def test_different_alerts_of_one_trouble_at_all_daemons_are_one_incident(
    daemons: list[Inbox],
) -> None:
    for number in range(20):
        at_once([
            partial(inbox.accept, [arrival(f"wf_{number}", minute=place)])
            for place, inbox in enumerate(daemons)
        ])  # fmt: skip

    assert {entry.alerts for entry in daemons[0].list(limit=1000)} == {3}
    assert len(daemons[0].list(limit=1000)) == 20


def test_daemons_that_take_large_posts_in_opposite_order_do_not_wait_for_ever(
    daemons: list[Inbox],
) -> None:
    many = [arrival(f"wf_{number}") for number in range(300)]

    for _ in range(3):
        at_once([
            partial(inbox.accept, many[::way])
            for inbox, way in zip(daemons, (1, -1, 1), strict=True)
        ])  # fmt: skip

    entries = daemons[0].list(limit=1000)
    assert len(entries) == 300
    assert daemons[1].alerts(entries[0].id)[0].count == 9


def test_two_processes_open_one_incident_of_each_trouble(server: postgres.Cluster) -> None:
    url = server.new_database()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, url, str(minute)], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for minute in (0, 1)
    ]  # fmt: skip
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()

    said = [process.communicate(timeout=60)[0] for process in processes]

    with Inbox(url, now=lambda: NOW) as inbox:
        assert sorted(entry.alerts for entry in inbox.list(limit=1000)) == [2] * 25
    assert "".join(said).count("opened") == 25


def test_an_alert_that_comes_while_a_worker_elsewhere_starts_loses_neither(
    daemons: list[Inbox],
) -> None:
    for number in range(20):
        first = arrival(f"wf_{number}", severity="critical")
        [taken] = daemons[0].accept([first])
        at_once([
            partial(daemons[1].started, taken.incident, 1),
            partial(daemons[0].accept, [arrival(f"wf_{number}", minute=1)]),
            partial(daemons[2].accept, [replace(first, status="resolved")]),
        ])  # fmt: skip

    for entry in daemons[0].list(limit=1000):
        assert (entry.status, entry.runs, entry.alerts, entry.resolved) == ("running", 1, 2, False)


def test_one_key_with_two_identities_is_one_alert(daemons: list[Inbox]) -> None:
    """Two daemons with different identity labels, as while a new configuration is rolled out."""
    for number in range(10):
        one = arrival(f"wf_{number}")
        other = replace(one, identity=digest(f"else {number}")[:16])
        at_once([
            partial(daemons[0].accept, [one]),
            partial(daemons[1].accept, [other]),
        ])  # fmt: skip

    stored = daemons[2].newest(100)
    assert [one.count for one in stored] == [2] * 10


def test_a_payment_that_two_daemons_record_counts_once(daemons: list[Inbox]) -> None:
    for seq in range(20):
        at_once([
            partial(inbox.spend, "inc-1", 1, seq, NOW, Decimal("0.5")) for inbox in daemons
        ])  # fmt: skip

    assert daemons[0].spent(NOW) == 10


def test_daemons_that_start_at_once_make_the_tables_once(
    server: postgres.Cluster, opened: Open
) -> None:
    url = server.new_database()
    boxes: list[Inbox] = []

    at_once([lambda: boxes.append(opened(url)) for _ in range(4)])

    assert [box.accept([arrival()])[0].outcome for box in boxes] == ["opened", *["repeated"] * 3]


def test_every_commit_is_synced_even_where_the_server_is_told_not_to(
    server: postgres.Cluster, opened: Open
) -> None:
    url = server.new_database()
    opened(url).shut()
    with postgres.connected(url) as connection:
        connection.execute("ALTER ROLE copilot SET synchronous_commit = off")
        inbox = opened(url)
        try:
            with inbox._database.connect() as ours:
                synced = ours.exec_driver_sql("SHOW synchronous_commit").scalar()
        finally:
            connection.execute("ALTER ROLE copilot RESET synchronous_commit")

    assert synced == "on"


def test_a_server_that_restarts_refuses_meanwhile_and_then_accepts(opened: Open) -> None:
    with postgres.cluster() as server:
        inbox = opened(server.new_database())
        inbox.accept([arrival("wf_1")])
        server.stop("immediate")

        with pytest.raises(InboxError) as refused:
            inbox.accept([arrival("wf_2")])
        with pytest.raises(InboxError, match="could not be read"):
            inbox.list()
        server.start()

        assert refused.value.retryable
        assert inbox.accept([arrival("wf_2")])[0].outcome == "opened"
        assert inbox.trouble == ""
        assert len(inbox.due(NOW + timedelta(minutes=1), 10)) == 2
        inbox.shut()
