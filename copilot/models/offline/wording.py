"""Plain, short sentences made of what lines say. Nothing here decides anything."""

import re
from collections.abc import Iterable

from copilot.models.offline.causes import Strength
from copilot.models.offline.lines import LEADING_TIME, Line
from copilot.models.offline.ranking import Candidate
from copilot.values import Json, JsonObject

QUOTE_CHARACTERS = 180
SAID_CHARACTERS = 200
MOST_ITEMS = 12
CLAUSE_CHARACTERS = 70
"""A shorter line is repeated whole."""
SUBSECONDS = re.compile(r"(:\d\d)\.\d+")
LEADING_LEVEL = re.compile(
    r"^\W*(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\W+(?:\[[^\]]*\]\s*)?"
)
CLAUSE_END = re.compile(r" - |; | \| |\]\s?\[|, (?=[A-Z])")
PLAIN_RUN = re.compile(r'[^"\\\n]{6,}')
COMPONENTS = ("service", "pod", "component", "host", "container")
DIRECT_WORDS = re.compile(
    r"\b(error|exception|fail(ed|ure|s)?|fatal|refused|denied|expired|timed? ?out|timeout|cannot|"
    r"could not|unable|not found|no such|unknown|undefined|invalid|exceeded|killed|unexpected|"
    r"unreachable|no route|missing|abort(ed)?|stuck|panic)",
    re.IGNORECASE,
)


def quote_of(line: Line) -> str:
    """A piece of the line that says what it says, verbatim, cut between words."""
    text = line.telling.strip()
    if line.path:
        runs = PLAIN_RUN.findall(text) or [text]
        text = max(runs, key=lambda run: (bool(DIRECT_WORDS.search(run)), len(run))).strip()
    start = _sign_start(line, text)
    first = 0 if start < QUOTE_CHARACTERS * 2 // 3 else _word_start(text, start - 60)
    return _cut(text[first:], QUOTE_CHARACTERS)


def evidence(line: Line) -> JsonObject:
    """The line as evidence."""
    return {"reference": line.reference, "quote": quote_of(line)}


def all_evidence(line: Line) -> list[JsonObject]:
    """The line as evidence; of an entry of several lines also its first and the exception's."""
    found = [evidence(line)]
    texts = [line.message.split("\n", 1)[0], line.thrown] if "\n" in line.message else []
    for text in texts:
        if text.strip() and text != line.telling:
            quote = _cut(text.strip(), QUOTE_CHARACTERS)
            found.append({"reference": line.reference, "quote": quote})
    return found


def said(line: Line, limit: int = SAID_CHARACTERS) -> str:
    """What the line says, for a sentence: the clause that carries it, without time and level."""
    text = LEADING_LEVEL.sub("", LEADING_TIME.sub("", line.telling.strip()), count=1)
    component = line.fields.get("component", "")
    if component:  # `where` says it already
        text = text.removeprefix(f"{component}:").lstrip()
    start = _sign_start(line, text)
    if len(text) > CLAUSE_CHARACTERS and line.sign.strength is Strength.DIRECT:
        text = _clause(text, start)
    return _ended(text, _cut(text, limit))


def _clause(text: str, place: int) -> str:
    """The part between dashes, semicolons or bars that holds *place*, if it is a sentence."""
    first, parts = 0, []
    for match in [*CLAUSE_END.finditer(text), None]:
        end = match.start() if match else len(text)
        parts.append((first, text[first:end]))
        first = match.end() if match else end
    part = next((text for start, text in reversed(parts) if start <= place), parts[0][1])
    return part.strip() if len(part.split()) > 2 else text


def where(line: Line) -> str:
    """Who says it: the component or pod that the entry names, else its source."""
    for name in COMPONENTS:
        if line.fields.get(name):
            return f"{name} {short(line.fields[name])}"
    return line.source


def short(name: str) -> str:
    """The last part of a dotted name of code; other names, such as those of hosts, stay whole."""
    last = name.rpartition(".")[2]
    return last if last[:1].isupper() else name


def when(line: Line) -> str:
    """At which time it was seen first, to the second; empty where it has none."""
    return SUBSECONDS.sub(r"\1", line.first_seen or line.time)


def times(count: int) -> str:
    """How often, in words."""
    return "once" if count == 1 else f"{count} times"


def story_claim(candidate: Candidate) -> str:
    """What happened, when, where and how often."""
    line = candidate.first
    moment = f"{when(line)}, " if when(line) else ""
    more = f" ({times(candidate.count)})" if candidate.count > 1 else ""
    return f"{moment}{where(line)}{more}: {said(line)}"


def cause_claim(candidate: Candidate) -> str:
    """The cause in one or two sentences: its class, where, since when, and the line's own words."""
    line = candidate.first
    since = f", first at {when(line)}" if when(line) else ""
    counted = f", {times(candidate.count)}"
    sure = "" if candidate.sign.strength is Strength.DIRECT else "Probably: "
    says = f"{sure}{candidate.cause.says}"
    if line.path:
        return f"{says} ({line.source}{since}). The record says: {said(line)}"
    return f"{says} ({where(line)}{since}{counted}). The line says: {said(line)}"


def listed(items: Iterable[Json]) -> list[Json]:
    """*items* as a list, as many as a report takes."""
    return list(items)[:MOST_ITEMS]


def claim(text: str, status: str, pieces: list[JsonObject]) -> JsonObject:
    """A claim as the report has it."""
    listed: list[Json] = []
    for piece in pieces:
        if piece not in listed:
            listed.append(piece)
    return {"claim": text[:1400], "status": status, "evidence": listed}


def is_direct(line: Line) -> bool:
    """True when the line alone says that something is wrong."""
    return line.severity > 1 or bool(DIRECT_WORDS.search(line.telling))


def _sign_start(line: Line, text: str) -> int:
    sign = line.sign
    if sign.cause is None:
        return 0
    for pattern in sign.cause.signs.get(sign.strength, ()):
        span = pattern.span(text)
        if span:
            return span[0]
    return 0


def _word_start(text: str, place: int) -> int:
    found = text.find(" ", max(place, 0))
    return found + 1 if found >= 0 else 0


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text.rstrip()
    cut = text[:limit]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip()


def _ended(whole: str, cut: str) -> str:
    return cut if cut == whole.rstrip() else f"{cut} …"
