"""Whatever is asked for: the indices are the configured ones, and no clause can leave them."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.logbook import Filters, Latest, Search
from connectors.opensearch import OpenSearchLogbook, Outside, Site
from connectors.opensearch.caller import Pace
from copilot.errors import CopilotError
from copilot.window import ALWAYS, Window
from tests.connectors.opensearch.conftest import Script, Scripted, always, answered
from tests.connectors.opensearch.test_patience import DAY

CLAUSES = {
    "bool", "match_all", "match_phrase", "term", "terms", "range", "exists",
    "ids", "simple_query_string", "function_score",
}  # fmt: skip
BOOL = {"must", "filter", "must_not", "should", "minimum_should_match"}
SEARCH = {
    "query", "size", "sort", "search_after", "timeout", "track_total_hits", "docvalue_fields",
    "_source", "aggs",
}  # fmt: skip
SUMS = {"terms", "max", "sum", "date_histogram", "composite", "filter"}
ESCAPES = [
    "_all", "*", "ops-*,-x", "<ops-{now/d}>", "other:ops", "%6fps", '{"index": "secret"}',
    "*password*", "/.*/", "_exists_:x", "secret.field:x", "a OR _index:secret", '"',
    'x" OR "y', "\\", "NEAR/3", "~2", "a~", "(((", "-", "+x", "user:*", "[now TO *]",
]  # fmt: skip


def clauses(query: Any) -> Iterator[str]:
    """Yield the kind of each clause, and fail on anything that is no clause."""
    assert isinstance(query, dict)
    assert len(query) == 1, query
    [(kind, inside)] = query.items()
    yield kind
    if kind == "bool":
        assert set(inside) <= BOOL
        for name in BOOL - {"minimum_should_match"}:
            given_ = inside.get(name, [])
            for clause in given_ if isinstance(given_, list) else [given_]:
                yield from clauses(clause)
    elif kind == "function_score":
        assert set(inside) == {"query", "random_score"}
        yield from clauses(inside["query"])
    elif kind == "terms":
        assert all(isinstance(values, list) for values in inside.values()), "a lookup elsewhere"
    elif kind == "term":
        assert all(isinstance(value, str) for value in inside.values())
    elif kind == "simple_query_string":
        assert inside["flags"] == "PREFIX"
        assert not inside["query"].startswith(("*", "?"))


def sums(aggregations: Any) -> Iterator[str]:
    """Yield the kind of each aggregation."""
    for body in aggregations.values():
        for kind, inside in body.items():
            if kind == "aggs":
                yield from sums(inside)
            else:
                yield kind
                if kind == "filter":
                    assert set(clauses(inside)) <= CLAUSES


def check(script: Script) -> None:
    """Fail unless every request so far stays inside."""
    for ask in script.asked:
        if ask.path.endswith("_search/point_in_time"):
            assert ask.path in {"logs-*/_search/point_in_time", "_search/point_in_time"}
            continue
        assert (ask.method, ask.path) == ("POST", "_msearch")
        assert isinstance(ask.body, list)
        assert all(header["index"] == ["logs-*"] for header in ask.body[::2])
    for search in script.searches:
        assert set(search) <= SEARCH
        assert search["size"] <= 10_000
        assert set(clauses(search["query"])) <= CLAUSES
        assert set(sums(search.get("aggs", {}))) <= SUMS


def scripted_book(script: Script) -> OpenSearchLogbook:
    script.outcomes = [always(answered())]
    pace = Pace(lambda: 0.0, lambda _: None, lambda: 0.5)
    return OpenSearchLogbook(
        Site("https://logs.example", ("logs-*",)), name="app", outside=Outside(pace, sender=script)
    )


TEXTS = st.text(max_size=60) | st.sampled_from(ESCAPES) | st.lists(st.sampled_from(ESCAPES), max_size=4).map(" ".join)  # fmt: skip


@given(TEXTS, TEXTS, TEXTS, TEXTS)
@settings(max_examples=200)
@pytest.mark.bad_input("B51", "B52", "B53")
def test_no_text_field_or_source_becomes_another_kind_of_query(
    text: str, name: str, value: str, source: str
) -> None:
    script = Script()
    book = scripted_book(script)
    filters = Filters(text=text, fields={name: value}, sources=(source,))

    for question in (
        lambda: book.search(Search(filters, DAY)),
        lambda: book.search(Search(filters, order="ranked", limit=10**6)),
        lambda: book.overview(DAY, filters, timedelta(hours=1)),
        lambda: book.patterns(DAY, None, filters),
        lambda: book.trace(text, Window(None, DAY.end), 50),
        lambda: book.latest(Latest("pod", filters, filters, after=value)),
        lambda: book.context(source, 0, 1, 1),
        lambda: book.context(source, 1, 1, 1),
        book.fields,
    ):
        try:
            question()
        except CopilotError:
            continue
    check(script)


@pytest.mark.bad_input("B54")
def test_the_sizes_that_a_model_may_ask_for_are_bounded(scripted: Scripted, script: Script) -> None:
    scripted(always(answered(total=5))).search(Search(limit=10**6, window=DAY))

    assert max(search["size"] for search in script.searches) <= 10_000


@pytest.mark.parametrize("text", ["*", "*password", "pre*fix", "/a.*b/", "a?c", "x~2"])
def test_no_wildcard_but_at_the_end_of_a_word_is_sent(script: Script, text: str) -> None:
    book = scripted_book(script)

    book.search(Search(Filters(text=text), ALWAYS))

    for search in script.searches:
        for kind in clauses(search["query"]):
            assert kind not in {"wildcard", "regexp", "query_string", "prefix", "fuzzy"}
    check(script)
