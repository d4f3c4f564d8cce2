"""The shapes in which log lines write their time, as one table of regular expressions.

Each expression is matched from the start of a line. A time may follow a run of punctuation and at
most two words (a file name, a host, an event number): what stands deeper in a line is part of what
the line says, unless a label such as `time:` announces it.

Group names: `base` is the text that settles the second, `y mo mon d h mi s` its parts, `f` the
digits of the fraction, `z` the zone. A shape without `y` leaves the year open.
"""

import re
from typing import NamedTuple

MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}

_MON = r"(?P<mon>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DAY_NAME = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_CLOCK = r"(?P<h>\d\d):(?P<mi>\d\d):(?P<s>\d\d)"
_FRACTION = r"(?:[.,](?P<f>\d{1,9}))?"
_ZONE = r"(?:\s?(?P<z>Z|UTC|GMT|[+-]\d\d:?\d\d)(?![\w]))?"
_NAMED_ZONE = r"(?:\s(?P<z>[A-Z]{2,5}|[+-]\d{4}))?"

_ISO = (
    rf"(?P<base>(?P<y>\d{{4}})[-/](?P<mo>\d\d)[-/](?P<d>\d\d)[T_ ]{_CLOCK}){_FRACTION}{_ZONE}(?!\d)"
)
_CTIME = (
    rf"(?P<base>{_DAY_NAME}\s+{_MON}\s+(?P<d>\d{{1,2}})\s+{_CLOCK}{_FRACTION}{_NAMED_ZONE}"
    r"\s(?P<y>\d{4}))(?!\d)"
)
_MAIL = (
    rf"(?P<base>(?:{_DAY_NAME}\w*,?\s)?(?P<d>\d{{1,2}})[ /-]{_MON}[ /-](?P<y>\d{{4}})[ :]{_CLOCK})"
    rf"{_FRACTION}{_ZONE}(?!\d)"
)

_PUNCTUATION = r"[^\w\s]{0,40}\s*"
_WORDS = r"(?:\S{1,120}\s+)??(?:\S{0,119}[^\s:]\s+)??[^\w\s]{0,3}"
"""At most two words; `Start Time:` is a label of something else than the line."""
_LABEL = (
    r"(?:(?:^|[^\w\s]\s*|\blocal )(?:time|timestamp|ts|date)[\"']?\s*[=:]|\s(?:ts|time|timestamp)=)"
    r"\s*[\"'\[]?"
)


class Shape(NamedTuple):
    """One way to write a time. `kind` says how its groups become an instant."""

    kind: str
    regex: re.Pattern[str]
    fraction: bool
    zone: bool


def _shape(kind: str, core: str, lead: str = _PUNCTUATION + _WORDS, flags: int = 0) -> Shape:
    regex = re.compile(lead + core, flags)
    return Shape(kind, regex, "f" in regex.groupindex, "z" in regex.groupindex)


SHAPES: tuple[Shape, ...] = (
    _shape("calendar", _ISO),
    _shape(  # Blue Gene and its kin: label, epoch, date, node, then the same instant in local time
        "epoch",
        r"(?P<base>\d{10}) \d{4}\.\d\d\.\d\d (?P<host>\S+)"
        r"(?: \d{4}-\d\d-\d\d-\d\d\.\d\d\.\d\d\.(?P<f>\d{6}))?",
        lead=r"\S+ ",
    ),
    _shape("epoch", r"(?P<base>\d{10})(?:[.,](?P<f>\d{1,9}))?(?![\w.-])", lead=_PUNCTUATION),
    _shape("epoch_fine", r"(?P<base>\d{13}|\d{16}|\d{19})(?![\w.-])", lead=_PUNCTUATION),
    _shape("slashes", rf"(?P<base>(?P<a>\d\d)/(?P<b>\d\d)/(?P<c>\d\d)\s{_CLOCK}){_FRACTION}(?!\d)"),
    _shape(
        "compact",
        r"(?P<base>(?P<y>\d\d)(?P<mo>\d\d)(?P<d>\d\d)\s{1,2}"
        r"(?P<h>\d\d):?(?P<mi>\d\d):?(?P<s>\d\d))(?![\w:])",
        lead=_PUNCTUATION,
    ),
    _shape(
        "calendar",
        r"(?P<base>(?P<y>\d{4})(?P<mo>\d\d)(?P<d>\d\d)[T -](?P<h>\d\d):?(?P<mi>\d\d):?(?P<s>\d\d))"
        rf"(?:[.,:](?P<f>\d{{1,9}}))?{_ZONE}(?!\d)",
        lead=_PUNCTUATION,
    ),
    _shape("calendar", _CTIME, lead=_PUNCTUATION),
    _shape("calendar", _MAIL),
    _shape("calendar", _MAIL, lead=r".{0,200}?\["),  # access logs: host, identity, user, [time]
    _shape(
        "yearless",
        rf"(?P<base>{_MON}\s+(?P<d>\d{{1,2}})\s{_CLOCK}){_FRACTION}(?!\d)",
        lead=r"(?:<\d{1,3}>)?" + _PUNCTUATION,
    ),
    _shape(
        "calendar", rf"(?P<base>{_MON}\s+(?P<d>\d{{1,2}})\s(?P<y>\d{{4}})\s{_CLOCK}){_FRACTION}"
    ),
    _shape("yearless", rf"(?P<base>(?P<mo>\d\d)/(?P<d>\d\d)\s{_CLOCK}){_FRACTION}(?!\d)"),
    _shape(
        "yearless",
        rf"(?P<base>(?P<mo>\d\d)-(?P<d>\d\d)\s{_CLOCK})\.(?P<f>\d{{3,6}})(?!\d)",
        lead=_PUNCTUATION,
    ),
    _shape(  # klog: I0608 12:39:05.123456
        "yearless", rf"[IWEF](?P<base>(?P<mo>\d\d)(?P<d>\d\d)\s{_CLOCK}){_FRACTION}", lead=""
    ),
    _shape("calendar", _CTIME, lead=r".{0,200}?(?:\bat|[Tt]ime ?:)\s+"),
)

LABELLED: tuple[Shape, ...] = tuple(
    _shape("calendar", core, lead=_LABEL, flags=re.IGNORECASE) for core in (_ISO, _CTIME, _MAIL)
)
"""Searched anywhere in the head of a line, after everything else."""

MAYBE = re.compile(r"\d:\d\d|\d{10}|\d{6} |\d{8}[T-]\d")
"""A line without this holds no time of any shape."""

SLASHES = re.compile(rf"^{_PUNCTUATION}{_WORDS}(\d\d)/(\d\d)/(\d\d)\s\d\d:\d\d:\d\d", re.MULTILINE)
