"""Where a line comes from, which names it carries, and whether two times are of one stretch."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import PurePosixPath
from statistics import median

from copilot.models.offline.entities import is_identifier, looks_like_name
from copilot.models.offline.lines import LEADING_TIME, Line
from copilot.window import parse_iso

ORIGIN_FIELDS = ("pod", "service", "app", "container", "unit")
"""Fields that say which program spoke, the most exact first; else the file does."""
NAMING_FIELDS = (*ORIGIN_FIELDS, "host", "hostname", "node", "instance", "component", "trace_id",
                 "request_id", "job_id", "task_id", "correlation_id")  # fmt: skip
WORD = re.compile(r"[A-Za-z0-9_][\w.\-/#@+]*[\w#]")
LONGEST = 700
"""Characters of a line in which names are looked for."""
COMMON = re.compile(
    r"\d+[a-z]{0,4}|v?\d+(?:\.\w+)+|utf-?\d+|sha-?\d+|md5|x509|ipv[46]|https?\d?(?:/[\d.]+)?|"
    r"tls\S*|base64|oauth2|log4\w+|\d{4}-\d\d\S*|\d\d:\d\d\S*|\w+[-_.]?error|\w+_code|\w+_message",
    re.IGNORECASE,
)
"""What looks like a name and is shared by programs that have nothing to do with one another."""
OF_CODE = re.compile(r"(?:\w+[./])*[A-Z][a-z]\w*|.*\.(?:py|java|go|c|cc|cpp|js|ts|rb|rs|so[.\d]*)")
DULL_STEMS_TEXT = """
access app application audit client daemon debug default error errors events info job journal
log logs main messages out output root server service stderr stdout syslog system worker
"""
DULL_STEMS = frozenset(DULL_STEMS_TEXT.split())
SHORTEST_STEM = 4
SHORTEST_STRETCH, LONGEST_STRETCH = timedelta(hours=1), timedelta(days=1)
BEATS = 20
"""A pause of so many usual distances ends a stretch."""


def origin_of(line: Line) -> str:
    """The program that spoke, as its fields say, else the file."""
    named = next((line.fields[name] for name in ORIGIN_FIELDS if line.fields.get(name)), "")
    return named or line.source


def stem_of(source: str) -> str:
    """The name of a file without its folder and endings; empty where it says nothing."""
    stem = PurePosixPath(source).name.partition(".")[0].lower()
    return "" if stem in DULL_STEMS or len(stem) < SHORTEST_STEM else stem


def folder_of(source: str) -> str:
    """The folder of a file; empty for one that lies at the top."""
    return source.rpartition("/")[0]


def names_on(line: Line, origins: frozenset[str]) -> frozenset[str]:
    """Names that may tie two lines together, in lower case; *origins* are those of other lines.

    A structured record holds the names of half its world: only its own place counts.
    """
    found = {value.lower() for name in NAMING_FIELDS if (value := line.fields.get(name, ""))}
    found |= {stem_of(line.source)} - {""}
    if not line.is_document:
        for text in {line.telling, line.message.split("\n", 1)[0], line.thrown}:
            found |= set(_words(LEADING_TIME.sub("", text[:LONGEST]), origins))
    return frozenset(name for name in found if len(name) > 2)


def _words(text: str, origins: frozenset[str]) -> Iterable[str]:
    for match in WORD.finditer(text):
        word = match[0].strip(".:/-")
        head = word.partition(".")[0]
        if word.lower() in origins or _ties(word):
            yield word.lower()
        if head != word and (head.lower() in origins or _ties(head)):
            yield head.lower()


def _ties(word: str) -> bool:
    """True for a name that stands for one thing: a host, a job, a hash; not for a class or code."""
    if COMMON.fullmatch(word) or OF_CODE.fullmatch(word):
        return False
    return is_identifier(word) or (looks_like_name(word) and any(map(str.isdigit, word)))


def instant(line: Line) -> datetime | None:
    """When the line, or the first of its kind, was written; None where it says no time."""
    try:
        return parse_iso(line.when) if line.when else None
    except ValueError:
        return None


def pause(times: Sequence[datetime]) -> timedelta:
    """How long a silence may be and still belong to one stretch, by how dense *times* are."""
    ordered = sorted(set(times))
    steps = [(after - before).total_seconds() for before, after in pairwise(ordered)]
    usual = timedelta(seconds=BEATS * median(steps)) if steps else SHORTEST_STRETCH
    return min(max(usual, SHORTEST_STRETCH), LONGEST_STRETCH)


def in_one_stretch(one: datetime, other: datetime, times: Iterable[datetime]) -> bool:
    """True when no silence among *times*, between the two, is longer than it may be."""
    known = sorted({*times, one, other})
    longest = pause(known)
    first, last = min(one, other), max(one, other)
    between = [time for time in known if first <= time <= last]
    return all(b - a <= longest for a, b in pairwise(between))
