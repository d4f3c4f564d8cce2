"""The layout of a STATE.md: which lines are in which section, and which are an operator's.

Knows headings and lines, not what they mean.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

HEADINGS: Mapping[str, str] = {
    "alert": "Alert",
    "now": "Now",
    "artifacts": "Artifacts",
    "findings": "Findings",
    "ruled_out": "Ruled out",
    "already_done": "Already done",
    "open_questions": "Open questions",
    "timeline": "Timeline",
    "next_step": "Next step",
}
"""The sections in their order, by the name of their field."""

HEAD = "head"
FRONT = "front"
AT_END = -1
INDENT = "    "
NOTHING = "*None yet.*"
"""Stands in an empty section. No line of ours starts with a bare `*`."""
FOLDED = re.compile(r"\*(\d{1,9}) earlier (?:entry is|entries are) in this file's history\.\*")
LISTS = frozenset(HEADINGS) - {"alert", "now", "next_step"}
KEYS = {heading.lower(): key for key, heading in HEADINGS.items()}


@dataclass(frozen=True, slots=True)
class Aside:
    """Lines that are an operator's, and where they stand."""

    section: str
    """The field's name, or `front` (in the front matter), or `head` (below the title)."""
    after: int
    """How many entries of the section stand above; AT_END for lines behind the whole section."""
    text: str


def split(lines: Sequence[str]) -> tuple[dict[str, list[str]], list[Aside]]:
    """The trimmed body of each section, and the sections that are not ours.

    A section that occurs twice is joined. A heading that is not ours ends the section above it.
    """
    bodies: dict[str, list[str]] = {key: [] for key in (HEAD, *HEADINGS)}
    foreign: dict[str, list[str]] = {}
    key, block = HEAD, bodies[HEAD]
    for line in lines:
        is_heading = line.startswith("## ") or (line.startswith("# ") and key != HEAD)
        ours = KEYS.get(line[3:].strip().lower()) if is_heading else None
        if ours:
            bodies[ours] = trimmed(bodies[ours])
            key, block = ours, bodies[ours]
            continue
        if is_heading and key != HEAD:
            block = foreign.setdefault(key, [])
        block.append(line)
    asides = [Aside(key, AT_END, "\n".join(trimmed(block))) for key, block in foreign.items()]
    return {key: trimmed(body) for key, body in bodies.items()}, asides


def folded_line(count: int) -> str:
    """The line that stands for *count* entries that were dropped."""
    return (
        f"*{count} earlier {'entry is' if count == 1 else 'entries are'} in this file's history.*"
    )


def folded_count(body: Sequence[str]) -> int:
    """How many entries such lines stand for."""
    return sum(int(match[1]) for line in body if (match := FOLDED.fullmatch(line)))


def trimmed(lines: Sequence[str]) -> list[str]:
    """The lines without the blank ones at both ends."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    return list(lines[filled[0] : filled[-1] + 1]) if filled else []
