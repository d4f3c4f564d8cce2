"""A simulation, or the record itself, in the figures that policies are compared by. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from copilot.context import totals
from copilot.context.departures import Departure, departures
from copilot.context.totals import LeverTotal, Total
from copilot.context.usage_rows import Row, rows
from copilot.journal import Event
from copilot.simulation.simulate import Simulation
from copilot.values import text_at


@dataclass(frozen=True, slots=True)
class Figures:
    """What an investigation costs and carries."""

    policy: str
    model: str
    total: Total
    peak: int
    """The most tokens that one request carried."""
    levers: tuple[LeverTotal, ...]
    departures: tuple[Departure, ...]
    remarks: tuple[str, ...] = ()
    is_whole: bool = True
    """False when the window was full before the end; the figures are of the turns until then."""

    @property
    def needed(self) -> tuple[Departure, ...]:
        """What had left the request when a later turn needed it."""
        return tuple(one for one in self.departures if one.needed_in)


def of_record(events: Sequence[Event]) -> Figures:
    """The figures of the run that was."""
    begun = events[0].data
    return _figures(text_at(begun, "policy"), text_at(begun, "model"), events, departures(events))


def of_simulation(simulation: Simulation) -> Figures:
    """The figures of the run as it would have been."""
    found = _figures(simulation.policy, simulation.model, simulation.events, simulation.departures)
    return replace(found, remarks=simulation.remarks, is_whole=simulation.is_whole)


def _figures(
    policy: str, model: str, events: Sequence[Event], gone: tuple[Departure, ...]
) -> Figures:
    found = rows(events)
    levers = tuple(totals.by_lever(found))
    return Figures(policy, model, totals.total(found), _peak(found), levers, gone)


def _peak(found: Sequence[Row]) -> int:
    return max((row.carried for row in found if row.kind in ("turn", "cut")), default=0)
