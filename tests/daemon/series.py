"""A daemon's lives and deaths, one after the other, and what they showed."""

import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.daemon.on_disk import Answer, answers, damage, runs
from tests.daemon.running import Investigator, RunningDaemon
from tests.daemon.senders import Sender, is_taken

RESUMED_WITHIN_S = 5.0
LEFT_WITHIN_S = 20.0


@dataclass(frozen=True, slots=True)
class Plan:
    """A series of deaths."""

    kills: int
    incidents: int
    seed: int = 1
    turns: int = 8
    latency_s: float = 0.2
    workers: int = 4
    number: int = signal.SIGKILL

    @property
    def names(self) -> list[str]:
        """The workflows in trouble."""
        return [f"wf_{number:04}" for number in range(self.incidents)]


@dataclass(frozen=True, slots=True)
class Death:
    """What was on record, paid and under way when the daemon died."""

    recorded: set[Answer]
    counts: Counter[Answer]
    under_way: int


@dataclass
class Outcome:
    """What a series has shown."""

    plan: Plan
    faults: list[str] = field(default_factory=list)
    """Each broken promise in words; empty when all were kept."""
    deaths: list[Death] = field(default_factory=list)
    resumed_s: list[float] = field(default_factory=list)
    """From a start to the first call of it, where there was one."""
    left_s: list[float] = field(default_factory=list)
    acknowledged: int = 0
    spooled: int = 0
    posts: int = 0
    repeats: int = 0
    paid_again: int = 0
    seconds: float = 0.0

    @property
    def during_calls(self) -> int:
        """Deaths while the model was being asked."""
        return sum(death.under_way > 0 for death in self.deaths)

    @property
    def in_flight(self) -> int:
        """Calls under way at all deaths together."""
        return sum(death.under_way for death in self.deaths)


class Series:
    """A daemon's lives, one after the other."""

    def __init__(
        self, plan: Plan, outcome: Outcome, daemon: RunningDaemon, investigator: Investigator
    ) -> None:
        self._plan = plan
        self._outcome = outcome
        self._daemon = daemon
        self._investigator = investigator
        self._random = Random(plan.seed)
        self.sender = Sender(daemon, Random(plan.seed))
        self._unsent = plan.names

    def live_and_die(self, number: int) -> None:
        """Start it, let it work for a random while, kill it, and look at what it left."""
        share = -(-len(self._unsent) // max(1, self._plan.kills - number - 2))
        now, later = self._unsent[: share // 2], self._unsent[share // 2 : share]
        self._unsent = self._unsent[share:]
        is_random = self._plan.number == signal.SIGKILL and self._random.random() < 0.15
        begun = time.monotonic()
        self._daemon.spawn()
        self._hand_in(now)
        if is_random:  # at any moment of its start, too
            time.sleep(self._random.uniform(0, 3))
            self._hand_in(later)
        else:
            self._daemon.wait(self._daemon.is_up, 30)
            self._work(begun, self._random.randint(1, 6))
            self._hand_in(later)
            time.sleep(self._random.uniform(0, 2 * self._plan.latency_s))
        self._die()

    def finish(self) -> None:
        """Let it end its work, and count."""
        daemon, outcome = self._daemon, self._outcome
        daemon.start()
        self._hand_in(self._unsent)
        daemon.wait(lambda: self.sender.is_done, 60)
        if not is_taken(daemon.state / "spool", 30):
            outcome.faults.append("files wait in the spool")
        if [*(daemon.state / "spool" / "failed").iterdir()]:
            outcome.faults.append("files of the spool were refused")
        self._learn_spooled()
        self._wait_for_reports()
        code = daemon.kill(signal.SIGTERM)
        if code:
            outcome.faults.append(f"the last daemon left with {code}: {daemon.said()}")
        outcome.faults += damage(daemon.folder) + self.sender.broken
        self._check_runs()
        self._check_calls()

    def _hand_in(self, names: list[str]) -> None:
        """Post these alerts or put them into the spool, and repeat an old one there."""
        for name in names:
            if int(name[-1]) % 4 == 0:
                self.sender.spool(name)
            else:
                self.sender.give(name)
        odd = sorted(name for name in self.sender.acknowledged if int(name[-1]) % 2)
        if odd:
            self.sender.spool(self._random.choice(odd))

    def _work(self, begun: float, calls: int) -> None:
        """Wait until so many calls of this life have come, or there is nothing to do."""
        before = sum(self._investigator.counts.values())
        is_resumed = False
        end = time.monotonic() + 2 * RESUMED_WITHIN_S
        while time.monotonic() < end:
            came = sum(self._investigator.counts.values()) - before
            if came and not is_resumed:
                is_resumed = True
                self._outcome.resumed_s.append(self._investigator.latest - begun)
            if came >= calls:
                return
            time.sleep(0.005)

    def _die(self) -> None:
        under_way = self._investigator.under_way
        begun = time.monotonic()
        code = self._daemon.kill(self._plan.number)
        took = time.monotonic() - begun
        faults = damage(self._daemon.folder)
        if self._plan.number == signal.SIGTERM:
            self._outcome.left_s.append(took)
            if code or took > LEFT_WITHIN_S:
                faults.append(f"it left with {code} after {took:.1f} s: {self._daemon.said()}")
        elif code != -self._plan.number:
            faults.append(f"it had left by itself with {code}: {self._daemon.said()}")
        number = len(self._outcome.deaths) + 1
        self._outcome.faults += [f"at death {number}: {fault}" for fault in faults]
        recorded = answers(self._daemon.state)
        counts = self._investigator.counts.copy()
        self._outcome.deaths.append(Death(recorded, counts, under_way))

    def _learn_spooled(self) -> None:
        """Ask for the incident of each alert that came by file only: a repeat names it."""
        before = {one["incident"] for one in self._incidents()}
        for name in sorted(self.sender.spooled - self.sender.acknowledged.keys()):
            self.sender.give(name)
        self._daemon.wait(lambda: self.sender.is_done, 60)
        if {one["incident"] for one in self._incidents()} != before:
            self._outcome.faults.append("an alert of the spool was not in the inbox")

    def _incidents(self) -> list[dict[str, Any]]:
        answer = self._daemon.get("/v1/incidents?limit=1000").json()
        found: list[dict[str, Any]] = answer["incidents"]
        return found

    def _wait_for_reports(self) -> None:
        wanted = set(self.sender.acknowledged.values())
        end = time.monotonic() + 60 + 3 * self._plan.incidents
        found: dict[str, str] = {}
        while time.monotonic() < end:
            found = {one["incident"]: one["status"] for one in self._incidents()}
            if all(found.get(one, "reported") == "reported" for one in wanted):
                break  # what is not there at all will not come
            time.sleep(0.2)
        faults = [f"{one} is {found.get(one, 'lost')}" for one in sorted(wanted)]
        self._outcome.faults += [fault for fault in faults if not fault.endswith("is reported")]
        self._outcome.faults += [f"{one} was never sent" for one in sorted(found.keys() - wanted)]

    def _check_runs(self) -> None:
        """One run for each incident, and all of them over."""
        found = runs(self._daemon.state)
        wanted = {f"inv:{one}:1": "SUCCESS" for one in self.sender.acknowledged.values()}
        if found != wanted:
            odd = sorted(found.items() ^ wanted.items())
            self._outcome.faults.append(f"runs of the engine: {odd}")

    def _check_calls(self) -> None:
        outcome, counts = self._outcome, self._investigator.counts
        outcome.repeats = sum(count - 1 for count in counts.values())
        again = {
            answer
            for death in outcome.deaths
            for answer in death.recorded
            if counts[answer] > death.counts[answer]
        }
        outcome.paid_again = len(again)
        if again:
            outcome.faults.append(f"recorded and paid again: {sorted(again)[:5]}")
        most = 0 if self._plan.number == signal.SIGTERM else self._plan.kills * self._plan.workers
        if outcome.repeats > most:
            outcome.faults.append(f"{outcome.repeats} calls were repeated")
        outcome.acknowledged = len(self.sender.acknowledged)
        outcome.spooled, outcome.posts = len(self.sender.spooled), self.sender.posts
