"""Two daemons over one PostgreSQL in all their troubles; benchmarks/crash.py --postgres prints it.

In each round the server is restarted, a daemon is frozen past its lease and revived, the server is
restarted again, and a daemon is killed for good, all while steps run.
"""

import signal
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests import postgres
from tests.daemon.crash import Pages, differences, undisturbed
from tests.daemon.forks import Forks
from tests.daemon.on_disk import damaged_notes
from tests.daemon.running import Investigator, RunningDaemon
from tests.daemon.series import Plan
from tests.daemon.two_daemons import LEASE_S, Two, two_daemons

ROUNDS = 3
PLAN = Plan(kills=0, incidents=6, turns=24, latency_s=0.4)
WITHIN_S = LEASE_S + 10
CALLS = 8
"""Calls that must come between two troubles."""


@dataclass
class Round:
    """One round, and what it showed."""

    two: Two
    server: postgres.Cluster
    taken_s: list[float] = field(default_factory=list)
    """From each death until the model was asked for each investigation of the dead again."""
    again: int = 0
    """Answers that were on record at a trouble, and were paid for again."""
    faults: list[str] = field(default_factory=list)
    recorded: dict[tuple[str, int], int] = field(default_factory=dict)

    def suffer(self) -> dict[str, str]:
        """Go through all of it; the incidents by the name of their workflow."""
        two = self.two
        incidents = dict(zip(PLAN.names, two.first.send(*PLAN.names), strict=True))
        self._restart()
        frozen = self._busiest()
        frozen.process.send_signal(signal.SIGSTOP)  # type: ignore[union-attr]  # it runs
        self._taken_over(frozen)
        frozen.process.send_signal(signal.SIGCONT)  # type: ignore[union-attr]  # it still does
        self._restart()
        killed = self._busiest()
        killed.kill()
        self._taken_over(killed)
        other = two.second if killed is two.first else two.first
        other.wait_for([*incidents.values()], within=300)
        self._note()
        return incidents

    def _restart(self) -> None:
        self._work()
        self.server.stop("immediate")
        self.server.start()
        self._work()

    def _work(self) -> None:
        """Wait for some calls."""
        before = self.two.investigator.counts.total()
        self.two.first.wait(lambda: self.two.investigator.counts.total() >= before + CALLS, 120)

    def _busiest(self) -> RunningDaemon:
        self._note()
        return max((self.two.first, self.two.second), key=lambda one: len(self.two.held(one)))

    def _note(self) -> None:
        """Look what is on record, and whether what was so before was paid for again."""
        paid = self.two.paid({*self.recorded})
        self.again += sum(paid[one] > count for one, count in self.recorded.items())
        self.recorded = self.two.paid(self.two.answers())

    def _taken_over(self, dead: RunningDaemon) -> None:
        """Wait until the other asks for each investigation that this one had."""
        died = time.monotonic()
        other = self.two.second if dead is self.two.first else self.two.first
        waiting = self.two.held(dead)
        before: dict[str, int] = {}  # when the other had it: what the dead had sent comes late
        while waiting and time.monotonic() - died < 2 * WITHIN_S:
            for incident in waiting & self.two.held(other):
                before.setdefault(incident, self._asked(incident))
            for incident in {one for one in before if self._asked(one) > before[one]} & waiting:
                self.taken_s.append(time.monotonic() - died)
                waiting.remove(incident)
            time.sleep(0.02)
        self.faults += [f"{incident} was not taken over" for incident in waiting]

    def _asked(self, incident: str) -> int:
        counts = self.two.investigator.counts.copy()
        return sum(count for (its, _), count in counts.items() if its == incident)


def in_trouble() -> int:
    """Print what a few rounds showed; 1 when a promise was broken."""
    faults: list[str] = []
    taken: list[float] = []
    again = repeats = 0
    with (
        tempfile.TemporaryDirectory(prefix="crash-") as name,
        Forks() as forks,
        postgres.cluster() as server,
    ):
        pages = undisturbed(Path(name) / "undisturbed", PLAN, forks)
        for number in range(ROUNDS):
            investigator = Investigator(turns=PLAN.turns, latency_s=PLAN.latency_s)
            folder = Path(name) / str(number)
            folder.mkdir()
            with two_daemons(
                folder, server.new_database(), investigator, forks, workers=PLAN.incidents
            ) as two:
                one = Round(two, server)
                incidents = one.suffer()
                faults += one.faults + broken(two, incidents, pages)
            taken += one.taken_s
            again += one.again
            repeats += sum(count - 1 for count in investigator.counts.values())
    print(
        f"{ROUNDS} rounds of {PLAN.incidents} investigations of {PLAN.turns} turns: two restarts "
        "of PostgreSQL, one freeze, one kill in each"
    )
    print(f"taken over, lease {LEASE_S} s: {spread(taken)}, wanted {WITHIN_S} s")
    print(f"recorded steps paid again: {again}; calls repeated: {repeats}")
    if again:
        faults.append("recorded steps were paid for again")
    if max(taken, default=0) > WITHIN_S or not taken:
        faults.append("takeovers were late, or there were none")
    print(f"broken promises: {len(faults)}")
    for fault in faults:
        print(f"  {fault}")
    return 1 if faults else 0


def broken(two: Two, incidents: dict[str, str], pages: Pages) -> list[str]:
    """Which promises about what is left in the end are broken."""
    runs = {f"inv:{one}:1": "SUCCESS" for one in incidents.values()}
    odd = sorted(two.statuses().items() ^ runs.items())
    faults = [f"runs of the engine: {odd}"] if odd else []
    folder = two.first.folder
    return faults + damaged_notes(folder) + differences(folder, incidents, pages)


def spread(seconds: Sequence[float]) -> str:
    """Median and maximum of some seconds."""
    if not seconds:
        return "never measured"
    return f"p50 {statistics.median(seconds):.2f} s, max {max(seconds):.2f} s ({len(seconds)})"
