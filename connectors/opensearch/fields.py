"""What can be filtered on: every field with its most frequent values, level and source first."""

from collections import Counter
from collections.abc import Iterator, Sequence

from connectors.log_files.levels import level_of_word
from connectors.logbook import Coverage, Field, Fields, Filters
from connectors.opensearch.answers import Answer, together
from connectors.opensearch.entries import value_at
from connectors.opensearch.layout import BETWEEN
from connectors.opensearch.query import Query, select
from connectors.opensearch.schema import Schema
from connectors.opensearch.searches import Searches
from connectors.opensearch.span import span_bodies, span_of
from copilot.values import Json, JsonObject, list_at, object_at
from copilot.window import ALWAYS

VALUES = 8
COUNTED = 100
"""Fields whose values are counted; a mapping may have thousands."""
PAIRS = 10_000
SAMPLED = 500


def fields(searches: Searches) -> Fields:
    """Every field with its most frequent values; level and source first."""
    schema = searches.schema
    everything, _ = select(schema, Filters())
    names = [name for name in schema.keywords if name != schema.time.name][:COUNTED]
    bodies = [_body(everything, _own_sums() if schema.own else _sums(schema, names))]
    texts = sorted(schema.texts - {schema.message})[:COUNTED]
    if texts:
        listed: list[Json] = list(texts)
        newest: JsonObject = {"query": {"match_all": {}}, "size": SAMPLED, "_source": listed,
                              "sort": list(schema.order("desc"))}  # fmt: skip
        bodies.append(newest)
    answers = searches.many([*span_bodies(schema, everything, ALWAYS), *bodies], "list the fields")
    span = span_of(schema, ALWAYS, answers[:3])
    counted = answers[3]
    found = list(_own(counted) if schema.own else _foreign(counted, names))
    notes = list(schema.notes)
    if texts:
        found += _in_sample(texts, answers[4])
        notes.append(f"{', '.join(texts[:8])}: text, counted in the newest {SAMPLED} entries only")
    left_out = len(schema.keywords) - len(names)
    if left_out > 0:
        notes.append(f"{left_out} further fields can be filtered on and were not counted")
    why = together((span.why, *(answer.why_incomplete for answer in answers[3:])))
    return Fields(
        _time_field(schema), span.total.value, span.first, span.last, tuple(found),
        Coverage(why, span.untimed, tuple(notes)),
    )  # fmt: skip


def _body(query: Query, sums: JsonObject) -> JsonObject:
    return {"query": query.clause(), "size": 0, "aggs": sums, "track_total_hits": True}


def _time_field(schema: Schema) -> str:
    time = schema.time
    unit = f", a number of {time.unit} since 1970" if time.kind == "number" else f" ({time.kind})"
    return f"{time.name}{unit}"


def _terms(name: str, size: int = VALUES) -> JsonObject:
    return {"terms": {"field": name, "size": size}}


def _own_sums() -> JsonObject:
    return {
        "level": _terms("level"),
        "source": _terms("source"),
        "names": _terms("names", PAIRS),
        "pairs": _terms("pairs", PAIRS),
    }


def _own(answer: Answer) -> Iterator[Field]:
    levels = [(value, count) for value, count in _counts(answer, "level") if value]
    yield Field("level", sum(count for _, count in levels), tuple(levels))
    yield _field(answer, "source", "source")
    values: dict[str, Counter[str]] = {}
    for text, count in _counts(answer, "pairs"):
        name, _, value = text.partition(BETWEEN)
        values.setdefault(name, Counter())[value] += count
    for name, count in sorted(_counts(answer, "names")):
        yield Field(name, count, tuple(values.get(name, Counter[str]()).most_common(VALUES)))


def _sums(schema: Schema, names: Sequence[str]) -> JsonObject:
    sums: JsonObject = {"_source": _terms(schema.source)}
    if schema.level:
        sums["_level"] = _terms(schema.level, 100)
    for name in names:
        exact = schema.keywords[name]
        sums[name.replace("[", "(").replace("]", ")")] = _terms(exact)
    return sums


def _foreign(answer: Answer, names: Sequence[str]) -> Iterator[Field]:
    levels = Counter[str]()
    for word, count in _counts(answer, "_level"):
        levels[level_of_word(word)] += count
    del levels[""]
    yield Field("level", levels.total(), tuple(levels.most_common(VALUES)))
    yield _field(answer, "_source", "source")
    for name in names:
        found = _field(answer, name.replace("[", "(").replace("]", ")"), name)
        if found.count:
            yield found


def _field(answer: Answer, key: str, name: str) -> Field:
    counts = _counts(answer, key)
    others = object_at(answer.sums, key).get("sum_other_doc_count")
    rest = others if isinstance(others, int) else 0
    return Field(name, sum(count for _, count in counts) + rest, tuple(counts))


def _in_sample(texts: Sequence[str], answer: Answer) -> Iterator[Field]:
    for name in texts:
        values = (value_at(hit.source, name) for hit in answer.hits)
        counts = Counter(value[:200] for value in values if isinstance(value, str))
        if counts:
            yield Field(name, counts.total(), tuple(counts.most_common(VALUES)))


def _counts(answer: Answer, key: str) -> list[tuple[str, int]]:
    found = []
    for bucket in list_at(object_at(answer.sums, key), "buckets"):
        if isinstance(bucket, dict):
            value = bucket.get("key_as_string", bucket.get("key"))
            count = bucket.get("doc_count")
            found.append((str(value), count if isinstance(count, int) else 0))
    return found
