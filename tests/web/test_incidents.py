"""Incidents over HTTP: seen, cancelled, retried, asked for."""

import json

import pytest

from tests.web.desk import TITLE
from tests.web.served import Served

INCIDENT = "/v1/incidents/inc-20260131-3fa9c1"


def test_the_incidents_are_listed_by_status(served: Served) -> None:
    answer = served.get("/v1/incidents?status=running&limit=5")

    assert answer.json == {"incidents": [{"id": "inc-20260131-3fa9c1", "status": "running"}]}


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=1001", "limit=-1", "limit=x", "limit=²", "status=A", "odd=1",
              "incident=../x", f"limit={'9' * 1000}"],
)  # fmt: skip
def test_a_query_that_means_nothing_is_refused(served: Served, query: str) -> None:
    answer = served.get(f"/v1/incidents?{query.replace('²', '%C2%B2')}")

    assert answer.status == 400
    assert answer.error


def test_a_title_comes_back_as_it_was_typed_and_is_no_page(served: Served) -> None:
    answer = served.get(INCIDENT)

    assert answer.json["title"] == TITLE
    assert answer.headers["content-type"] == "application/json"
    assert answer.body.isascii()


@pytest.mark.parametrize(
    "name", ["inc-20260131-000000", "*", "..%2f..%2fetc", "%00", "INC", "a" * 65, "%0aX", "-x"]
)
def test_an_incident_that_is_not_there_is_not_found(served: Served, name: str) -> None:
    answer = served.get(f"/v1/incidents/{name}")

    assert answer.status == 404
    assert answer.error


def test_a_person_cancels_with_a_reason_and_retries(served: Served) -> None:
    cancelled = served.post(f"{INCIDENT}/cancel", b'{"reason": "known"}')
    retried = served.ask("POST", f"{INCIDENT}/retry")

    assert cancelled.json["status"] == "cancelled"
    assert retried.json["status"] == "waiting"
    assert served.desk.acts == [
        ("cancel", "inc-20260131-3fa9c1", "known"),
        ("retry", "inc-20260131-3fa9c1"),
    ]


def test_what_is_asked_for_is_accepted_with_its_incident(served: Served) -> None:
    asked = {"incident": "inc-20260131-3fa9c1", "question": "why?", "turns": 3, "usd": 0.5}

    answer = served.post("/v1/investigations", json.dumps(asked).encode())

    assert answer.status == 202
    assert answer.json == {"id": "inc-20260131-3fa9c1"}
    assert served.desk.asked == [asked]


@pytest.mark.parametrize(
    "body",
    [b"[]", b"null", b"{", b"{}", b'{"question": "why?"}', b'{"alert": {}, "incident": "x"}',
     b'{"incident": 7}', b'{"incident": ""}', b'{"alert": {}, "question": []}',
     b'{"alert": {}, "tools": "x"}', b"[" * 100_000,
     b'{"alert": []}', b'{"alert": {}, "turns": 0}', b'{"alert": {}, "turns": 1.5}',
     b'{"alert": {}, "usd": Infinity}', b'{"alert": {}, "usd": NaN}', b'{"alert": {}, "usd": true}',
     b'{"alert": {}, "usd": "1"}', b'{"incident": "../x"}', b'{"alert": {}, "model": {}}'],
)  # fmt: skip
def test_an_order_that_cannot_be_read_is_refused(served: Served, body: bytes) -> None:
    answer = served.post("/v1/investigations", body)

    assert answer.status == 400
    assert answer.error
    assert served.desk.asked == []
