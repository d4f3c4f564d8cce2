"""Whether what a redaction rule matched is a secret at all, and where exactly it stands.

RE2 has no look-around, so that what must not follow or precede is told here, in code.
"""

import base64
import re
from typing import Protocol, TypeAlias

Span: TypeAlias = tuple[int, int]


class Match(Protocol):
    """What is used of a match of RE2, which has no types of its own."""

    @property
    def lastindex(self) -> int | None:
        """The last group that took part."""

    def span(self, group: int = 0) -> Span:
        """Where the group stands."""

    def group(self, group: int = 0) -> str:
        """The text of the group."""


NAME = (
    r"(?:password|passwd|passphrase|passcode|pwd|secret|token|credentials?|authz"
    r"|(?:api|access|secret|private|account|shared|signing|encryption|auth)[_.-]?key)"
)
"""The last word of a name whose value is a secret."""
BARE_GROUP = 6
"""Of the patterns that `named_value` reads: the name, what is between, four forms of a value."""

SECRET_NAME = re.compile(rf"(?i)[\w.-]*{NAME}|(?:proxy-)?authorization|(?:set-)?cookie2?")
HARMLESS_NAME = re.compile(
    r"(?i)(?:page|next|previous|prev|cursor|continuation|sync|cancellation|max|min|num|stop|eos|bos"
    r"|pad|unk|mask|first|last|start|end|per)[\s_.-]*token$"
)
PASSWORD = re.compile(r"(?i)(?:password|passwd|passphrase|passcode|pwd)$")
PLACEHOLDER = re.compile(
    r"(?i)[*x.•#_\\-]*|\\[nrt].*|\$(?-i:[A-Z_][A-Z0-9_]*)|\$[{(].*|%(?:[sdr]|\(\w+\)s|\w+%)"
    r"|[<({\[]{1,2}[a-z_ .-]*"
    r"|none|null|nil|true|false|yes|no|empty|unset|required|invalid|missing|expired|incorrect|wrong"
    r"|failed|denied|changed|unknown|undefined|redacted|hidden|masked|removed|n/a|str|string|bytes?"
    r"|bearer|basic|token|digest|negotiate|ntlm|apikey|password|passwd|secret"
)
FUNCTION_WORD = re.compile(
    r"(?i)ok|not|is|was|are|has|for|and|or|the|an?|to|in|of|on|by|from|with|will|must|should|can"
)
PROSE = re.compile(r"[a-z]{1,14}|[A-Z][a-z]{1,13}")
RUN = re.compile(r"[^\s\"'<\x00=:]*(?P<names>[=:])?")
PEM_LIMIT = 20_000
PEM_LINES = re.compile(
    r"(?:(?:[ \t\r\n]|\\[nr])*"
    r"(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info):.*|[^\n]{1,200}?[A-Za-z0-9+/=]{40,}))*"
)
"""Encoded lines, also behind the prefix of a log."""
CLASS_CHANGES = re.compile(r"[A-Z](?![A-Z])|[a-z](?![a-z])|[0-9](?![0-9])")
LEAST_CHANGES = 26
"""Between capitals, small letters and digits in 64 characters: Base64 has some 40, few names have.
"""
LEAST_DIGITS = 3
"""Base64 of that length has some ten; a name written in capitals and small letters has none."""
AFTER_A_VALUE = ",;&)]}>.\\"


def captured(match: Match, text: str) -> Span:
    """The last group, or the whole match where there is none, without a closing backslash."""
    start, end = match.span(match.lastindex or 0)
    return start, start + len(text[start:end].rstrip("\\"))


def is_placeholder(value: str) -> bool:
    """True when *value* only stands where a secret would: `***`, `${TOKEN}`, `None`, `required`."""
    return PLACEHOLDER.fullmatch(value.rstrip(AFTER_A_VALUE)) is not None


def names_a_secret(name: str) -> bool:
    """True when what is called *name*, such as `X-Api-Key` or `dbPassword`, is a secret."""
    return SECRET_NAME.fullmatch(name) is not None and not HARMLESS_NAME.search(name)


def is_secret(name: str, value: str) -> bool:
    """True when *value* is one that something called *name* would keep secret."""
    if name.casefold().endswith("pwd") and value.startswith("/"):
        return False  # the working directory, as shells call it
    is_small = value.isdecimal() and len(value) < 8 and not PASSWORD.search(name)
    return not is_small and not is_placeholder(value)


def named_value(match: Match, text: str) -> Span | None:
    """The value, unless its name or its own look says that it is no secret."""
    name, between = match.group(1), match.group(2)
    group = match.lastindex or 0
    start, end = match.span(group)
    if HARMLESS_NAME.search(name):
        return None
    if group == BARE_GROUP:
        end = _end_of_bare(text, start, end)
    value = text[start:end]
    if not is_secret(name, value) or (between.endswith((" ", "\t")) and _is_prose(name, value)):
        return None
    return start, end


def header_value(match: Match, text: str) -> Span | None:
    """The value; a single word, as in "authorization: failed", is none."""
    span = captured(match, text)
    value = text[slice(*span)]
    return None if is_placeholder(value) or PROSE.fullmatch(value) else span


def argument(match: Match, text: str) -> Span | None:
    """What follows an option of a command, unless it is the next word of a sentence."""
    span = captured(match, text)
    value = text[slice(*span)]
    return span if is_secret("argument", value) and not FUNCTION_WORD.fullmatch(value) else None


def bearer(match: Match, text: str) -> Span | None:
    """The token after the word "bearer"; a plain word is none."""
    span = match.span(1)
    value = text[slice(*span)]
    return span if any(c.isdigit() for c in value) or len(value) >= 30 else None


def basic(match: Match, text: str) -> Span | None:
    """The user and password in Base64; words after "basic" are no credentials."""
    span = match.span(1)
    encoded = text[slice(*span)]
    try:
        decoded = base64.b64decode(encoded + "=" * (-len(encoded) % 4))
    except ValueError:
        return None
    return span if b":" in decoded else None


def pem_body(match: Match, text: str) -> Span:
    """What is between the BEGIN and the END line; without an END, the lines that look encoded."""
    start = match.span()[1]
    end = text.find("-----", start, start + PEM_LIMIT)
    if end < 0 or not text.startswith("-----END", end):
        lines = PEM_LINES.match(text, start)
        end = lines.end() if lines else start
    return start, end


def pem_line(match: Match, text: str) -> Span | None:
    """The line of a key in a record of its own; a path, hash or name of that length stays."""
    start, end = match.span(1)
    value = text[start:end]
    is_hex = not value.strip("0123456789abcdefABCDEF")
    if is_hex or sum(map(str.isdigit, value)) < LEAST_DIGITS:
        return None
    return (start, end) if len(CLASS_CHANGES.findall(value)) >= LEAST_CHANGES else None


def _is_prose(name: str, word: str) -> bool:
    """True for the next word of a sentence: `password: is`, `token: acquired`."""
    if PASSWORD.search(name):
        return FUNCTION_WORD.fullmatch(word) is not None
    return PROSE.fullmatch(word) is not None


def _end_of_bare(text: str, start: int, end: int) -> int:
    """Where a value without quotes ends: at a `,` or `;` only when another `name=` follows it."""
    run = RUN.match(text, end)
    if run and not run["names"]:
        end = run.end()
    return start + len(text[start:end].rstrip(AFTER_A_VALUE))
