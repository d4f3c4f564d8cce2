"""Texts that speak to the model, and texts that only sound so, written before any rule was read.

`attacks.jsonl` has one attack a line: its kind, its language, and either one text or the rows over
which it is split. `harmless.txt` has lines as operators and programs write them, full of the words
that give an attack away. Both were measured before a rule was changed for them; since then they are
held out no longer (docs/explanation/untrusted-text.md has both figures).
"""

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
SPLIT = "split over rows"


@dataclass(frozen=True, slots=True)
class Attack:
    """One order to the model, over as many rows of a result as its author spread it."""

    kind: str
    language: str
    rows: tuple[str, ...]


def attacks() -> list[Attack]:
    """All attacks, in the order in which they were written."""
    lines = (FOLDER / "attacks.jsonl").read_text().splitlines()
    return [
        Attack(found["kind"], found["language"], tuple(found.get("rows") or [found["text"]]))
        for found in map(json.loads, lines)
    ]


def harmless() -> list[str]:
    """Lines that ask nothing of the model."""
    return (FOLDER / "harmless.txt").read_text().splitlines()
