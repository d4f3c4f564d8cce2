"""The tokens of one response, as the service counted them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one response. Its own counts leave compactions out; `billed` has them all.

    `input` is what neither came from the cache nor went into it.
    """

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    cache_write_1h: int = 0
    """The part of `cache_write` that was written to live for one hour."""
    kind: str = "message"
    iterations: tuple["Usage", ...] = ()

    @property
    def prompt(self) -> int:
        """All tokens that the model read: fresh, from the cache, and into the cache."""
        return self.input + self.cache_read + self.cache_write

    @property
    def billed(self) -> tuple["Usage", ...]:
        """Every sampling that is paid for; compactions are entries of their own."""
        return self.iterations or (self,)

    @property
    def context(self) -> int:
        """Tokens now in the window, before this answer: the last message, never a compaction."""
        messages = [entry for entry in self.billed if entry.kind != "compaction"]
        return messages[-1].prompt if messages else 0

    @property
    def total(self) -> "Usage":
        """The sum over all that is billed, as one Usage without iterations."""
        return Usage(
            input=sum(entry.input for entry in self.billed),
            cache_read=sum(entry.cache_read for entry in self.billed),
            cache_write=sum(entry.cache_write for entry in self.billed),
            output=sum(entry.output for entry in self.billed),
            cache_write_1h=sum(entry.cache_write_1h for entry in self.billed),
        )


def read_usage(raw: Mapping[str, Any]) -> Usage:
    """The usage object of a response, or of one of its iterations, as a value."""
    by_lifetime = raw.get("cache_creation") or {}
    return Usage(
        input=raw.get("input_tokens") or 0,
        cache_read=raw.get("cache_read_input_tokens") or 0,
        cache_write=raw.get("cache_creation_input_tokens") or 0,
        output=raw.get("output_tokens") or 0,
        cache_write_1h=by_lifetime.get("ephemeral_1h_input_tokens") or 0,
        kind=raw.get("type") or "message",
        iterations=tuple(read_usage(entry) for entry in raw.get("iterations") or ()),
    )
