r"""JQL as Jira reads it, for the part that tickets are searched with: words, quotes, clauses.

Written from the documentation and apart from the connector, so that the two can disagree. What is
reserved must be quoted; in quotes only `\" \' \\ \t \n \r \ ` and `\uXXXX` are escapes, and a raw
line break is an error.
"""

import re
from dataclasses import dataclass
from typing import TypeAlias

WORDS = """abort access add after alias all alter and any are as asc at audit avg be before begin
between boolean break but by byte catch cf char character check checkpoint collate collation
column commit connect continue count create current date decimal declare decrement default
defaults define delete delimiter desc difference distinct divide do double drop else empty
encoding end equals escape exclusive exec execute exists explain false fetch file field first
float for from function go goto grant greater group having identified if immediate in increment
index initial inner inout input insert int integer intersect intersection into is isempty
isnull it join last left less like limit lock long max min minus mode modify modulo more
multiply next no noaudit not notin nowait null number object of on option or order outer output
power previous prior privileges public raise raw remainder rename resource return returns
revoke right row rowid rownum rows select session set share size sqrt start strict string
subtract such sum synonym table that the their then there these they this to trans transaction
trigger true uid union unique update user validate values view was when whenever where while
will with"""
RESERVED = frozenset(WORDS.split())
TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>"(?:\\[^\r\n]|[^"\\\r\n])*"|'(?:\\[^\r\n]|[^'\\\r\n])*')"""
    r"""|(?P<sign>!=|!~|>=|<=|[=~<>(),]|&&|\|\|)"""
    r"""|(?P<word>[^\s"'()=!~<>,;?|*/%^$#@\[\]{}&+.\\`:]+))"""
)
ESCAPE = re.compile(r"""\\(?:([tnr\\'" ])|u([0-9a-fA-F]{4})|(.))""")
PLAIN = {"t": "\t", "n": "\n", "r": "\r"}
OPERATORS = ("=", "!=", "~", "!~", ">", ">=", "<", "<=")


class JqlRefused(Exception):
    """What Jira answers with a 400."""


@dataclass(frozen=True, slots=True)
class Clause:
    """`field operator values`; a list and a single value look alike but for the operator."""

    field: str
    operator: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """Clauses joined by `and` or `or`, or one of them after `not`."""

    how: str
    parts: tuple["Node", ...]


Node: TypeAlias = Clause | Joined


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: its restriction, if it has one, and how it sorts."""

    where: Node | None
    order: tuple[tuple[str, bool], ...]
    """Field and whether it descends."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a quoted text or a sign, and where it began."""

    kind: str
    text: str
    at: int


def parse(jql: str) -> Query:
    """The query in *jql*. Raises JqlRefused with Jira's words."""
    return _Reader(_tokens(jql)).query()


def _tokens(jql: str) -> list[Token]:
    tokens = []
    at = 0
    end = len(jql.rstrip())
    while at < end:
        match = TOKEN.match(jql, at)
        if not match:
            raise JqlRefused(_said(f"The character '{jql[at:].lstrip()[:1]}' is reserved", at))
        kind = match.lastgroup or ""
        raw = match.group(kind)
        if any(ord(character) < 32 or character == "\x7f" for character in raw):
            raise JqlRefused(_said("a control character must be escaped", at))
        tokens.append(Token(kind, _unquoted(raw) if kind == "quoted" else raw, match.start(kind)))
        at = match.end()
    return tokens


def _unquoted(raw: str) -> str:
    def plain(match: re.Match[str]) -> str:
        simple, code, illegal = match.groups()
        if illegal is not None:
            raise JqlRefused(_said(f"'\\{illegal}' is an illegal JQL escape sequence.", 0))
        return chr(int(code, 16)) if code else PLAIN.get(simple, simple)

    return ESCAPE.sub(plain, raw[1:-1])


def _said(what: str, at: int) -> str:
    return f"Error in the JQL Query: {what} (line 1, character {at + 1})"


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def query(self) -> Query:
        where = None if self._is_word("order") or not self._peek() else self._or()
        order = []
        if self._take_word("order"):
            if not self._take_word("by"):
                self._fail("'by'")
            order.append(self._sorting())
            while self._take_sign(","):
                order.append(self._sorting())
        if self._peek():
            self._fail("'AND', 'OR' or the end")
        return Query(where, tuple(order))

    def _sorting(self) -> tuple[str, bool]:
        field = self._name()
        descends = self._take_word("desc")
        if not descends:
            self._take_word("asc")
        return field, descends

    def _or(self) -> Node:
        parts = [self._and()]
        while self._take_word("or") or self._take_sign("||"):
            parts.append(self._and())
        return Joined("or", tuple(parts)) if len(parts) > 1 else parts[0]

    def _and(self) -> Node:
        parts = [self._not()]
        while self._take_word("and") or self._take_sign("&&"):
            parts.append(self._not())
        return Joined("and", tuple(parts)) if len(parts) > 1 else parts[0]

    def _not(self) -> Node:
        if self._take_word("not"):
            return Joined("not", (self._not(),))
        if self._take_sign("("):
            inside = self._or()
            self._expect(")")
            return inside
        return self._clause()

    def _clause(self) -> Clause:
        field = self._name()
        operator = self._operator()
        if not operator.endswith("in"):
            return Clause(field, operator, (self._value(),))
        self._expect("(")
        values = [self._value()]
        while self._take_sign(","):
            values.append(self._value())
        self._expect(")")
        return Clause(field, operator, tuple(values))

    def _operator(self) -> str:
        if self._take_word("not"):
            if not self._take_word("in"):
                self._fail("'in'")
            return "not in"
        if self._take_word("in"):
            return "in"
        if self._take_word("is"):
            return "is not" if self._take_word("not") else "is"
        token = self._peek()
        if token and token.kind == "sign" and token.text in OPERATORS:
            self.at += 1
            return token.text
        raise JqlRefused(_said("Expecting operator", token.at if token else 0))

    def _name(self) -> str:
        return self._literal("a field name").lower()

    def _value(self) -> str:
        if self._take_word("empty") or self._take_word("null"):
            return ""
        return self._literal("a value")

    def _literal(self, wanted: str) -> str:
        token = self._peek()
        if not token or token.kind == "sign":
            self._fail(wanted)
            raise AssertionError
        if token.kind == "word" and token.text.lower() in RESERVED:
            raise JqlRefused(
                _said(
                    f"'{token.text}' is a reserved JQL word. You must surround it in quotation "
                    "marks to use it in a query.",
                    token.at,
                )
            )
        self.at += 1
        return token.text

    def _peek(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _is_word(self, word: str) -> bool:
        token = self._peek()
        return token is not None and token.kind == "word" and token.text.lower() == word

    def _take_word(self, word: str) -> bool:
        found = self._is_word(word)
        self.at += found
        return found

    def _take_sign(self, sign: str) -> bool:
        token = self._peek()
        found = token is not None and token.kind == "sign" and token.text == sign
        self.at += found
        return found

    def _expect(self, sign: str) -> None:
        if not self._take_sign(sign):
            self._fail(f"'{sign}'")

    def _fail(self, wanted: str) -> None:
        token = self._peek()
        got = f"'{token.text}'" if token else "the end of the query"
        raise JqlRefused(_said(f"Expecting {wanted} but got {got}.", token.at if token else 0))
