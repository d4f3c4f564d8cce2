"""Provisional: replaced by the notes builder."""

import re
from dataclasses import dataclass

FOUND = re.compile(r"\b(?P<ticket>[A-Z][A-Z0-9]{1,9}-\d{1,6})\b|(?P<workflow>\b\w+(?:_\w+){2,}\b)")


@dataclass(frozen=True, slots=True)
class Artifact:
    """An identifier."""

    kind: str
    value: str


def find_artifacts(text: str) -> list[Artifact]:
    """The identifiers in *text*."""
    return [Artifact(match.lastgroup or "", match[0]) for match in FOUND.finditer(text)]
