"""The same alert again and again, and from two peers in any order: one incident each."""

from pathlib import Path
from random import Random

from benchmarks import load_rig, load_sender
from tests.daemon.running import RunningDaemon, alert, payload


def repeats(folder: Path, posts: int, orders: int) -> bool:
    """Send, print, and say whether each trouble became one incident."""
    with load_rig.ruled(folder) as daemon:
        assert daemon.plate
        same = [load_sender.encoded(payload(alert("wf_same_001")))] * posts
        sent = load_sender.send(daemon.plate.url, same)
        found = set(sent.incidents())
        print(f"{posts} identical posts: {len(found)} incident; {sent}")
        several = sum(incidents_of_peers(daemon, seed) != 1 for seed in range(orders))
        print(f"two peers in {orders} orders: {several} times not 1 incident")
        total = load_rig.incidents(daemon.state)
        print(f"  in the inbox: {len(total)} incidents of {orders + 1} troubles")
    return not sent.refused and len(found) == 1 and not several and len(total) == orders + 1


def incidents_of_peers(daemon: RunningDaemon, seed: int) -> int:
    """How many incidents two peers of Alertmanager make of one trouble.

    Each tells of two alerts of a workflow and of their end, in a random order, over 8 connections.
    """
    assert daemon.plate
    posts = []
    for replica in ("a", "b"):
        for part in ("1", "2"):
            labels = {**alert(f"wf_peers_{seed:03}")["labels"], "part": part}
            labels["prometheus_replica"] = replica
            firing = alert(f"wf_peers_{seed:03}_{part}", labels=labels)
            over = firing | {"status": "resolved", "endsAt": "2026-11-30T10:50:00Z"}
            posts += [payload(firing), payload(firing), payload(over)]
    Random(seed).shuffle(posts)
    bodies = [load_sender.encoded(post) for post in posts]
    return len(set(load_sender.send(daemon.plate.url, bodies, connections=8).incidents()))
