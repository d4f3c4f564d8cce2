"""What an endpoint supports: asked once, probed where nobody answers, kept for a day."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from copilot.errors import ModelError
from copilot.models.discovery import Discovery
from copilot.models.model import Json, Request, Response
from copilot.models.support import Support, from_capabilities, refused_features

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
DESCRIBED: Json = {
    "capabilities": {
        "context_management": {"clear_tool_uses_20250919": {"supported": True}},
        "compaction": {"supported": True, "summarize": {"supported": True}},
    }
}


@dataclass
class Fake:
    """An endpoint that may describe itself, and takes or refuses a probe."""

    described: Json | None = None
    refusal: ModelError | None = None
    name: str = "claude-sonnet-4-6"
    asked: list[Request] = field(default_factory=list)

    def describe(self) -> Json | None:
        """Return what it says of itself."""
        return self.described

    def respond(self, request: Request) -> Response:
        """Take the probe, or refuse it."""
        self.asked.append(request)
        if self.refusal:
            raise self.refusal
        return Response({"content": [], "usage": {"input_tokens": 8, "output_tokens": 1}})


def test_what_the_models_api_says_is_believed_without_a_probe(tmp_path: Path) -> None:
    model = Fake(DESCRIBED)

    found = Discovery(tmp_path / "book.json", lambda: NOON).find(model, "http://a", {})

    assert (found.support.clear_tool_uses, found.support.on_demand) == (True, True)
    assert (found.support.threshold, found.origin, model.asked) == (False, "models api", [])


@pytest.mark.parametrize("key", ["max_input_tokens", "max_model_len"])
def test_the_window_that_the_endpoint_tells_is_remembered(tmp_path: Path, key: str) -> None:
    model = Fake(DESCRIBED | {key: 32_768})
    discovery = Discovery(tmp_path / "book.json", lambda: NOON)

    first = discovery.find(model, "http://a", {})
    discovery.remember(model.name, "http://a", Support())
    later = discovery.find(model, "http://a", {})

    assert (first.window, later.window) == (32_768, 32_768)
    assert later.support == Support()


def test_an_endpoint_that_tells_no_window_is_taken_by_the_price_table(tmp_path: Path) -> None:
    found = Discovery(tmp_path / "book.json", lambda: NOON).find(Fake(DESCRIBED), "http://a", {})

    assert found.window is None


def test_without_a_models_api_one_request_of_one_token_is_sent_and_its_cost_is_told(
    tmp_path: Path,
) -> None:
    model = Fake()

    found = Discovery(tmp_path / "book.json", lambda: NOON).find(model, "http://a", {})

    assert [request.max_tokens for request in model.asked] == [1]
    assert (found.support.clear_tool_uses, found.origin) == (True, "probe")
    assert found.paid is not None


def test_a_refused_probe_means_that_we_do_it_ourselves(tmp_path: Path) -> None:
    model = Fake(refusal=ModelError("context_management: Extra inputs", kind="invalid"))

    found = Discovery(tmp_path / "book.json", lambda: NOON).find(model, "http://a", {})

    assert not found.support.clear_tool_uses


def test_a_probe_that_cannot_be_answered_is_no_verdict(tmp_path: Path) -> None:
    model = Fake(refusal=ModelError("down", kind="network", retryable=True))

    with pytest.raises(ModelError):
        Discovery(tmp_path / "book.json", lambda: NOON).find(model, "http://a", {})

    assert not (tmp_path / "book.json").exists()


@pytest.mark.parametrize(("later", "asks"), [(timedelta(hours=23), 1), (timedelta(hours=25), 2)])
def test_a_verdict_holds_for_a_day(tmp_path: Path, later: timedelta, asks: int) -> None:
    model = Fake()
    Discovery(tmp_path / "book.json", lambda: NOON).find(model, "http://a", {})

    Discovery(tmp_path / "book.json", lambda: NOON + later).find(model, "http://a", {})

    assert len(model.asked) == asks


@pytest.mark.parametrize("content", ["", "[]", "{", '{"http://a claude-sonnet-4-6": {}}'])
def test_a_book_that_cannot_be_read_is_written_anew(tmp_path: Path, content: str) -> None:
    (tmp_path / "book.json").write_text(content)

    found = Discovery(tmp_path / "book.json", lambda: NOON).find(Fake(DESCRIBED), "http://a", {})

    assert found.origin == "models api"


def test_an_operator_who_knows_better_is_believed(tmp_path: Path) -> None:
    book = Discovery(tmp_path / "book.json", lambda: NOON)

    found = book.find(Fake(DESCRIBED), "http://a", {"clear_tool_uses": False})

    assert not found.support.clear_tool_uses


def test_missing_parts_of_a_description_are_not_supported() -> None:
    assert from_capabilities({}, binds_thinking=False) == Support(diagnostics=True)


def request(**parts: Any) -> Request:
    """A request that uses some levers."""
    return Request(model="m", system=(), tools=(), messages=(), max_tokens=1, **parts)


@pytest.mark.parametrize(
    ("said", "features"),
    [
        (
            "context_management: Extra inputs are not permitted",
            {"clear_tool_uses", "clear_thinking", "threshold"},
        ),
        ("context_management.edits.0: tag 'clear_thinking_20251015'", {"clear_thinking"}),
        (
            "Unexpected value(s) `compact-2026-09-04` for the anthropic-beta header",
            {"on_demand", "threshold"},
        ),
        ("diagnostics: Extra inputs are not permitted", {"diagnostics"}),
        ("messages.1.content.0: Invalid `signature` in `thinking` block", set()),
        ("prompt is too long", set()),
    ],
)
def test_a_refusal_names_the_levers_that_it_is_about(said: str, features: set[str]) -> None:
    used = request(context_management={"edits": []}, betas=("context-management-2025-06-27",))

    assert set(refused_features(used, said)) == features


def test_a_request_without_levers_has_none_to_leave_out() -> None:
    assert refused_features(request(), "context_management: Extra inputs are not permitted") == ()
