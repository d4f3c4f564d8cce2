"""What a refusal means, and when the next try makes sense."""

from datetime import UTC, datetime

import pytest

from copilot.errors import ModelError
from copilot.models.faults import Fault, model_error, retry_after
from copilot.models.retries import Attempt, Retries

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after": "30"}, 30.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Sun, 29 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 29 Nov 2026 12:00:30 -0000"}, 30.0),
        ({"retry-after-ms": "1500", "retry-after": "30"}, 1.5),
        ({"retry-after": "86400"}, 86_400.0),
        ({"retry-after": "Sun, 29 Nov 2026 11:00:00 GMT"}, None),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_both_forms(headers: dict[str, str], wait_s: float | None) -> None:
    assert retry_after(headers, NOON) == wait_s


@pytest.mark.parametrize(
    ("fault", "kind", "retryable"),
    [
        (Fault(200, "overloaded_error"), "overloaded", True),
        (Fault(200, "rate_limit_error"), "rate_limit", True),
        (Fault(200, "invalid_request_error"), "invalid", False),
        (Fault(200, "new_error"), "broken", True),
        (Fault(529, code="compaction_unavailable"), "overloaded", True),
        (Fault(418), "invalid", False),
        (Fault(502), "failed", True),
        (Fault(200, "api_error"), "failed", True),
        (Fault(408), "network", True),
        (Fault(429, code="ramp_limit_exceeded"), "rate_limit", True),
        (Fault(429, code="enforced_spend_limit_reached"), "spend_cap", False),
    ],
)
def test_an_error_is_judged_by_its_status_or_inside_a_stream_by_its_type(
    fault: Fault, kind: str, *, retryable: bool
) -> None:
    error = model_error(fault, {}, model="claude-opus-5-5", now=NOON)

    assert (error.kind, error.retryable) == (kind, retryable)


def test_a_spend_cap_is_not_retried_even_if_the_header_says_so() -> None:
    fault = Fault(429, code="enforced_spend_limit_reached")

    assert not model_error(fault, {"x-should-retry": "true"}, model="m", now=NOON).retryable


def test_a_message_says_what_was_asked_what_was_said_and_what_to_do() -> None:
    fault = Fault(400, "invalid_request_error", "compaction_block_misplaced", "no\n" * 400, "req_9")

    text = str(model_error(fault, {}, model="claude-opus-5-5", now=NOON))

    assert "claude-opus-5-5" in text
    assert "HTTP 400 invalid_request_error/compaction_block_misplaced req_9" in text
    assert "sending it again is no use" in text
    assert len(text) < 800


def test_the_last_error_goes_up_when_the_tries_are_used_up() -> None:
    waits: list[float] = []
    attempts: list[Attempt] = []
    retries = Retries(sleep=waits.append, random=lambda: 1.0, tries=3)

    def refuse() -> None:
        raise ModelError("busy", kind="overloaded", retryable=True)

    with pytest.raises(ModelError, match="busy"):
        retries.run(refuse, attempts.append)

    assert waits == [2.0, 4.0]
    assert [attempt.wait_s for attempt in attempts] == [2.0, 4.0, None]


@pytest.mark.parametrize("luck", [0.0, 0.5, 1.0])
def test_waits_keep_their_promises_whatever_the_luck(luck: float) -> None:
    retries = Retries(sleep=lambda _s: None, random=lambda: luck)
    silent = ModelError("busy", kind="overloaded", retryable=True)
    asking = ModelError("busy", kind="rate_limit", retryable=True, wait_s=30.0)
    asking_much = ModelError("busy", kind="rate_limit", retryable=True, wait_s=119.0)

    assert all(1 <= (retries.wait_s(silent, number) or 0) <= 60 for number in range(1, 20))
    assert 30 <= (retries.wait_s(asking, 1) or 0) <= 39
    assert 119 <= (retries.wait_s(asking_much, 1) or 0) <= 120
