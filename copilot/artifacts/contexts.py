"""Identifiers that only the words around them give away: codes, amounts, variables, times.

RE2 finds the places in one linear pass each; a short pattern then takes the value out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from copilot import safe_regex

NUMBER = re.compile(r"(?<![\w.])-?\d{1,6}(?![\w.]*\w)")
ENTIRE = re.compile(r"(?s).+")
EPOCH = re.compile(r"1\d{9}(?:\d{3}){0,3}(?:\.\d+)?")
AMOUNT = r"\d+(?:[_,]\d{3})*(?:\.\d+)?"
SIZES = r"[kKMGTPE]i?[Bb](?:/s|ps)?|[Bb]ytes?|B"
TIMES = r"ms|us|µs|ns|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?|weeks?|milliseconds?"
THINGS = (
    r"jobs?|tasks?|workflows?|elements?|events?|files?|lines?|rows?|records?|messages?|requests?"
    r"|connections?|sites?|blocks?|cores?|threads?|slots?|retries|attempts|times|req/s|[kMG]?Hz|cpus?"
)


@dataclass(frozen=True, slots=True)
class Context:
    """Where to look for a kind of identifier, and what of the place is the identifier."""

    kind: str
    place: safe_regex.Pattern
    value: re.Pattern[str] = ENTIRE


def _context(kind: str, place: str, value: re.Pattern[str] = ENTIRE) -> Context:
    return Context(kind, safe_regex.compile(place), value)


CONTEXTS = (
    _context(
        "exit code",
        r"(?i)\b(?:exit(?:ed)?|exit[_ ]?(?:code|status)|return(?:ed)?[_ ]?code"
        r"|(?:end|ended|ends|fail|failed|fails|exited|exits|finished|terminated|died) with)"
        r"(?: code| status| exit code)?\W{1,5}(?:of |is |was )?-?\d{1,6}\b",
        NUMBER,
    ),
    _context(
        "error code",
        r"(?i)\b(?:error ?code|errno|error|codes?)\W{1,3}-?\d{1,6}\b"
        r"(?:(?:, | and | or |, and )\d{1,6}\b)*",
        NUMBER,
    ),
    _context(
        "http status",
        r"(?i)\bHTTP(?:/\d(?:\.\d)?)?\W{1,3}[45]\d\d\b|\bstatus(?:[_ ]?code)?\W{1,4}[45]\d\d\b"
        r"|\b[45]\d\d (?:Bad Request|Unauthorized|Forbidden|Not Found|Request Time|Conflict|Gone"
        r"|Payload|Too Many|Internal Server|Bad Gateway|Service Unavail|Gateway Time)",
        re.compile(r"(?<!\d)[45]\d\d\b"),
    ),
    _context(
        "signal", r"(?i)\bsignal \d{1,2}\b|\bSIG(?:KILL|TERM|SEGV|ABRT|INT|HUP|BUS|PIPE|QUIT)\b"
    ),
    _context(
        "quantity",
        rf"(?:[<>≥≤~]=? ?)?\b{AMOUNT} ?(?:{SIZES}|{TIMES}|{THINGS})\b"
        rf"|(?:[<>≥≤~]=? ?)?\b{AMOUNT} ?%|\b\d+h\d+m(?:\d+s)?\b",
    ),
    _context("quantity", r"\b[A-Za-z][\w.]{1,60} ?[:=] ?[1-9]\d{4,15}(?:\.\d+)?\b"),
    _context(
        "variable",
        r"\$\{?[A-Z][A-Z0-9_]{2,60}|\b(?i:variable|env):? [A-Z][A-Z0-9_]{2,60}\b"
        r"|\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+ (?:(?:is|was) )?"
        r"(?:undefined|not (?:defined|set)|unset|missing|empty|env)\b",
        re.compile(r"\b[A-Z][A-Z0-9_]{2,}"),
    ),
    _context("job", r"(?i)\bjob(?:[ _]?id)?[ :=#]{1,3}\d{4,12}\b", re.compile(r"\d{4,12}")),
    _context(
        "hash", r"\b(?:commit|revision|sha)\W{1,2}[0-9a-f]{7,40}\b", re.compile(r"[0-9a-f]{7,40}$")
    ),
    _context(
        "time",
        r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
        r"(?:Z\b| ?UTC\b| ?[+-]\d\d:?\d\d\b)?"
        r"|\b\d\d:\d\d(?::\d\d)? (?:UTC|GMT)\b",
    ),
)


def in_context(text: str) -> Iterator[tuple[int, str, str]]:
    """Each identifier that its context gives away: position, kind, value."""
    codes: set[int] = set()
    for context in CONTEXTS:
        for start, end in context.place.spans(text):
            if context.value is ENTIRE and not _stands_alone(text, start, context.kind):
                continue
            for match in context.value.finditer(text[start:end]):
                at = start + match.start()
                if context.kind == "quantity" and EPOCH.search(match.group()):
                    continue
                if context.kind.endswith("code"):  # a `return code 40` also reads as a `code 40`
                    if at in codes:
                        continue
                    codes.add(at)
                yield at, context.kind, match.group()


def _stands_alone(text: str, start: int, kind: str) -> bool:
    """False for the end of a longer name, and for the time that a log line begins with."""
    if kind == "time":
        return start - (text.rfind("\n", 0, start) + 1) > 1
    return start == 0 or not (text[start - 1].isalnum() or text[start - 1] in "_.-/:")
