"""How long Jira asks us to wait, and which endpoints are waiting. A stated wait is a minimum.

Retry-After is seconds or a date; Cloud adds X-RateLimit-Reset, Data Center an interval. All of them
may be missing. Source: developer.atlassian.com/cloud/jira/platform/rate-limiting and
confluence.atlassian.com/adminjiraserver (rate limiting), October 2026.
"""

import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from connectors.jira_tracker.replies import Reply

EVERYWHERE = "*"
LONGEST_S = 30 * 24 * 3600.0


def stated_wait(reply: Reply, now: datetime) -> float | None:
    """Seconds that the reply asks us to wait, or None when it states no time that can be used.

    A date is measured against the reply's own Date: a clock that is wrong here does no harm.
    """
    value = reply.header("Retry-After").strip()
    if value.isascii() and value.isdecimal():
        seconds = min(float(value), LONGEST_S) if len(value) < 12 else LONGEST_S
        if seconds > 0:
            return seconds
    elif date := _http_date(value):
        sent = _http_date(reply.header("Date")) or now
        return min(max((date - sent).total_seconds(), 0.0), LONGEST_S)
    if reset := _iso(reply.header("X-RateLimit-Reset")):
        return min(max((reset - now).total_seconds(), 0.0), LONGEST_S) or None
    interval = reply.header("X-RateLimit-Interval-Seconds").strip()
    return (
        float(interval)
        if interval.isascii() and interval.isdecimal() and len(interval) < 6
        else None
    )


@dataclass(frozen=True, slots=True)
class Pause:
    """An endpoint is left alone until then, in seconds of the caller's monotonic clock."""

    until: float
    why: str


class Pauses:
    """The endpoints that are left alone, and why."""

    def __init__(self) -> None:
        self._pauses: dict[str, Pause] = {}
        self._lock = threading.Lock()

    def add(self, endpoint: str, pause: Pause) -> None:
        """Leave *endpoint* alone; what ends earlier never shortens what ends later."""
        with self._lock:
            known = self._pauses.get(endpoint)
            if known is None or known.until < pause.until:
                self._pauses[endpoint] = pause

    def on(self, endpoint: str, now: float) -> Pause | None:
        """The pause that *endpoint* is in, or None when it may be asked."""
        with self._lock:
            found = [self._pauses.get(name) for name in (endpoint, EVERYWHERE)]
        pauses = [pause for pause in found if pause and pause.until > now]
        return max(pauses, key=lambda pause: pause.until, default=None)


def _http_date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, IndexError, OverflowError, TypeError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _iso(text: str) -> datetime | None:
    """Jira writes `2026-03-26T16:00Z`, without seconds."""
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return time if time.tzinfo else None
