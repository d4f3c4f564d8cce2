"""What is remembered of an answer that has a handle."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """How far the result *handle* reaches; absence is shown only by a complete one of total 0."""

    handle: str
    tool: str
    complete: bool
    total: int | None
