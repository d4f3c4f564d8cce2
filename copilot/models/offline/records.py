"""Structured records: JSON documents whose lists and values tell more than any message.

Asks what is empty, what differs between copies, where the alert's own codes and places stand, and
how the siblings look; `record_facts.py` reads the answers.
"""

from collections.abc import Iterator

from copilot.models.offline.queries import SHOWN, TROUBLE
from copilot.models.offline.transcript import Exchange
from copilot.models.offline.view import View
from copilot.models.offline.wants import Want
from copilot.values import JsonObject, text_at

TREE = "FROM rows, json_tree(CASE WHEN json_valid(rows.message) THEN rows.message ELSE '0' END) t"
HERE = "rows.ref AS ref, rows.source AS source, rows.line AS line"
PLACE = "CASE WHEN t.path = '$' THEN t.fullkey ELSE t.path END"
SIBLINGS = 300
COMPARED = 24
"""Records that are few enough to compare their lists one by one."""


def ask_records(view: View) -> Iterator[Want]:
    """Questions to the records that the alert names, and a sample of their siblings."""
    for item in structured(view)[:1]:
        handle = item.answer.handle
        yield Want("query_scratch", {"handle": handle, "sql": _troubles(), "top": 8})
        yield Want("query_scratch", {"handle": handle, "sql": _lists(), "top": 12})
        codes = [
            entity.text
            for entity in view.brief.entities
            if entity.weight > 1 or entity.text.isdigit()
        ]
        if codes:
            yield Want("query_scratch", {"handle": handle, "sql": _places(codes), "top": 12})
        if item.answer.lines <= COMPARED:
            yield Want("query_scratch", {"handle": handle, "sql": _copies(), "top": 16})
        siblings = _siblings(item)
        if siblings:
            yield siblings


def ask_siblings(view: View) -> Iterator[Want]:
    """The same question about lists to the siblings."""
    for item in view.transcript.of_step("records"):
        if item.tool == "search_logbook" and item.answer.lines:
            yield Want("query_scratch", {"handle": item.answer.handle, "sql": _lists(), "top": 12})


def structured(view: View) -> list[Exchange]:
    """The searches that brought JSON records, those of the alert's own names first."""
    found = [
        item
        for item in view.transcript.of_step("probe")
        if item.answer.lines
        and not item.input.get("since")
        and any(_is_document(row) for row in item.answer.rows)
    ]
    named = [item for item in found if text_at(item.input, "text")]
    return named or found


def _is_document(row: JsonObject) -> bool:
    """True for a record of its own; a line of JSON beside its like is a message."""
    message = text_at(row, "message").lstrip()
    return message.startswith("{") and ("record" in row or "\n" in message)


def _siblings(item: Exchange) -> Want | None:
    """A search for records of the same files that do not hold the alert's name."""
    sources = sorted({text_at(row, "source") for row in item.answer.rows})
    if not text_at(item.input, "text") or not any("record" in row for row in item.answer.rows):
        return None
    return Want(
        "search_logbook",
        {
            "logbook": text_at(item.input, "logbook"),
            "sources": list(sources),
            "text": f"-{text_at(item.input, 'text')}",
            "order": "oldest",
            "limit": SIBLINGS,
        },
    )


def _troubles() -> str:
    return (
        f"SELECT {HERE}, rows.time AS time, t.path AS path, t.key AS key, t.type AS type, "
        f"substr(t.value,1,{SHOWN}) AS value {TREE} WHERE t.type = 'text' AND length(t.value) > 12 "
        f"AND (t.value REGEXP '{TROUBLE}' OR t.path REGEXP '(?i)error|fail|exception') "
        "ORDER BY (t.path REGEXP '(?i)error|fail|exception') DESC, rows.source, rows.line LIMIT 8"
    )


def _lists() -> str:
    """For each place of lists: how many there are, how many are empty, and the first empty one."""
    return (
        f"SELECT {PLACE} AS place, sum(t.value = '[]') AS empty, count(*) AS lists, "
        f"count(DISTINCT rows.ref) AS records, {HERE}, t.key AS key, "
        "min(CASE WHEN t.value = '[]' THEN rows.line END) AS first "
        f"{TREE} WHERE t.type = 'array' AND t.path NOT LIKE '%[%' GROUP BY 1 "
        "ORDER BY (t.path = '$'), 2 DESC LIMIT 12"
    )


def _places(names: list[str]) -> str:
    """Where in the records the alert's own names and codes stand."""
    values = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
    return (
        f"SELECT {HERE}, t.path AS path, t.key AS key, t.type AS type, t.value AS value, "
        f"count(DISTINCT rows.ref) AS records, min(rows.line) AS first {TREE} "
        f"WHERE t.atom IS NOT NULL AND (t.value || '') IN ({values}) "
        "GROUP BY t.value, CASE WHEN typeof(t.key) = 'integer' THEN 'item' ELSE t.key END "
        "ORDER BY first LIMIT 12"
    )


def _copies() -> str:
    """The lists of few records one by one, to compare those that have the same key."""
    return (
        f"SELECT {HERE}, t.path AS path, t.key AS key, t.value AS value {TREE} "
        "WHERE t.type = 'array' AND t.path != '$' AND t.path NOT LIKE '%[%' "
        "AND length(t.value) < 300 ORDER BY t.fullkey, rows.source LIMIT 16"
    )
