"""The bodies that others pasted in public: each is told in words of its own, none as "nothing"."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from connectors.logbook import Filters, Latest, Search
from connectors.opensearch import OpenSearchLogbook
from copilot.errors import ConnectorError
from copilot.window import Window
from tests.connectors.opensearch.conftest import (
    Script,
    Scripted,
    Time,
    always,
    answered,
    every,
    reply,
)

WINDOW = Window(datetime(2015, 10, 30, tzinfo=UTC), datetime(2015, 11, 4, tzinfo=UTC))
ALL = sorted(
    [
        "circuit_breaking_old_503",
        "circuit_breaking_parent_429",
        "circuit_breaking_permanent_429",
        "dashboards_proxy_403",
        "date_not_epoch_400",
        "hits_total_object_200",
        "json_parse_400",
        "model_sci_notation_400",
        "msearch_partial_120_shards_200",
        "no_mapping_to_sort_400",
        "ppl_date_400",
        "result_window_too_large",
        "scroll_expired_404",
        "security_exception_403",
        "timed_out_all_shards_successful_200",
        "too_many_shards_bulk_200",
        "total_int_not_object_200",
    ]
)


def body(shared_data: Path, name: str) -> tuple[int, dict[str, Any]]:
    told = json.loads((shared_data / "opensearch" / "errors" / f"{name}.json").read_text())
    return told["status"], told["body"]


def refused(book: OpenSearchLogbook) -> ConnectorError:
    with pytest.raises(ConnectorError) as caught:
        book.search(Search())
    return caught.value


def test_every_body_is_known(shared_data: Path) -> None:
    assert [p.stem for p in sorted((shared_data / "opensearch" / "errors").glob("*"))] == ALL


@pytest.mark.parametrize(
    ("name", "words", "retryable"),
    [
        ("circuit_breaking_old_503", "no memory left.*narrow the window", True),
        ("circuit_breaking_parent_429", "no memory left.*narrow the window", True),
        ("circuit_breaking_permanent_429", "no memory left.*narrow the window", False),
        ("dashboards_proxy_403", "no right to do that.*nothing about what is in there", False),
        ("date_not_epoch_400", r"another format.*fields|another format.*copilot\.yaml", False),
        ("json_parse_400", "Unrecognized token 'POST'", False),
        ("model_sci_notation_400", "another format", False),
        ("no_mapping_to_sort_400", "No mapping found.*has no such field", False),
        ("ppl_date_400", "epoch_millis", False),
        ("result_window_too_large", "page with the cursor", False),
        ("scroll_expired_404", "search again from the start", False),
        ("security_exception_403", "no right to do that", False),
    ],
)
@pytest.mark.parametrize("whole", [True, False], ids=["alone", "in-a-multi-search"])
@pytest.mark.bad_input("B024", "B035", "B038", "B040")
def test_a_refusal_says_what_it_means_and_what_to_do(
    shared_data: Path, scripted: Scripted, name: str, words: str, retryable: bool, whole: bool
) -> None:
    status, told = body(shared_data, name)
    outcome = reply(told, status) if whole else always({**told, "status": status})

    error = refused(scripted(outcome))

    assert error.retryable is retryable
    assert "logbook app could not search in logs-* at https://logs.example" in str(error)
    with pytest.raises(ConnectorError, match=f"(?s){words}"):
        raise error


def test_a_sick_node_is_not_hammered(
    shared_data: Path, scripted: Scripted, script: Script, passing: Time
) -> None:
    status, told = body(shared_data, "circuit_breaking_permanent_429")

    refused(scripted(reply(told, status)))

    assert len(script.asked) == 1
    assert passing.slept == []


@pytest.mark.bad_input("B032")
def test_failed_shards_are_no_proof_of_nothing(shared_data: Path, scripted: Scripted) -> None:
    _, told = body(shared_data, "msearch_partial_120_shards_200")

    found = scripted(always(told)).search(Search(Filters(text="x")))

    assert not found.coverage.complete
    assert "5 of 120 shards failed" in found.coverage.why_incomplete
    assert "search_context_missing_exception" in found.coverage.why_incomplete
    assert "the shards that answered only" in found.coverage.why_incomplete
    assert (found.total.value, found.total.relation) == (0, "at_least")


@pytest.mark.bad_input("B034")
def test_a_search_that_timed_out_is_incomplete_though_no_shard_failed(
    shared_data: Path, scripted: Scripted
) -> None:
    _, told = body(shared_data, "timed_out_all_shards_successful_200")

    found = scripted(always(told)).search(Search())

    assert "stopped at its time limit of 20s" in found.coverage.why_incomplete
    assert found.total.relation == "at_least"


@pytest.mark.parametrize(
    ("name", "value"), [("total_int_not_object_200", 14771), ("hits_total_object_200", 1)]
)
def test_a_total_is_read_in_either_shape(
    shared_data: Path, scripted: Scripted, name: str, value: int
) -> None:
    _, told = body(shared_data, name)

    answer = scripted(always(told)).overview(WINDOW, Filters(), None)

    assert answer.total.value == value


def test_hits_of_a_foreign_index_are_dropped_and_counted(
    shared_data: Path, scripted: Scripted
) -> None:
    _, told = body(shared_data, "hits_total_object_200")

    found = scripted(always(told)).search(Search())

    assert found.entries == ()
    assert "1 hits came from .kibana_-152937574_admintenant" in found.coverage.why_incomplete


def test_an_answer_without_shards_is_not_called_complete(scripted: Scripted) -> None:
    found = scripted(always({"hits": {"total": 0, "hits": []}})).search(Search())

    assert "no _shards" in found.coverage.why_incomplete


def test_a_search_that_ended_early_is_incomplete_but_a_sum_of_opensearch_3_is_whole(
    scripted: Scripted,
) -> None:
    early = {**answered({"_source": {"message": "x"}}), "terminated_early": True}
    book = scripted(always(early))

    assert "terminated_early" in book.search(Search()).coverage.why_incomplete

    sums: dict[str, Any] = {"terminated_early": True, "aggregations": {"values": {"buckets": []}}}
    book = scripted(always({**answered(), **sums}))

    assert book.latest(Latest("pod")).coverage.complete


def test_no_shard_at_all_is_no_proof_of_nothing(scripted: Scripted) -> None:
    none = {"_shards": {"total": 0, "successful": 0, "failed": 0}, "hits": {"total": 0, "hits": []}}

    found = scripted(always(none)).search(Search())

    assert "no index matches, or none may be read" in found.coverage.why_incomplete


def test_a_multi_search_that_lost_an_answer_is_refused(scripted: Scripted) -> None:
    error = refused(scripted(reply(every({}, 1))))

    assert "4 searches got 1 answers" in str(error)


def test_a_page_of_html_is_said_to_be_one(scripted: Scripted) -> None:
    html = reply(b"<html>sign in</html>", 200, content_type="text/html")

    assert "something else than OpenSearch answers" in str(refused(scripted(html)))
    busy = reply(b"<html>502</html>", 502, content_type="text/html")
    assert "busy or something before it is down" in str(refused(scripted(busy)))
