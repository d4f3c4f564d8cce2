"""The artifact ledger: every identifier that was shown, where first, how often, why it matters.

Weights are by what was done with it, never by a model's opinion: it is in the alert, a finding
cites it, a note names it, a call used it as an argument, or it was merely seen.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from copilot.artifacts import find_artifacts


class Weight(IntEnum):
    """Why an identifier matters; the higher wins."""

    SEEN = 0
    ARGUMENT = 1
    NOTED = 2
    CITED = 3
    ALERT = 4


@dataclass(frozen=True, slots=True)
class Sighting:
    """An identifier, verbatim, with the reference where it was first seen and how often."""

    kind: str
    value: str
    reference: str
    count: int = 1
    weight: Weight = Weight.SEEN


class Sightings:
    """All identifiers of an investigation. Grows only."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Sighting] = {}
        self._values: set[str] = set()

    @property
    def values(self) -> frozenset[str]:
        """Every identifier that was shown so far."""
        return frozenset(self._values)

    def all(self) -> Iterable[Sighting]:
        """Everything seen, in the order of first sight."""
        return self._known.values()

    def important(self) -> list[Sighting]:
        """Those with a reason beyond being seen: the weightiest first, then by first sight."""
        chosen = [item for item in self._known.values() if item.weight]
        return sorted(chosen, key=lambda item: -item.weight)

    def see(self, kind: str, value: str, reference: str, weight: Weight = Weight.SEEN) -> None:
        """Count one more sight of an identifier."""
        self._values.add(value)
        self._note(Sighting(kind, value, reference, 1, weight))

    def weigh(self, text: str, reference: str, weight: Weight) -> None:
        """Give every identifier in *text*, which the model wrote, that weight.

        Writing an identifier shows nothing: what only a model wrote is not among `values`.
        """
        for item in find_artifacts(text):
            # As arguments times are the ends of windows; they would crowd out what they frame.
            if item.kind != "time" or weight > Weight.ARGUMENT:
                self._note(Sighting(item.kind, item.value, reference, 1, weight))

    def _note(self, new: Sighting) -> None:
        known = self._known.get((new.kind, new.value))
        if known:
            heavier = max(known.weight, new.weight)
            new = replace(known, count=known.count + 1, weight=heavier)
        self._known[new.kind, new.value] = new
