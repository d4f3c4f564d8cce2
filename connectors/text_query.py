"""What a person or a model types, into a full-text expression that SQLite accepts. Always.

A word is a run of letters, digits and underscores, whatever stands around it: `prod-db` is found in
`prod-db:3333)`, `c.log` in `/a/b/c.log`. A term with punctuation inside must occur exactly so:
`prod-db` does not find `prod db`. Case is ignored. Terms must all occur; `"a phrase"` asks for
words in a row, `-term` excludes, `term*` is a prefix, `one OR other` (capitals) needs one of both.
"""

import re
from dataclasses import dataclass

from copilot.errors import UsageError

TERM = re.compile(r'-?"[^"]*"?\*?|\S+')
WORD = re.compile(r"\w+")
INNER = re.compile(r"\w[^\w\s]+\w")
MAX_TERMS = 60


@dataclass(frozen=True, slots=True)
class Term:
    """One word or phrase. `exact` is set where its punctuation must be checked in the text.

    It is not where there are letters beyond ASCII: SQLite would not ignore their case there.
    """

    text: str
    prefix: bool
    exact: bool

    @property
    def expression(self) -> str:
        """The term in FTS5's own language: quoted, so that nothing in it is an operator."""
        quoted = '"' + self.text.replace('"', '""') + '"'
        return quoted + ("*" if self.prefix else "")


@dataclass(frozen=True, slots=True)
class TextQuery:
    """All of `groups` must occur, one term of each; none of `excluded` may."""

    groups: tuple[tuple[Term, ...], ...]
    excluded: tuple[Term, ...]
    bare: tuple[str, ...] = ()
    """Terms of punctuation only, which no index of words holds."""

    @property
    def match(self) -> str:
        """The FTS5 expression, empty when there is no word to look for."""
        wanted = " AND ".join(
            "(" + " OR ".join(term.expression for term in group) + ")" for group in self.groups
        )
        unwanted = " OR ".join(term.expression for term in self.excluded if not term.exact)
        return f"({wanted}) NOT ({unwanted})" if wanted and unwanted else wanted

    @property
    def exact(self) -> tuple[str, ...]:
        """What must be in the text as it stands, punctuation included."""
        alone = [group[0] for group in self.groups if len(group) == 1]
        return (*(term.text for term in alone if term.exact), *self.bare)

    @property
    def unwanted(self) -> tuple[str, ...]:
        """What must not be in the text and could not be left to the index."""
        return tuple(term.text for term in self.excluded if term.exact or not self.groups)

    @property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """The groups as plain pieces of text, for a search within words."""
        groups = tuple(tuple(term.text for term in group) for group in self.groups)
        return groups + tuple((text,) for text in self.bare)


def parse(text: str) -> TextQuery:
    """The query that *text* asks for. Raises UsageError when it is far too long."""
    clean = text.replace("\x00", " ").encode("utf-8", "replace").decode()
    raw_terms = TERM.findall(clean)
    if len(raw_terms) > MAX_TERMS:
        raise UsageError(
            f"the text has {len(raw_terms)} words; at most {MAX_TERMS} can be searched"
        )
    groups: list[tuple[Term, ...]] = []
    excluded: list[Term] = []
    bare: list[str] = []
    joining = negated = False
    for raw in raw_terms:
        if raw in {"OR", "AND", "NOT"}:
            joining, negated = raw == "OR" and bool(groups), raw == "NOT"
            continue
        minus = raw[0] == "-" and len(raw) > 1 and raw[1] != "-"
        term = _term(raw[1:] if minus else raw)
        if term is None:
            bare.append(raw)
        elif minus or negated:
            excluded.append(term)
        elif joining:
            groups[-1] = (*groups[-1], term)
        else:
            groups.append((term,))
        joining = negated = False
    return TextQuery(tuple(groups), tuple(excluded), () if groups else tuple(bare))


def phrase(text: str) -> TextQuery:
    """The query for *text* as one exact whole: an identifier, never an expression."""
    clean = text.replace("\x00", " ").encode("utf-8", "replace").decode().strip()
    if not WORD.search(clean):
        raise UsageError(f"{text!r} holds no letter or digit; an identifier is needed")
    exact = clean.isascii() and not WORD.fullmatch(clean)
    return TextQuery(((Term(clean, prefix=False, exact=exact),),), ())


def _term(raw: str) -> Term | None:
    """The term, or None where there is no word in it."""
    if not WORD.search(raw):
        return None
    prefix = raw.endswith("*") and len(raw) > 1
    if raw[0] == '"':
        return Term(raw.strip('"*'), prefix=prefix, exact=False)
    start, end = _core(raw)
    core = raw[start:end]
    return Term(core, prefix=prefix, exact=core.isascii() and bool(INNER.search(core)))


def _core(raw: str) -> tuple[int, int]:
    """Where the first word of *raw* starts and its last one ends."""
    spans = [match.span() for match in WORD.finditer(raw)]
    return spans[0][0], spans[-1][1]
