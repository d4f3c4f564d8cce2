"""What Jira answered, and in words what is wrong with it. Pure; knows nothing of waiting.

The status and the content type are looked at before the body is parsed: proxies and Tomcat answer
with pages, Jira itself with plain text under a JSON type, and with a success that has no body.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from copilot.safe_text import one_line

Json: TypeAlias = dict[str, Any]
Kind = Literal[
    "captcha", "unauthorised", "forbidden", "missing", "gone", "invalid", "limited", "unavailable",
    "unreadable", "elsewhere",
]  # fmt: skip

TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
TAG = re.compile(r"<[^>]*>")
SHOWN = 300
"""Characters of the server's own words in a message."""
DENIED = "X-Authentication-Denied-Reason"
SERAPH = "X-Seraph-LoginReason"
REASONS = {
    "jira-burst-based": "too many requests to this endpoint in a second",
    "jira-quota-global-based": "the hourly quota shared by all sites is used up",
    "jira-quota-tenant-based": "the hourly quota of this site is used up",
    "jira-per-issue-on-write": "too many writes to one issue",
}
"""RateLimit-Reason in words: developer.atlassian.com/cloud/jira/platform/rate-limiting."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request. `endpoint` is its path with no key in it: what Jira counts its limits by."""

    endpoint: str
    path: str
    """Below `/rest/api/`, version first."""
    params: Mapping[str, str | int] = field(default_factory=dict)
    body: Json | None = None
    method: Literal["GET", "POST", "PUT"] = "GET"
    repeatable: bool = True
    """False when doing it twice would be one time too many."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `header` ignores the case of names."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def header(self, name: str) -> str:
        """The header's value, or an empty text."""
        wanted = name.lower()
        return next((value for key, value in self.headers.items() if key.lower() == wanted), "")


class NoReply(Exception):
    """No whole reply came; `again` says whether another try makes sense."""

    def __init__(self, message: str, *, again: bool = True) -> None:
        super().__init__(message)
        self.again = again


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a reply is no answer. `said` are the server's own words, harmless and short."""

    kind: Kind
    words: str
    said: str = ""
    again: bool = False
    """Whether another try makes sense."""


def answer(reply: Reply) -> Json | list[Any] | Fault:
    """The JSON of a success, or what is wrong."""
    if reply.status in {200, 201}:
        return _success(reply)
    return replace(_refusal(reply), said=words_of(reply))


def words_of(reply: Reply) -> str:
    """The server's own words in a reply: its messages, a page's title or its plain text."""
    text = reply.body.decode("utf-8", "replace")
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        title = TITLE.search(text)
        return one_line(title[1] if title else TAG.sub(" ", text[: 10 * SHOWN]), SHOWN)
    return one_line("; ".join(messages(parsed)), SHOWN)


def messages(parsed: object) -> list[str]:
    """Each message of an error body, whatever its shape."""
    if not isinstance(parsed, dict):
        return [str(parsed)] if parsed else []
    listed = parsed.get("errorMessages")
    found = [str(item) for item in listed] if isinstance(listed, list) else []
    found += [str(parsed[name]) for name in ("message", "errorMessage") if parsed.get(name)]
    named = parsed.get("errors")
    if isinstance(named, dict):
        found += [f"{name}: {text}" for name, text in named.items()]
    return found


def _refusal(reply: Reply) -> Fault:
    status = reply.status
    if 300 <= status < 400:
        return Fault(
            "elsewhere",
            f"it sends us on to {_target(reply)} ({status}), where we do not go: a sign-in page "
            "stands before it, or `url` is not its address",
        )
    if status == 408 or status >= 500:
        return Fault("unavailable", f"it has trouble of its own ({status})", again=True)
    if told_apart := REFUSALS.get(status):
        return told_apart(reply)
    return Fault("invalid", f"the request was refused ({status})")


def _forbidden(reply: Reply) -> Fault:
    if "CAPTCHA" in reply.header(DENIED).upper():
        return _captcha(reply)
    return Fault("forbidden", "the account may not do this (403)")


def _missing(reply: Reply) -> Fault:
    if _is_jira(reply):
        return Fault("missing", "not there, or not for this account to see (404)")
    return Fault("unreadable", "no Jira answers at this address (404); look at `url`")


def _limited(reply: Reply) -> Fault:
    reason = reply.header("RateLimit-Reason")
    words = one_line(REASONS.get(reason, reason), 80)
    return Fault("limited", f"rate limited (429){words and ': '}{words}", again=True)


def _unauthorised(_: Reply) -> Fault:
    return Fault("unauthorised", "the account was refused (401); look at its secret", again=True)


def _gone(_: Reply) -> Fault:
    return Fault(
        "gone", "this part of the API was removed (410); set `deployment` to what the site is"
    )


def _captcha(_: Reply) -> Fault:
    return Fault(
        "captcha",
        "the account is locked by a CAPTCHA after failed logins; a person must sign in to Jira "
        "with it in a browser, mend the secret, and start the copilot again",
    )


REFUSALS: dict[int, Callable[[Reply], Fault]] = {
    401: _unauthorised, 403: _forbidden, 404: _missing, 410: _gone, 429: _limited,
}  # fmt: skip


def _success(reply: Reply) -> Json | list[Any] | Fault:
    """JSON, or why a 200 is none: it can be empty, a page, or an answer to nobody in particular."""
    login = reply.header(SERAPH).upper()
    if "AUTHENTICATION_DENIED" in login:
        return _captcha(reply)
    if "AUTHENTICATED_FAILED" in login:
        return Fault("unauthorised", "it answered as if nobody had signed in", again=True)
    if not reply.body.strip():
        return Fault("unreadable", "it answered 200 with an empty body", again=True)
    try:
        parsed = json.loads(reply.body)
    except (ValueError, RecursionError):
        return Fault("unreadable", "it answered 200 without JSON", words_of(reply), again=True)
    if isinstance(parsed, dict | list):
        return parsed
    return Fault("unreadable", "it answered 200 with JSON that is no object", again=True)


def _is_jira(reply: Reply) -> bool:
    """Whether Jira itself said it, and not a proxy or another server."""
    try:
        parsed = json.loads(reply.body)
    except (ValueError, RecursionError):
        return False
    return isinstance(parsed, dict) and bool(messages(parsed))


def _target(reply: Reply) -> str:
    """The host of a redirect; the rest of its address may hold a token."""
    try:
        host = urlsplit(reply.header("Location")).hostname
    except ValueError:
        host = None
    return one_line(host or "another page", 100)
