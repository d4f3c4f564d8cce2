"""The words of a line that its like have too: what to search for to count it."""

import re

from copilot.models.offline.causes import Strength
from copilot.models.offline.lines import Line


def phrase_of(line: Line) -> str:
    """Up to six words in a row that say what the line says and its like say too; else empty."""
    text = line.telling
    start = _start_of_sign(line, text)
    runs = [
        (match.start(), match[0])
        for match in re.finditer(r"[A-Za-z][A-Za-z'-]*(?: [A-Za-z][A-Za-z'-]*){1,7}", text)
    ]
    if not runs:
        return ""
    place, best = min(runs, key=lambda run: (_distance(run, start), -len(run[1])))
    words = best.split(" ")[:6]
    return f'"{" ".join(words)}"' if len(best) > 6 and place >= 0 else ""


def _distance(run: tuple[int, str], start: int) -> int:
    place, words = run
    return (
        0
        if place <= start < place + len(words)
        else min(abs(place - start), abs(place + len(words) - start))
    )


def _start_of_sign(line: Line, text: str) -> int:
    sign = line.sign
    if sign.cause is None:
        return len(text)
    for pattern in sign.cause.signs.get(sign.strength, ()):
        span = pattern.span(text)
        if span:
            return span[0]
    return 0 if sign.strength is Strength.NONE else len(text)
