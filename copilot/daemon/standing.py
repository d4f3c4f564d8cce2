"""How a daemon stands: what keeps it from its work, what it works without, and its gauges."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from copilot.daemon.caps import Spent, allowance
from copilot.daemon.desk import Desk
from copilot.engine.engine import Engine
from copilot.inbox.inbox import Inbox
from copilot.inbox.values import Status
from copilot.intake.pollers import Pollers
from copilot.intake.spool import Spool
from copilot.metrics import Levels, Metrics
from copilot.scratch.sweeping import usage
from copilot.workspace import Workspace

AT_WORK: tuple[Status, ...] = ("waiting", "waiting_model", "queued", "running")


@dataclass(frozen=True, slots=True)
class Standing:
    """Looks at the parts of a daemon whenever it is asked."""

    workspace: Callable[[], Workspace]
    inbox: Inbox
    engine: Engine
    desk: Desk
    spool: Spool
    pollers: Pollers
    spent: Callable[[], Spent]

    def problems(self) -> Sequence[str]:
        """Why no alerts should be sent here now, one line each."""
        breaker = self.desk.breaker
        found = [
            self.inbox.trouble,
            self.desk.problem,
            self.spool.problem,
            f"model: {breaker.reason}" if breaker.needs_person else "",
            "" if self.engine.is_open else "the database of the queue is away",
        ]
        return [one for one in found if one]

    def troubles(self) -> Sequence[str]:
        """What the daemon works without for now, one line each: no reason to keep alerts back."""
        why = [f"{name}: {reason}" for name, reason in self.hindrances().items() if reason]
        polls = (f"poll {one.name}: {one.problem}" for one in self.pollers.states() if one.problem)
        return [*why, *polls]

    def hindrances(self) -> Mapping[str, str]:
        """Why incidents get a triage report only, by reason; an empty text where all is well."""
        return {"model": self.desk.model_trouble, "spend": self._used_up()}

    def watch(self, metrics: Metrics) -> None:
        """Measure at each scrape what nobody counts as it happens."""

        def count(*statuses: Status) -> float:
            counts = self.inbox.counts()
            return sum(counts.get(status, 0) for status in statuses)

        root = self.workspace().settings.scratch.path
        metrics.watch("incidents_open", lambda: count(*AT_WORK, "failed"))
        metrics.watch("queue_depth", lambda: count(*AT_WORK[:3]))
        metrics.watch("scratch_bytes", lambda: sum(one.bytes for one in usage(root)))
        metrics.watch_polls(self._poll_counts, self._polls_well)
        metrics.watch_degraded(self._degraded)

    def _used_up(self) -> str:
        """Which dollars are used, seen by an incident that has no part in the reserve."""
        spent, caps = self.spent(), self.workspace().settings.daemon.spend
        if allowance(spent, "normal", caps) != "nothing":
            return ""
        return (
            f"{spent.hour:.2f} of {caps.hour_usd:.2f} dollars in this hour and {spent.day:.2f} of "
            f"{caps.day_usd:.2f} today; only severe incidents may use what is left"
        )

    def _degraded(self) -> Levels:
        return {(name,): float(bool(why)) for name, why in self.hindrances().items()}

    def _polls_well(self) -> Levels:
        """1 for each poll without a problem, else 0."""
        return {(state.name,): float(not state.problem) for state in self.pollers.states()}

    def _poll_counts(self) -> Levels:
        """How often each poll ended how."""
        return {
            (state.name, outcome): count
            for state in self.pollers.states()
            for outcome, count in asdict(state.counts).items()
        }
