"""A person's words as an FTS5 MATCH expression that can never be a syntax error.

Every word is quoted, so that no operator of the query language is left in it. FTS5 splits an
identifier such as `wf_01234-a.b` into a phrase: it is found whole, in parts, and never scattered.
The index must use the tokenizer named here.
"""

import re
from collections.abc import Iterable

TOKENIZER = "unicode61 remove_diacritics 2"
WORD = re.compile(r'"([^"]*)"?|([^\s"]+)')
UNFIT = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
MOST_WORDS = 64


def quoted_words(text: str) -> tuple[str, ...]:
    """The words and "quoted phrases" of *text*, each as a safe FTS5 term; a last `*` is a prefix.

    Repeated words count once, and at most the first 64 are taken.
    """
    words: dict[str, None] = {}
    for phrase, word in WORD.findall(UNFIT.sub(" ", text)):
        found = phrase or word
        if any(character.isalnum() for character in found):
            prefix = "*" if word.endswith("*") else ""
            words[f'"{found}"{prefix}'] = None
    return tuple(words)[:MOST_WORDS]


def match_all(words: Iterable[str]) -> str:
    """The expression for rows that hold every word."""
    return " AND ".join(words)


def match_any(words: Iterable[str]) -> str:
    """The expression for rows that hold one word or more; rank them by `bm25`."""
    return " OR ".join(words)


def storable(text: str) -> str:
    """The text as SQLite can bind it: lone surrogates, which no UTF-8 holds, become `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")
