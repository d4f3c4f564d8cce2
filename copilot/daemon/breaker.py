"""Whether the model is worth asking now, learned from how the last attempts ended.

After five failures in a minute, or one that trying again cannot mend (a refused key, a spend cap, a
wait of minutes), nobody asks for a while; then one investigation tries, and its success frees all.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

FINAL = frozenset({"auth", "billing", "spend_cap"})
"""Kinds of ModelError that a person must mend."""
FAULTS = frozenset({"rate_limit", "overloaded", "network", "failed", "broken"})
"""Kinds that say something of the service, not of one request."""
FAILURES = 5
WITHIN_S = 60.0
LONG_WAIT_S = 120.0


@dataclass
class Breaker:
    """The state of one model's service. Safe to share between threads."""

    monotonic: Callable[[], float]
    pause_s: float = 60.0
    """How long nobody asks once it is open, if the service does not ask for more."""
    reason: str = ""
    """Why nobody asks; empty while the service is well."""
    _failures: deque[float] = field(default_factory=deque)
    _until: float = 0.0
    _probing_since: float | None = None
    _pending: dict[object, float] = field(default_factory=dict)
    _answered: float = 0.0
    _answers: dict[str, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def admits(self) -> bool:
        """Whether one may ask now. During a pause's end only one is admitted at a time."""
        with self._lock:
            if not self.reason:
                return True
            now = self.monotonic()
            if now < self._until:
                return False
            if self._probing_since is not None and now - self._probing_since < self.pause_s:
                return False
            self._probing_since = now
            return True

    @property
    def is_well(self) -> bool:
        """Whether the service answered when it was last asked."""
        return not self.reason

    @property
    def may_try(self) -> bool:
        """Whether `admits` would say yes; takes no probe."""
        with self._lock:
            if not self.reason:
                return True
            now = self.monotonic()
            probing = self._probing_since is not None and now - self._probing_since < self.pause_s
            return now >= self._until and not probing

    @property
    def needs_person(self) -> bool:
        """Whether only a person can mend it: a key, an account, a cap."""
        return self.reason.partition(":")[0] in FINAL

    def answered(self, model: str) -> float:
        """When that model answered last, by the breaker's clock; 0 before the first time."""
        return self._answers.get(model, 0.0)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """One answer is awaited while the block runs."""
        token = object()
        with self._lock:
            self._pending[token] = self.monotonic()
        try:
            yield
        finally:
            with self._lock:
                del self._pending[token]

    def is_silent(self, seconds: float) -> bool:
        """Whether an answer is awaited for so long and no other came in that time."""
        with self._lock:
            since = self.monotonic() - seconds
            return self._answered < since and any(one < since for one in self._pending.values())

    def succeeded(self, model: str = "") -> None:
        """Take in that an answer came, of that model: others of the service may be away."""
        with self._lock:
            self._answered = self._answers[model] = self.monotonic()
            self._failures.clear()
            self._probing_since = None
            self.reason = ""

    def failed(self, kind: str, message: str = "", wait_s: float | None = None) -> None:
        """Take in that an attempt ended so; *wait_s* is what the service asked for."""
        if kind not in FINAL | FAULTS:
            return
        with self._lock:
            now = self.monotonic()
            self._failures.append(now)
            while self._failures[0] < now - WITHIN_S:
                self._failures.popleft()
            long = wait_s is not None and wait_s > LONG_WAIT_S
            tripped = kind in FINAL or long or len(self._failures) >= FAILURES
            if tripped or self.reason:  # a failed probe pauses again
                self.reason = f"{kind}: {message}" if message else kind
                self._until = now + max(self.pause_s, wait_s or 0.0)
                self._probing_since = None
