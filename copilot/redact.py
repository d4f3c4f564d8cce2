"""The one redactor: what looks like a secret becomes a stable token before anything keeps it.

`<secret:aws:3f2a>` names the kind and the start of a keyed hash, so that the same secret can be
followed through logs and tickets and never be read from them. Text around it stays, line for line.
"""

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import re2

from copilot.redaction_checks import is_secret, names_a_secret
from copilot.redaction_rules import EMAIL, RULES
from copilot.shadow import Shadow, is_plain, shadow_of, views_of
from copilot.values import JsonT, with_texts

TOKEN = re.compile(r"<secret:[a-z0-9-]{1,24}:[0-9a-f]{4}>")
"""What was redacted already; it is never redacted again."""
PIECE = re.compile(r"[^\s\0](?:[^\n\0]*[^\s\0])?")
"""What one token replaces: a span never loses a line break, nor a token inside it."""
SCHEME = re.compile(r"(?i)(?:bearer|basic|token|negotiate|ntlm)\s+")
PASSES = 4
"""A token is a border to what stands beside it, and can so uncover one more secret."""
MEMORY_BYTES = 16 << 20
"""What the automaton of all rules, or of one, may grow to with the texts that it meets. A full one
begins anew and finds the same. Ordinary logs need 3 MiB."""


@dataclass(frozen=True, slots=True)
class _Hit:
    """A secret in a shadow; a rule of a lower rank is more particular."""

    start: int
    end: int
    rank: int
    name: str


class Redactor:
    """Redacts with one workspace's *key*: tokens of two workspaces cannot be matched up."""

    def __init__(self, key: bytes, *, emails: bool = False) -> None:
        self._key = key
        self._rules = (*RULES, EMAIL) if emails else RULES
        options = re2.Options()
        options.max_mem = MEMORY_BYTES
        self._patterns = [re2.compile(rule.pattern, options) for rule in self._rules]
        self._any = re2.Set.SearchSet(options)
        for rule in self._rules:
            self._any.Add(rule.pattern)
        self._any.Compile()

    def redact(self, text: str) -> str:
        """The text with a token for every secret; it has as many lines as before."""
        return self.redact_counted(text)[0]

    def redact_counted(self, text: str) -> tuple[str, Mapping[str, int]]:
        """The same, with how many secrets of each kind were found."""
        counts: Counter[str] = Counter()
        if is_plain(text, TOKEN) and not self._any.Match(text):
            return text, counts  # nearly all texts, at a fifth of the price
        for _ in range(PASSES):
            before = text
            for view in views_of(before):
                shadow = shadow_of(text, TOKEN, view)
                hits = _merged(self._hits(shadow.text))
                counts.update(hit.name for hit in hits)
                text = self._masked(text, shadow, hits)
            if text == before:
                break
        return text, counts

    def redact_json(self, value: JsonT) -> JsonT:
        """The JSON value with every text redacted; keys stay, and tell what else is a secret."""
        return with_texts(value, self._redact_named)

    def _redact_named(self, name: str, text: str) -> str:
        """The text redacted; all of it when it is the value of a secret's name."""
        if names_a_secret(name):
            shadow = shadow_of(text, TOKEN)
            scheme = SCHEME.match(shadow.text)
            start = scheme.end() if scheme else 0
            if is_secret(name, shadow.text[start:]):
                whole = _Hit(start, len(shadow.text), len(self._rules), "password")
                text = self._masked(text, shadow, _merged([*self._hits(shadow.text), whole]))
        return self.redact(text)

    def _hits(self, seen: str) -> list[_Hit]:
        return [
            _Hit(*span, rank, self._rules[rank].name)
            for rank in self._any.Match(seen) or ()
            for match in self._patterns[rank].finditer(seen)
            if (span := self._rules[rank].locate(match, seen)) and PIECE.search(seen, *span)
        ]

    def _masked(self, text: str, shadow: Shadow, hits: Iterable[_Hit]) -> str:
        parts = []
        done = 0
        for hit in hits:
            for piece in PIECE.finditer(shadow.text, hit.start, hit.end):
                start, end = shadow.span(*piece.span())
                parts += [text[done:start], self._token(hit.name, piece.group())]
                done = end
        return "".join([*parts, text[done:]])

    def _token(self, name: str, secret: str) -> str:
        mark = hmac.new(self._key, secret.encode(), hashlib.sha256).hexdigest()[:4]
        return f"<secret:{name}:{mark}>"


def _merged(hits: Iterable[_Hit]) -> list[_Hit]:
    """The hits from left to right; those that overlap are one, named by the most particular."""
    merged: list[_Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, hit.rank)):
        if not merged or hit.start >= merged[-1].end:
            merged.append(hit)
            continue
        last = merged.pop()
        first = min(last, hit, key=lambda hit: hit.rank)
        merged.append(_Hit(last.start, max(last.end, hit.end), first.rank, first.name))
    return merged
