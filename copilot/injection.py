r"""Whether a text speaks to the model: orders, roles, calls and tags that no log line needs.

A sign for the reader, never a filter: what is flagged stays visible word for word, and what is not
flagged is no less data. The model is assumed to obey whatever it reads; every bound on what it can
do stands elsewhere (docs/explanation/untrusted-text.md).
"""

import base64
import html
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from unicodedata import normalize
from urllib.parse import unquote

import re2

from copilot.injection_rows import columns_of, first_across
from copilot.injection_rules import RULES
from copilot.safe_regex import encodable
from copilot.safe_text import UNSAFE
from copilot.values import Json, JsonObject

LONGEST = 200_000
"""Characters of one text that are looked at: a longer one is cut, as scratch shows it in slices."""
COLOUR = re.compile(r"(?:\x1b|\\x1b|\\u001b|\\033)\[[0-9;]*m")
SPELLED = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})")
"""A character as `safe_text` and JSON spell it."""
TAGS = range(0xE0020, 0xE007F)
"""Invisible twins of ASCII: whole sentences are written in them."""
MIXED = re.compile(r"[A-Za-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][A-Za-z]")
"""Two scripts in one word, which no language has."""
WORD = re.compile(r"\w+")
LOOKALIKE = str.maketrans("асеорхуіјѕԁһӏкмтвнАСЕОРХУІЈЅКМТВНαεικνορτυχΑΒΕΗΙΚΜΝΟΡΤΥΧΖ",
                          "aceopxyijsdhlkmtbhACEOPXYIJSKMTBHaeiknoptuxABEHIKMNOPTYXZ")  # fmt: skip
SPREAD = re.compile(r"\b[^\W_]([ ._*-])(?:[^\W_]\1){2,}[^\W_]\b")
"""A word with the same sign between any two letters."""
ENCODED = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
"""What may be Base64 or hex."""
MOST_DECODED = 50


def is_instruction_like(text: str) -> bool:
    """True when *text* reads as if it were addressed to the model."""
    return any(_rules().Match(encodable(view)) for view in _views(text[:LONGEST]))


def sign(rows: Sequence[Json], said: JsonObject) -> JsonObject:
    """Which rows, and which entries of what is *said* beside them, read so; empty when none does.

    `lines` counts the rows, `first` is the number of the first one, `across` of the first one with
    which an order begins that only several rows make together, `in` names the entries.
    """
    lines = [number for number, row in enumerate(rows, start=1) if _any_in(row)]
    flagged = {*lines}
    others = (
        (number, columns_of(row, _texts))
        for number, row in enumerate(rows, start=1)
        if number not in flagged
    )
    across = first_across(others, is_instruction_like)
    names: list[Json] = [name for name, value in said.items() if _any_in({name: value})]
    found: JsonObject = {"lines": len(lines), "first": lines[0]} if lines else {}
    return found | ({"across": across} if across else {}) | ({"in": names} if names else {})


def folded(text: str) -> str:
    """The text as its author wants it read: nothing hidden, look-alikes as what they look like."""
    if "\x1b" in text or "\\" in text:
        text = SPELLED.sub(_spoken, COLOUR.sub("", text))
    if not text.isascii():
        text = UNSAFE.sub(lambda match: _unhidden(match.group()), text)
        text = normalize("NFKC", text)
        if MIXED.search(text):
            text = WORD.sub(_as_it_looks, text)
    return text


@cache
def _rules() -> re2.Set:
    options = re2.Options()
    options.case_sensitive = False
    rules = re2.Set.SearchSet(options)
    for rule in RULES:
        rules.Add(rule)
    rules.Compile()
    return rules


def _views(text: str) -> Iterator[str]:
    """The text, and what it is once what a reader would decode is decoded."""
    text = folded(text)
    yield text
    if "%20" in text or "%3C" in text or "%3c" in text:
        yield folded(unquote(text))
    if "&" in text and ";" in text:
        yield folded(html.unescape(text))
    joined = SPREAD.sub(lambda match: re.sub(r"[ ._*-]", "", match.group()), text)
    if joined != text:
        yield joined
    for match in islice(ENCODED.finditer(text), MOST_DECODED):
        for decoded in _decoded(match.group()):
            yield folded(decoded)


def _as_it_looks(match: re.Match[str]) -> str:
    word = match.group()
    return word.translate(LOOKALIKE) if MIXED.search(word) else word


def _any_in(value: Json) -> bool:
    return is_instruction_like("\n".join(_texts(value)))


def _spoken(match: re.Match[str]) -> str:
    """The character that an escape spells; nothing for one that shows nothing."""
    code = int(match[1] or match[2] or match[3], 16)
    return _unhidden(chr(code)) if code <= 0x10FFFF else ""


def _unhidden(sign: str) -> str:
    if ord(sign) in TAGS:
        return chr(ord(sign) - 0xE0000)
    return "" if UNSAFE.fullmatch(sign) else sign


def _decoded(word: str) -> Iterator[str]:
    """The readable text that *word* is Base64 or hex of; none for a hash, a path or an id."""
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    for decode, given in (
        (base64.b64decode, plain + "=" * (-len(plain) % 4)),
        (bytes.fromhex, word),
    ):
        try:
            text = decode(given).decode()
        except ValueError:
            continue
        if text.isprintable() and " " in text:
            yield text


def _texts(value: Json) -> Iterator[str]:
    """Every key and text in *value*."""
    pending: list[Json] = [value]
    while pending:
        match pending.pop():
            case str() as text:
                yield text
            case list() as items:
                pending += reversed(items)
            case dict() as named:
                yield from named
                pending += reversed(named.values())
            case _:
                pass
