"""What the offline investigator understands of an alert."""

from datetime import UTC, datetime

import pytest

from copilot.models.model import Request
from copilot.models.offline.entities import is_identifier, looks_like_name
from copilot.models.offline.reading import Brief, read_brief
from copilot.prompt import first_message
from copilot.values import JsonObject
from copilot.window import ALWAYS


def brief(title: str, text: str = "", question: str = "", **more: object) -> Brief:
    """The brief of an alert with that title and text, and of a question."""
    alert: JsonObject = {"title": title, "text": text, "labels": {}} | more  # type: ignore[assignment]
    message = first_message(
        alert,
        incident="inc-1",
        question=question,
        sources={"logbooks": [{"name": "logs"}]},
        history={},
    )
    block = {"type": "text", "text": message}
    return read_brief(Request("offline", (), (), ({"role": "user", "content": [block]},), 1000))


def test_the_most_telling_label_is_the_subject() -> None:
    labels = {"alertname": "PodDown", "namespace": "shop", "pod": "cart-7f9c9d5b8d-x1x2x"}
    found = brief("PodDown", labels=labels)
    assert found.subject == "cart-7f9c9d5b8d-x1x2x"
    assert "PodDown" not in [entity.text for entity in found.entities]


def test_the_scrape_job_of_an_exporter_is_no_subject() -> None:
    labels = {"prometheus": "main", "job": "node-exporter", "instance": "10.0.0.1:9100"}
    assert not brief("Something", labels=labels).entities


@pytest.mark.parametrize(
    "word", ["wf_20310506_77", "170608_123905", "T9_XX_Lakes", "ledger-db-primary", "QueueKeeper"]
)
def test_what_looks_like_no_word_is_a_name(word: str) -> None:
    assert looks_like_name(word)


@pytest.mark.parametrize("word", ["stalled", "2031-05-06", "07:41", "90%", "250ms", "e.g"])
def test_words_times_and_sizes_are_no_names(word: str) -> None:
    assert not looks_like_name(word)


def test_only_long_names_with_digits_mean_one_thing() -> None:
    assert is_identifier("order-9001-310506")
    assert not is_identifier("QueueKeeper")


def test_a_clock_time_belongs_to_the_only_date_of_the_text() -> None:
    found = brief("OrdersFail: orders fail since about 09:26 UTC on 2031-05-06.")
    assert found.times == (datetime(2031, 5, 6, 9, 26, tzinfo=UTC),)


def test_a_clock_time_without_any_date_is_no_time() -> None:
    assert not brief("OrdersFail: orders fail since 09:26").times


def test_a_question_for_every_cause_is_heard() -> None:
    assert brief("Errors", "Give every distinct cause with its count.").wants_every_cause
    assert not brief("Errors", "Give the cause.").wants_every_cause


def test_a_request_without_an_alert_is_an_empty_brief() -> None:
    message = {"role": "user", "content": "hello"}
    assert read_brief(Request("offline", (), (), (message,), 1000)).title == ""


@pytest.mark.parametrize("word", ["2026-11-28T10:00:00Z", "2026-11-28T10:00:00.250+01:00"])
def test_an_instant_is_no_name(word: str) -> None:
    assert not looks_like_name(word)


def test_what_stands_for_a_secret_is_nothing_to_look_for() -> None:
    found = brief(
        "JobStalled: job_77_a fails",
        "login <secret:password:4f27> refused",
        labels={"service": "<secret:basic-auth:0a1b>"},
    )
    assert [entity.text for entity in found.entities] == ["job_77_a"]


def test_the_window_of_a_question_is_a_window_and_no_words() -> None:
    line = "Window: [2026-11-28T10:00:00Z, 2026-11-28T12:00:00Z) UTC"
    found = brief("wf_1", question=f"Why?\n{line}")
    assert str(found.window) == "[2026-11-28T10:00:00Z, 2026-11-28T12:00:00Z)"
    assert (found.question, found.times) == ("Why?", ())
    assert [entity.text for entity in found.entities] == ["wf_1"]


def test_a_window_that_ends_before_it_starts_is_none() -> None:
    line = "Window: [2026-11-28T12:00:00Z, 2026-11-28T10:00:00Z) UTC"
    assert brief("wf_1", question=line).window == ALWAYS
