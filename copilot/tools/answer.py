"""What is remembered of an answer that has a handle."""

from dataclasses import dataclass

SEARCHES = frozenset({"search_logbook", "logbook_trace", "search_tickets", "search_documents"})
"""Tools that ask a source for what matches; only they can find that nothing does."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How far the result *handle* reaches; absence is shown only by a complete one of total 0.

    What was asked, window and filters included, stands beside its rows in scratch.
    """

    handle: str
    tool: str
    complete: bool
    total: int | None
