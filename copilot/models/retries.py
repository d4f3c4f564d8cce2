"""When to try again, how long to wait, and when to give the wait back to the caller.

Knows errors only by `retryable` and `wait_s`. The SDK's own retries are off: they obey any
Retry-After, so that one header could block a worker for days, and they retry spend caps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from copilot.errors import ModelError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try, reported as it ends. A failed one may have been paid for all the same."""

    number: int
    """Counts from 1."""
    kind: str
    """`ok`, or the `kind` of the ModelError."""
    wait_s: float | None = None
    """How long we now wait before the next try; None when there is none."""


@dataclass(frozen=True, slots=True)
class Retries:
    """The waits of one client. `sleep` and `random` (0 to 1) come from outside."""

    sleep: Callable[[float], None]
    random: Callable[[], float]
    tries: int = 5
    longest_wait_s: float = 120.0
    """A longer wait asked for is not slept: the error goes up with `wait_s`, to park the work."""
    first_backoff_s: float = 2.0
    longest_backoff_s: float = 60.0

    def run(self, call: Callable[[], Result], on_attempt: Callable[[Attempt], None]) -> Result:
        """Return what *call* returns, tried again while its ModelError is retryable.

        Raises the last ModelError.
        """
        number = 0
        while True:
            number += 1
            try:
                result = call()
            except ModelError as error:
                wait_s = self.wait_s(error, number) if number < self.tries else None
                on_attempt(Attempt(number, error.kind, wait_s))
                if wait_s is None:
                    raise
                self.sleep(wait_s)
            else:
                on_attempt(Attempt(number, "ok"))
                return result

    def wait_s(self, error: ModelError, number: int) -> float | None:
        """The seconds to wait after try *number*, or None when *error* must go up.

        Never less than the service asked for, and up to 30 % more, so that workers which were
        refused together do not come back together. Without a wish: full jitter, at least 1 s.
        """
        if not error.retryable:
            return None
        if error.wait_s is not None:
            asked = error.wait_s * (1 + 0.3 * self.random())
            return min(asked, self.longest_wait_s) if error.wait_s <= self.longest_wait_s else None
        ceiling = min(self.longest_backoff_s, self.first_backoff_s * 2.0 ** (number - 1))
        return 1 + (ceiling - 1) * self.random()
