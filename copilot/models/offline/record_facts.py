"""What the answers about structured records mean: empty lists, copies that differ, codes, texts."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from copilot.models.offline.causes import Sign, Strength, class_called
from copilot.models.offline.lines import Line
from copilot.models.offline.ranking import Candidate
from copilot.models.offline.transcript import Transcript
from copilot.values import JsonObject, object_at, text_at

STRUCTURE_POINTS = 9.0
SHOWN_ITEMS = 4
STEP = re.compile(r'\."([^"]+)"|\.?([^.\[\]]+)|\[\d+\]')
BY_VALUE = re.compile(r"\d|/")
"""A key that is a value itself: a dataset, a block, a host."""
WORDS_OF_A_SENTENCE = 3


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement about records with the lines that carry it, each with its quote."""

    claim: str
    evidence: tuple[tuple[str, str], ...]
    """Reference and quote."""
    line: Line
    explains: bool = False
    """True when it could be the cause, not only a circumstance."""


def facts(transcript: Transcript, subject: str) -> tuple[Fact, ...]:
    """All that the records show, what could be a cause first."""
    found: list[Fact] = []
    for item in transcript.of_step("records"):
        rows = [object_at(row, "values") for row in item.answer.rows]
        if not rows:
            continue
        if "empty" in rows[0]:
            found += _empty(rows, _sibling_lists(transcript), subject)
        elif "records" in rows[0]:
            found += _named([row for row in rows if text_at(row, "value") != subject])
        elif "type" not in rows[0] and "path" in rows[0]:
            found += _differing(rows)
    return tuple(sorted(found, key=lambda fact: not fact.explains))


def texts(transcript: Transcript) -> Iterator[Line]:
    """The texts of trouble inside the records, as lines that can be ranked and cited."""
    rows = [
        object_at(row, "values")
        for item in transcript.of_step("records")
        for row in item.answer.rows
    ]
    codes = {
        (text_at(row, "ref"), text_at(row, "path")): text_at(row, "value")
        for row in rows
        if "records" in row and "type" in row
    }
    for row in rows:
        if "type" in row and "time" in row:
            code = codes.get((text_at(row, "ref"), text_at(row, "path")), "")
            line = _line(row, text_at(row, "value"))
            if len(line.message.split()) < WORDS_OF_A_SENTENCE:
                continue  # a name or an address: it stands for something, it says nothing
            yield replace(line, level=_level(row), fields={"code": code} if code else {})


def _level(row: JsonObject) -> str:
    """A text that stands under a name such as `errors` is one, whatever it says."""
    return (
        "ERROR" if re.search(r"error|fail|exception", text_at(row, "path"), re.IGNORECASE) else ""
    )


def as_candidate(fact: Fact) -> Candidate:
    """A fact that explains, as a candidate among the others."""
    sign = Sign(class_called("locations"), Strength.DIRECT)
    return Candidate((fact.line,), sign, STRUCTURE_POINTS, is_noise=False, is_related=True)


def _empty(
    rows: list[JsonObject], siblings: dict[str, tuple[int, int]], subject: str
) -> Iterator[Fact]:
    """Lists that are empty here, unless they are empty in every sibling too."""
    for row in rows:
        empty, lists = _int(row, "empty"), _int(row, "lists")
        place, key = text_at(row, "place"), text_at(row, "key")
        there = siblings.get(place)
        usual = there is not None and there[0] == there[1]
        # A list with a fixed name may be empty by nature; one that is named by a value may not.
        by_value = bool(re.search(r"\d|/", key)) and not place.endswith(key)
        if 2 * empty < lists or usual or not (by_value or there):
            continue
        others = (
            f"; in other records {there[1] - there[0]} of {there[1]} are filled" if there else ""
        )
        claim = (
            f"The list {plain(place)} is empty in {empty} of {lists} cases for `{subject}`{others}."
        )
        yield Fact(claim, ((text_at(row, "ref"), f'"{key}"'),), _line(row, key), explains=True)


def _named(rows: list[JsonObject]) -> Iterator[Fact]:
    """Where the alert's names and codes stand in the records."""
    for row in rows:
        key, value = text_at(row, "key"), text_at(row, "value")
        is_item = isinstance(row.get("key"), int)
        place = text_at(row, "path") if is_item else f"{text_at(row, 'path')}.{key}"
        bare = f'"{value}"' if row.get("type") == "text" else value
        quote = bare if is_item or row.get("type") == "text" else f'"{key}": {bare}'
        claim = f"`{value}` stands under {plain(place)} in {_records(_int(row, 'records'))}."
        yield Fact(claim, ((text_at(row, "ref"), quote),), _line(row, value))


def plain(path: str) -> str:
    """A path of JSON in words: `$.Inputs` is Inputs; names that are values come in backticks."""
    steps = STEP.findall(path.removeprefix("$"))
    keys = [quoted or bare for quoted, bare in steps if quoted or bare]
    fixed = ".".join(key for key in keys if not BY_VALUE.search(key))
    values = [f"`{key}`" for key in keys if BY_VALUE.search(key)]
    return " of ".join(filter(None, (fixed, *values))) or "the record"


def _records(count: int) -> str:
    return "one record" if count == 1 else f"{count} records"


def _differing(rows: list[JsonObject]) -> Iterator[Fact]:
    """Copies of one list that are not alike: shorter in one place than in the other."""
    groups: dict[str, list[tuple[JsonObject, list[str]]]] = {}
    for row in rows:
        items = _items(text_at(row, "value"))
        groups.setdefault(f"{text_at(row, 'path')} {text_at(row, 'key')}", []).append((row, items))
    for copies in groups.values():
        copies.sort(key=lambda copy: len(copy[1]))
        (least, few), (most, many) = copies[0], copies[-1]
        if set(few) == set(many) or text_at(least, "ref") == text_at(most, "ref"):
            continue
        gone = [item for item in many if item not in few]
        claim = (
            f"Two copies of one list differ: {text_at(least, 'source')} has {_listed(few)}, "
            f"{text_at(most, 'source')} has {_listed(many)}."
        )
        quoted = f'"{few[0]}"' if few else f'"{text_at(least, "key")}": []'
        evidence = ((text_at(least, "ref"), quoted), (text_at(most, "ref"), f'"{gone[0]}"'))
        yield Fact(claim, evidence, _line(least, text_at(least, "key")), explains=True)


def _sibling_lists(transcript: Transcript) -> dict[str, tuple[int, int]]:
    """Empty lists and all lists of the siblings, by place."""
    found: dict[str, tuple[int, int]] = {}
    for item in transcript.of_step("siblings"):
        for row in item.answer.rows:
            values = object_at(row, "values")
            found[text_at(values, "place")] = (_int(values, "empty"), _int(values, "lists"))
    return found


def _line(row: JsonObject, message: str) -> Line:
    return Line(
        reference=text_at(row, "ref"),
        source=text_at(row, "source"),
        line=_int(row, "line"),
        record=None,
        time=text_at(row, "time"),
        level="",
        message=message,
        path=f"{text_at(row, 'path')}.{text_at(row, 'key')}",
    )


def _listed(items: list[str]) -> str:
    if not items:
        return "none"
    more = f" and {len(items) - SHOWN_ITEMS} more" if len(items) > SHOWN_ITEMS else ""
    return ", ".join(items[:SHOWN_ITEMS]) + more


def _items(text: str) -> list[str]:
    try:
        value = json.loads(text)
    except ValueError:
        return []
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _int(row: JsonObject, key: str) -> int:
    value = row.get(key)
    return value if isinstance(value, int) else 0
