"""The double refuses each field, tool and header that the service refuses."""

import http.client
import json

import pytest

from tests.doubles.conversation import READ, SEARCH, assistant, body, call, result, user
from tests.doubles.messages_api import Json, MessagesApi, Refusal, says
from tests.doubles.test_structure import take

FORCED: Json = {"type": "any"}
COMPACT = {"edits": [{"type": "compact_20260112"}]}
SUMMARIZE = {"type": "summarize"}

WRONG: dict[str, tuple[Json, str]] = {
    "a missing model": ({"model": None}, "model: Field required"),
    "a missing max_tokens": ({"max_tokens": None}, "max_tokens: Field required"),
    "missing messages": ({"messages": None}, "messages: Field required"),
    "an unknown model": ({"model": "gpt-oss"}, "model: gpt-oss"),
    "an unknown field": ({"cach_control": {}}, "cach_control: Extra inputs are not permitted"),
    "temperature": ({"temperature": 0}, "temperature: Extra inputs are not permitted"),
    "top_p": ({"top_p": 1}, "top_p: Extra inputs are not permitted"),
    "top_k": ({"top_k": 1}, "top_k: Extra inputs are not permitted"),
    "edits without their beta": (
        {"context_management": COMPACT},
        "context_management: Extra inputs are not permitted",
    ),
    "compaction without its beta": (
        {"compaction": SUMMARIZE},
        "compaction: Extra inputs are not permitted",
    ),
    "a task budget without its beta": (
        {"output_config": {"task_budget": {"type": "tokens", "total": 50_000}}},
        "output_config.task_budget: Extra inputs are not permitted",
    ),
    "too long an answer": ({"max_tokens": 128_001}, "max_tokens: 128001 > 128000"),
    "a negative answer": ({"max_tokens": -1}, "max_tokens: Input should be"),
    "a streamed warm-up": ({"max_tokens": 0, "stream": True}, "not supported with `stream`"),
    "a tool with a dot": ({"tools": [{**SEARCH, "name": "a.b"}]}, "tools.0.custom.name: String"),
    "a tool of 65 letters": ({"tools": [{**SEARCH, "name": "a" * 65}]}, "tools.0.custom.name"),
    "two tools of one name": ({"tools": [SEARCH, SEARCH]}, "Tool names must be unique"),
    "a schema that is no object": (
        {"tools": [READ, {**SEARCH, "input_schema": {"type": "array"}}]},
        "tools.1.custom.input_schema.type: Input should be 'object'",
    ),
    "an extra field of a tool": (
        {"tools": [{**SEARCH, "parameters": {}}]},
        "tools.0.custom.parameters: Extra inputs are not permitted",
    ),
    "an unknown type of tool": ({"tools": [{**SEARCH, "type": "x"}]}, "tools.0: Input tag 'x'"),
    "21 strict tools": (
        {"tools": [{**SEARCH, "name": f"t{n}", "strict": True} for n in range(21)]},
        "Schema is too complex for compilation.",
    ),
    "a choice without tools": (
        {"tools": None, "tool_choice": {"type": "auto"}},
        "may only be specified while providing `tools`",
    ),
    "a choice of an unknown tool": (
        {"tool_choice": {"type": "tool", "name": "delete"}},
        "Tool 'delete' not found in provided tools",
    ),
    "an unknown choice": ({"tool_choice": {"type": "maybe"}}, "tool_choice: Input tag 'maybe'"),
    "any tool, forced": ({"tool_choice": FORCED}, "not supported by claude-opus-5-5"),
    "one tool, forced": (
        {"tool_choice": {"type": "tool", "name": "search"}, "model": "claude-sonnet-5-5"},
        "not supported by claude-sonnet-5-5",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_field_is_refused(name: str) -> None:
    changes, refusal = WRONG[name]

    with pytest.raises(Refusal) as caught:
        take(body(**changes))

    assert refusal in caught.value.message


@pytest.mark.parametrize(
    "changes",
    [
        {"tool_choice": {"type": "auto"}},
        {"tool_choice": {"type": "none"}},
        {"tool_choice": FORCED, "model": "claude-haiku-5-5"},
        {"tool_choice": {"type": "tool", "name": "read"}, "model": "claude-opus-4-8"},
        {"tools": [{**SEARCH, "name": "a" * 64}]},
        {"system": "You investigate.", "tools": None},
        {"metadata": {"user_id": "x"}, "stop_sequences": ["END"], "diagnostics": {}},
        {"max_tokens": 128_000},
    ],
    ids=str,
)
def test_a_right_field_is_taken(changes: Json) -> None:
    assert take(body(**changes))["type"] == "message"


def test_a_beta_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Refusal, match="Unexpected value"):
        take(body(), "context-management-2025-06-28")


def test_a_prompt_over_the_window_is_refused_with_both_numbers() -> None:
    long = body(user("x" * 700_000), model="claude-haiku-4-5")

    with pytest.raises(Refusal, match=r"prompt is too long: \d+ tokens > 200000 maximum"):
        take(long)


def test_a_warm_up_returns_nothing() -> None:
    assert take(body(max_tokens=0))["content"] == []


def test_a_call_of_a_tool_that_is_gone_is_still_taken() -> None:
    old = [user("Why?"), assistant(call("toolu_1", "gone")), user(result("toolu_1"))]

    assert take(body(*old))["type"] == "message"


HEADERS = {
    "authorization": f"Bearer {MessagesApi.key}",
    "anthropic-version": "2026-10-21",
    "content-type": "application/json",
}


@pytest.mark.parametrize(
    ("change", "status", "refusal"),
    [
        ({"authorization": ""}, 401, "invalid bearer token"),
        ({"authorization": "Bearer other"}, 401, "invalid bearer token"),
        ({"authorization": "", "x-api-key": MessagesApi.key}, 401, "invalid bearer token"),
        ({"anthropic-version": "2023-06-01"}, 400, "is not a valid version"),
        ({"content-length": str(33 * 1024 * 1024)}, 413, "Request exceeds the maximum size"),
    ],
)
def test_a_wrong_header_is_refused(change: dict[str, str], status: int, refusal: str) -> None:
    with MessagesApi(says("never")) as api:
        answer = post(api, "/v1/messages", json.dumps(body()).encode(), {**HEADERS, **change})

    assert (answer[0], answer[1]["error"]["message"].endswith(refusal)) == (status, True)
    assert answer[1]["request_id"].startswith("req_")


def test_a_missing_version_is_refused() -> None:
    with MessagesApi() as api:
        headers = {name: text for name, text in HEADERS.items() if name != "anthropic-version"}
        _, answer = post(api, "/v1/messages", json.dumps(body()).encode(), headers)

    assert answer["error"]["message"] == "anthropic-version: header is required"


@pytest.mark.parametrize("raw", [b"{", b"[]", b"\xff"])
def test_a_body_that_is_no_json_object_is_refused(raw: bytes) -> None:
    with MessagesApi() as api:
        status, answer = post(api, "/v1/messages", raw, HEADERS)

    assert (status, answer["error"]["type"]) == (400, "invalid_request_error")


def test_another_path_is_not_found() -> None:
    with MessagesApi() as api:
        status, answer = post(api, "/v1/complete", b"{}", HEADERS)

    assert (status, answer["error"]["type"]) == (404, "not_found_error")


def post(api: MessagesApi, path: str, raw: bytes, headers: dict[str, str]) -> tuple[int, Json]:
    """Send raw bytes; return the status and the JSON that comes back."""
    connection = http.client.HTTPConnection(api.url.removeprefix("http://"), timeout=60)
    connection.request("POST", path, raw, headers)
    answer = connection.getresponse()
    parsed: Json = json.loads(answer.read())
    connection.close()
    return answer.status, parsed
