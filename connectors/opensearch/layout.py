"""How `copilot logbook import` keeps entries: one document each, in a mapping of our own.

Times are in nanoseconds, so that no microsecond is lost. A message is indexed twice: as words, the
way the embedded logbook cuts them, and with every mark of punctuation as a word of its own, so that
`prod-db` is told from `prod db` by the server. Named values are pairs in one field: a logbook of
thousands of JSON keys must not become a mapping of thousands of fields.
"""

from collections.abc import Mapping

from connectors.opensearch.words import Searched
from copilot.values import JsonObject

MARK = "copilot_layout_1"
"""A field that never holds anything: its being mapped says that the layout is ours."""
TIME = "@timestamp"
OWN_SEARCHED = (Searched("message", "message.exact"), Searched("extra", "extra.exact"))
BARE = ("@timestamp", "time_flag", "level", "source", "line", "part", "record", "verbatim")
"""What is read of an entry that is too large to be read whole."""
BETWEEN = "\x00"
LONGEST_WORD = 1_000
"""Characters of a word that are indexed; Lucene refuses words of 32,766 bytes."""


def _text() -> JsonObject:
    return {
        "type": "text",
        "analyzer": "words",
        "fields": {"exact": {"type": "text", "analyzer": "exact", "norms": False}},
    }


def index_body(shards: int = 1) -> JsonObject:
    """The settings and the mapping of an index of ours."""
    cut: JsonObject = {"type": "truncate", "length": LONGEST_WORD}
    return {
        "settings": {
            "number_of_shards": shards,
            "auto_expand_replicas": "0-1",
            "analysis": {
                "filter": {"cut": cut},
                "tokenizer": {
                    "words": _tokens(r"\w+"),
                    "exact": _tokens(r"\w+|\W"),
                },
                "analyzer": {
                    name: {"tokenizer": name, "filter": ["lowercase", "cut"]}
                    for name in ("words", "exact")
                },
            },
        },
        "mappings": {
            "dynamic": False,
            "properties": {
                MARK: {"type": "boolean"},
                TIME: {"type": "date_nanos"},
                "time_flag": {"type": "keyword"},
                "level": {"type": "keyword"},
                "source": {"type": "keyword"},
                "line": {"type": "integer"},
                "part": {"type": "integer"},
                "lines": {"type": "integer"},
                "import": {"type": "keyword"},
                "pairs": {"type": "keyword", "ignore_above": 8191},
                "names": {"type": "keyword"},
                "message": _text(),
                "extra": _text(),
            },
        },
    }


def pair(name: str, value: str) -> str:
    """A named value as `pairs` holds it: those of one name are neighbours in the order of terms."""
    return f"{name}{BETWEEN}{value}"


def pairs_of(fields: Mapping[str, str]) -> list[str]:
    """All named values of an entry as `pairs` holds them."""
    return [pair(name, value) for name, value in fields.items()]


def _tokens(pattern: str) -> JsonObject:
    flags = "UNICODE_CHARACTER_CLASS"  # else \w is ASCII only
    return {"type": "pattern", "pattern": pattern, "flags": flags, "group": 0}
