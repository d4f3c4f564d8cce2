"""The real daemon, killed at seeded random moments while alerts come in, and what that cost.

At each death the records on disk and the calls that reached the model are compared with the end:
what was recorded must never be asked again, and what was acknowledged must end in a report that is
equal to that of an undisturbed run.
"""

import json
import re
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from copilot.intake.drop import drop
from copilot.journal import read_events
from tests.daemon.running import Investigator, RunningDaemon, alert, payload
from tests.doubles.messages_api import MessagesApi

Calls = Counter[tuple[str, int]]
CHANGING = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z|\b[0-9a-f]{12,40}\b|inc-\d{8}-[0-9a-f]{6}"
    r"|wf_\d+|alert [0-9a-f]{8}|cost_usd: \S+|updated: \S+|\d+ tokens|\$[\d.]+"
)
"""Times, commits and names, in which two runs of the same story differ."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How many incidents, how many deaths, and how fast the model is."""

    kills: int
    incidents: int
    seed: int = 1
    turns: int = 8
    latency_s: float = 0.15
    workers: int = 8
    number: int = signal.SIGKILL
    program: Sequence[str] = ("-m", "copilot")
    sure_s: float = 1e9
    """An answer given so long before a death must be recorded; counted where it is short."""


@dataclass
class Outcome:
    """What the deaths cost."""

    kills: int = 0
    while_running: int = 0
    """Deaths at which a call was under way."""
    acknowledged: set[str] = field(default_factory=set)
    reported: set[str] = field(default_factory=set)
    paid_again: list[tuple[str, int]] = field(default_factory=list)
    """Calls that were made again although their answer was recorded."""
    repeats: int = 0
    in_flight: int = 0
    """The calls under way, summed over all deaths: so many may be repeated."""
    unequal: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)
    started_s: list[float] = field(default_factory=list)
    """From the start of the process to serving."""
    left_s: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Why the double refused requests, where it did."""

    @property
    def lost(self) -> set[str]:
        """Acknowledged incidents without a report."""
        return self.acknowledged - self.reported


def deaths(folder: Path, plan: Plan) -> Outcome:
    """Run *plan* in *folder* and return what it cost."""
    random = Random(plan.seed)
    outcome = Outcome()
    investigator = Investigator(turns=plan.turns, latency_s=plan.latency_s)
    names = [f"wf_{number:05}" for number in range(plan.incidents)]
    unsent = list(names)
    past: list[tuple[set[tuple[str, int]], Calls]] = []
    with MessagesApi(responder=investigator) as api:
        daemon = RunningDaemon(folder, api, workers=plan.workers, program=plan.program)
        with daemon:
            for number in range(plan.kills):
                share = plan.incidents * (number + 1) // plan.kills - plan.incidents + len(unsent)
                _send(daemon, unsent[:share], names, random, outcome)
                unsent = unsent[share:]
                _wait_for_work(investigator)
                time.sleep(random.uniform(0.0, 2 * plan.latency_s))
                _die(daemon, plan, outcome, investigator)
                kept = _recorded(daemon) | _answered_before(
                    investigator, time.monotonic() - plan.sure_s
                )
                past.append((kept, investigator.counts.copy()))
                outcome.damaged += _damage(folder)
                outcome.started_s.append(daemon.start())
            _send(daemon, unsent, names, random, outcome)
            daemon.wait(lambda: not list((daemon.state / "spool" / "new").iterdir()))
            outcome.acknowledged |= {one["incident"] for one in _incidents(daemon)}
            daemon.wait_for(sorted(outcome.acknowledged), within=60 + 3 * plan.incidents)
            outcome.reported = {
                one["incident"] for one in _incidents(daemon) if one["status"] == "reported"
            }
        outcome.refused = [str(refusal) for refusal in api.refusals]
    for recorded, before in past:
        outcome.paid_again += [
            call for call in recorded if investigator.counts[call] > before[call]
        ]
    outcome.repeats = sum(count - 1 for count in investigator.counts.values())
    outcome.unequal = _unequal(folder, outcome.reported)
    return outcome


def _send(
    daemon: RunningDaemon, fresh: Sequence[str], names: Sequence[str], random: Random,
    outcome: Outcome,
) -> None:  # fmt: skip
    """Hand in new alerts, by HTTP or as a file, and a few old ones again."""
    for name in [*fresh, *random.sample(list(names), min(2, len(names)))]:
        body = payload(alert(name))
        if random.random() < 0.3:
            drop(daemon.state / "spool", json.dumps(body).encode())
            continue
        answer = daemon.post("/v1/alerts/alertmanager", body)
        if answer.status_code == 200:
            outcome.acknowledged |= {str(one["id"]) for one in answer.json()["incidents"]}


def _wait_for_work(investigator: Investigator) -> None:
    """Return when a call is under way, or when there is nothing to do."""
    end = time.monotonic() + 8
    while investigator.under_way == 0 and time.monotonic() < end:
        time.sleep(0.01)


def _die(daemon: RunningDaemon, plan: Plan, outcome: Outcome, investigator: Investigator) -> None:
    """Send the signal, and in the same moment alerts that may or may not be acknowledged."""
    under_way = investigator.under_way
    begun = time.monotonic()
    outcome.codes[daemon.kill(plan.number)] += 1
    outcome.left_s.append(time.monotonic() - begun)
    outcome.kills += 1
    outcome.while_running += under_way > 0
    outcome.in_flight += max(under_way, plan.workers)


def _recorded(daemon: RunningDaemon) -> set[tuple[str, int]]:
    """The answers that are in a journal of a first investigation."""
    found = set()
    for path in (daemon.state / "journals").glob("*/0001.jsonl"):
        for event in read_events(path):
            if event.kind == "response" and not event.data.get("dropped"):
                found.add((path.parent.name, event.turn))
    return found


def _answered_before(investigator: Investigator, moment: float) -> set[tuple[str, int]]:
    """The calls whose answers were given so long ago that they must be recorded by now."""
    return {call for call, given in investigator.answered.items() if given < moment}


def _damage(folder: Path) -> list[str]:
    """What SQLite and git find wrong."""
    found = []
    for name in ("inbox.sqlite", "engine.sqlite"):
        with closing(sqlite3.connect(folder / "state" / name)) as database:
            said = str(database.execute("PRAGMA quick_check").fetchone()[0])
        found += [] if said == "ok" else [f"{name}: {said}"]
    fsck = subprocess.run(
        ["git", "-C", str(folder / "notes"), "fsck", "--no-dangling", "--no-progress"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if fsck.returncode:
        found.append(f"git fsck: {fsck.stdout}{fsck.stderr}")
    return found


def _incidents(daemon: RunningDaemon) -> list[dict[str, str]]:
    found: list[dict[str, str]] = daemon.get("/v1/incidents?limit=1000").json()["incidents"]
    return found


def _unequal(folder: Path, incidents: set[str]) -> list[str]:
    """The incidents whose report or state is not that of most: all have the same story."""
    found = []
    for name, keep in (("report.json", _report), ("STATE.md", _state)):
        texts = {one: keep((folder / "notes" / one / name).read_text()) for one in incidents}
        usual = Counter(texts.values()).most_common(1)[0][0] if texts else ""
        found += [f"{one}/{name}" for one, text in texts.items() if text != usual]
    return found


def _report(text: str) -> str:
    report = json.loads(text)
    for key in ("incident", "tokens", "usd", "turns"):
        report.pop(key)
    return CHANGING.sub("·", json.dumps(report, sort_keys=True))


def _state(text: str) -> str:
    """The state without what counts or dates: several alerts of one incident may have come."""
    kept = [
        line for line in text.splitlines()
        if not line.startswith(("tokens:", "turns:", "cost_usd:", "alerts:", "updated:", "identity:"))
    ]  # fmt: skip
    return CHANGING.sub("·", "\n".join(kept))
