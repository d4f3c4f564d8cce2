"""Claude through the official SDK: the only module that imports `anthropic`.

Answers are streamed, because a plain call may not ask for more than 21,333 tokens, but read as raw
events and handed on as received. The SDK's retries are off; ours are in `retries`.
"""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import anthropic
import httpx2

from copilot.errors import CredentialsError, ModelError
from copilot.models.authorities import trusted
from copilot.models.faults import Fault, model_error
from copilot.models.model import Json, Request, Response, verdict
from copilot.models.retries import Attempt, Retries
from copilot.models.stream import BrokenStreamError, assemble, refuse_constant, whole
from copilot.safe_text import one_line

PUBLIC_URL = "https://api.anthropic.com"
COUNTED = frozenset(
    {"model", "messages", "system", "tools", "tool_choice", "thinking", "context_management"}
)
CONNECT_TIMEOUT_S = 5.0
LOG = logging.getLogger(__name__)


def _ignore(_attempt: Attempt) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where Claude is reached and how patient we are. The key is never shown."""

    api_key: str
    base_url: str = PUBLIC_URL
    silence_s: float = 120.0
    """The longest pause between two bytes of an answer."""
    answer_s: float = 600.0
    """The longest time for one answer, however steadily it drips."""
    streams: bool = True
    proxy: str | None = None
    ca_file: Path | None = None
    """The authorities that may vouch for it; None: those that the SDK brings."""

    def __post_init__(self) -> None:
        key = self.api_key
        if not key or " " in key or not (key.isascii() and key.isprintable()):
            raise CredentialsError(
                "the API key is empty, or has a space, a line break or a letter outside ASCII; "
                "set it again (a local server takes any word)"
            )

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r})"


class Claude:
    """A Model on the Messages API. Safe to share between threads."""

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        *,
        retries: Retries,
        now: Callable[[], datetime],
        on_attempt: Callable[[Attempt], None] = _ignore,
    ) -> None:
        self.name = name
        self._endpoint = endpoint
        self._retries = retries
        self._now = now
        self._on_attempt = on_attempt
        timeout = anthropic.Timeout(endpoint.silence_s, connect=CONNECT_TIMEOUT_S)
        self._client = anthropic.Anthropic(
            api_key=endpoint.api_key,
            base_url=endpoint.base_url,
            timeout=timeout,
            max_retries=0,
            # A redirect, or a proxy that a stranger's environment names, could carry an incident's
            # logs to another host.
            http_client=anthropic.DefaultHttpxClient(
                timeout=timeout,
                follow_redirects=False,
                trust_env=False,
                proxy=endpoint.proxy,
                verify=trusted(endpoint.ca_file),
            ),
        )

    def close(self) -> None:
        """Give the connections back."""
        self._client.close()

    def respond(self, request: Request) -> Response:
        """Return the answer, complete. Raises ModelError once no further try makes sense."""
        payload = _payload(request)
        return self._retries.run(lambda: self._try(request, payload), self._on_attempt)

    def count_tokens(self, request: Request) -> int | None:
        """Return the service's count after edits, or None: an estimate is not worth an outage."""
        payload = {key: value for key, value in _payload(request).items() if key in COUNTED}
        try:
            counted = self._client.beta.messages.count_tokens(
                **payload, betas=list(request.betas) or anthropic.omit
            )
        except (anthropic.APIError, httpx2.HTTPError, ValueError) as error:
            LOG.info("count_tokens failed model=%s error=%s", request.model, type(error).__name__)
            return None
        return counted.input_tokens

    def describe(self) -> Json | None:
        """What the Models API says of this model, or None where there is no such API."""
        try:
            answer = self._client.beta.models.with_raw_response.retrieve(
                self.name, betas=["compact-2026-09-04"]
            )
            return _object(answer.text())
        except (anthropic.APIError, httpx2.HTTPError, ValueError, BrokenStreamError) as error:
            LOG.info("models API absent model=%s error=%s", self.name, type(error).__name__)
            return None

    def _try(self, request: Request, payload: Json) -> Response:
        try:
            return self._fetch(request, payload)
        except anthropic.APIStatusError as error:
            raise self._refused(request, _fault(error), error.response) from error
        except (anthropic.APIConnectionError, httpx2.HTTPError, httpx2.StreamError) as error:
            cause = error.__cause__ or error
            raise ModelError(
                f"asked {request.model} at {self._endpoint.base_url} for the next turn and the "
                f"connection failed ({type(cause).__name__}); check the network and the base URL",
                kind="network",
                retryable=True,
            ) from error
        except (BrokenStreamError, ValueError, RecursionError) as error:
            raise _broken(request, str(error) or type(error).__name__) from error

    def _fetch(self, request: Request, payload: Json) -> Response:
        with self._client.beta.messages.with_streaming_response.create(
            **payload,
            stream=self._endpoint.streams,
            betas=list(request.betas) or anthropic.omit,
        ) as answer:
            kind = answer.headers.get("content-type", "")
            if kind.startswith("text/event-stream"):
                raw = assemble(self._events(request, answer.http_response))
            elif kind.startswith("application/json"):
                raw = whole(_object(answer.read()))
            else:
                raise self._elsewhere(request, kind)
        response = Response(raw, answer.headers.get("request-id"))
        if verdict(response) == "broken":
            reason = f"stop reason {response.stop_reason!r} with {len(response.content)} blocks"
            raise BrokenStreamError(reason)
        return response

    def _events(self, request: Request, response: httpx2.Response) -> Iterator[Json]:
        """Yield the JSON of each event. Raises ModelError for an error event inside the stream."""
        start = self._now()
        for event in anthropic.Stream.raw_events(response):
            if (self._now() - start).total_seconds() > self._endpoint.answer_s:
                raise BrokenStreamError(f"no end after {self._endpoint.answer_s:.0f} s")
            if not event.data:
                continue
            data = _object(event.data)
            if event.event == "error" or data.get("type") == "error":
                raise self._refused(request, _stream_fault(data, response), response)
            yield data

    def _elsewhere(self, request: Request, kind: str) -> ModelError:
        return ModelError(
            f"asked {request.model} at {self._endpoint.base_url} for the next turn, and something "
            f"else answered, with {one_line(kind, 80) or 'no content type'}; check the proxy and "
            "the base URL",
            kind="network",
            retryable=True,
        )

    def _refused(self, request: Request, fault: Fault, response: httpx2.Response) -> ModelError:
        now = self._now().astimezone(UTC)
        return model_error(fault, response.headers, model=request.model, now=now)


def _payload(request: Request) -> Json:
    """The body as it was hashed: UTF-8 has no lone surrogates, so they are gone by now."""
    payload: Json = json.loads(request.encoded())
    return payload


def _object(text: str | bytes) -> Json:
    value = json.loads(text, parse_constant=refuse_constant)
    if not isinstance(value, dict):
        raise BrokenStreamError(f"the answer holds a {type(value).__name__} instead of an object")
    return value


def _fault(error: anthropic.APIStatusError) -> Fault:
    return Fault(
        status=error.status_code,
        type=error.type,
        code=error.error_code,
        message=error.api_message or error.message,
        request_id=error.request_id,
    )


def _stream_fault(data: Json, response: httpx2.Response) -> Fault:
    error = data.get("error") or {}
    return Fault(
        status=200,
        type=error.get("type"),
        code=(error.get("details") or {}).get("error_code"),
        message=str(error.get("message", "")),
        request_id=response.headers.get("request-id"),
    )


def _broken(request: Request, reason: str) -> ModelError:
    return ModelError(
        f"asked {request.model} for the next turn and got an answer that cannot be used: {reason}; "
        "it may have been paid for; try again later",
        kind="broken",
        retryable=True,
    )
