"""The rows that the decisions of one transaction read and change, in front of the database."""

from dataclasses import dataclass, field

from copilot.inbox.decision import Case, Decision, Firing, Rows
from copilot.inbox.values import Arrival


@dataclass
class Board:
    """The rows that a transaction's decisions read and change."""

    cases: dict[str, Case] = field(default_factory=dict)
    newest: dict[tuple[str, bool], str] = field(default_factory=dict)
    """The id of the newest incident of an identity, of those ignored or not."""
    firings: dict[str, Firing] = field(default_factory=dict)
    received: dict[str, list[Arrival]] = field(default_factory=dict)
    """The arrivals of this transaction, by key."""
    anew: set[str] = field(default_factory=set)
    """Keys under which another firing begins in this transaction."""

    def copy(self) -> "Board":
        """The same rows, to go back to."""
        received = {key: list(arrivals) for key, arrivals in self.received.items()}
        return Board(
            dict(self.cases), dict(self.newest), dict(self.firings), received, set(self.anew)
        )

    def rows_for(self, arrival: Arrival) -> Rows:
        """What the decision about *arrival* reads."""
        newest = self.newest.get((arrival.identity, bool(arrival.ignored)))
        firing = self.firings.get(arrival.key)
        return Rows(
            newest=self.cases[newest] if newest else None,
            firing=firing,
            home=self.cases.get(firing.incident) if firing else None,
        )

    def keep(self, arrival: Arrival, decision: Decision) -> None:
        """Take over what was decided."""
        case = decision.case
        if decision.superseded:
            self.cases[decision.superseded.id] = decision.superseded
        if case.newest:
            self.newest[case.identity, case.ignored] = case.id
        self.cases[case.id] = case
        self.firings[arrival.key] = decision.firing
        if decision.is_anew:
            self.anew.add(arrival.key)
            self.received.pop(arrival.key, None)
        self.received.setdefault(arrival.key, []).append(arrival)

    def waiting(self) -> int:
        """How many of these incidents wait."""
        return sum(case.status == "waiting" for case in self.cases.values())
