"""JQL that a model wrote, read by us and written anew, so that nothing passes that we do not know.

Understood are clauses of a field, a comparison and values, joined by AND, OR, NOT and parentheses.
Every value comes out quoted: whatever it was written as, it is a value afterwards. No functions but
those of time, no history (WAS, CHANGED), no ORDER BY.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

from connectors.jira_tracker.literal import literal
from copilot.errors import UsageError

TOKEN = re.compile(
    r"""\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|(!=|!~|>=|<=|[=~<>(),])|(cf\[\d+\])"""
    r"""|([\w.@+:/-]+))""",
    re.DOTALL,
)
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
WHITE = {"t": "\t", "n": "\n", "r": "\r"}
COMPARISONS = {"=", "!=", "~", "!~", ">", ">=", "<", "<="}
FUNCTION = re.compile(r"(now|currentuser|(start|end)of(day|week|month|year))", re.IGNORECASE)
LONGEST = 1000
DEEPEST = 20
EXPECTED = 'write it like: status = "Open" AND (summary ~ "timeout" OR labels in (disk))'

Token: TypeAlias = tuple[str, str]
"""Its kind (`value`, `sign`, `word`, `field`) and its text."""


def restriction(jql: str) -> str:
    """The restriction in *jql*, written anew. Raises UsageError for what is not understood."""
    if len(jql) > LONGEST:
        raise UsageError(f"the JQL is longer than {LONGEST} characters")
    reader = _Reader(_tokens(jql))
    text = reader.joined(0)
    if reader.rest:
        raise _refused(f"{reader.rest[0][1]!r} is out of place")
    return text


def _tokens(jql: str) -> list[Token]:
    tokens: list[Token] = []
    at, end = 0, len(jql.rstrip())
    while at < end:
        match = TOKEN.match(jql, at)
        if not match:
            raise _refused(f"{jql[at:].strip()[:10]!r} is not understood")
        double, single, sign, field, word = match.groups()
        quoted = double if double is not None else single
        if quoted is not None:
            tokens.append(("value", ESCAPE.sub(_plain, quoted)))
        else:
            kind = "sign" if sign else "field" if field else "word"
            tokens.append((kind, sign or field or word))
        at = match.end()
    return tokens


def _plain(match: re.Match[str]) -> str:
    code, character = match.groups()
    return chr(int(code, 16)) if code else WHITE.get(character, character)


def _refused(why: str) -> UsageError:
    return UsageError(f"this JQL cannot be used: {why}; {EXPECTED}")


class _Reader:
    """Reads tokens from the front of `rest`, and gives the text of what it read."""

    def __init__(self, rest: list[Token]) -> None:
        self.rest = rest

    def joined(self, depth: int) -> str:
        """Clauses joined by AND and OR; JQL binds AND first, and the text keeps its order."""
        text = self._part(depth)
        while self.rest and (word := self._word("and", "or")):
            text += f" {word.upper()} {self._part(depth)}"
        return text

    def _part(self, depth: int) -> str:
        if depth > DEEPEST:
            raise _refused("it is nested too deeply")
        if self._word("not"):
            return f"NOT {self._part(depth + 1)}"
        if self._sign("("):
            inside = self.joined(depth + 1)
            self._need(")")
            return f"({inside})"
        field = self._field()
        return f"{field} {self._comparison()}"

    def _field(self) -> str:
        kind, text = self._next("a field")
        if kind == "sign" or text.lower() in {"order", "and", "or"}:
            raise _refused(f"{text!r} stands where a field should")
        return text if kind == "field" else literal(text)

    def _comparison(self) -> str:
        if self._word("is"):
            sign = "is not" if self._word("not") else "is"
            if not self._word("empty", "null"):
                raise _refused(f"`{sign}` takes EMPTY only")
            return f"{sign} EMPTY"
        if self._word("not"):
            if not self._word("in"):
                raise _refused("NOT after a field takes IN only")
            return f"not in {self._values()}"
        if self._word("in"):
            return f"in {self._values()}"
        kind, text = self._next("a comparison")
        if kind != "sign" or text not in COMPARISONS:
            raise _refused(f"{text!r} is no comparison")
        return f"{text} {self._value()}"

    def _values(self) -> str:
        self._need("(")
        values = [self._value()]
        while self._sign(","):
            values.append(self._value())
        self._need(")")
        return f"({', '.join(values)})"

    def _value(self) -> str:
        kind, text = self._next("a value")
        if kind == "word" and text.lower() in {"empty", "null"}:
            return "EMPTY"
        if kind not in {"word", "value"}:
            raise _refused(f"{text!r} stands where a value should")
        if kind == "value" or not self._sign("("):
            return literal(text)
        if not FUNCTION.fullmatch(text):
            raise _refused(f"the function {text!r} is not allowed")
        argument = "" if self.rest and self.rest[0] == ("sign", ")") else self._value()
        self._need(")")
        return f"{text}({argument})"

    def _next(self, wanted: str) -> Token:
        if not self.rest:
            raise _refused(f"it ends where {wanted} should stand")
        return self.rest.pop(0)

    def _take(self, fits: Callable[[Token], bool]) -> str:
        return self.rest.pop(0)[1] if self.rest and fits(self.rest[0]) else ""

    def _word(self, *words: str) -> str:
        return self._take(lambda token: token[0] == "word" and token[1].lower() in words)

    def _sign(self, sign: str) -> bool:
        return bool(self._take(lambda token: token == ("sign", sign)))

    def _need(self, sign: str) -> None:
        if not self._sign(sign):
            raise _refused(f"a `{sign}` is missing")
