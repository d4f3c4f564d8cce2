"""A pattern tried on texts of any length until a deadline. Finds, and knows nothing of results."""

from collections.abc import Callable

from copilot.safe_regex import Pattern

PIECE_CHARACTERS = 16 << 10
"""RE2 cannot be stopped inside one text, and its slowest patterns take 0.3 s for this much."""
OVERLAP_CHARACTERS = 2 << 10
"""A longer match may be missed where a text is cut into pieces."""


class TooLate(Exception):
    """The time for looking is used up."""


class Seeker:
    """Finds patterns for *seconds* from now; after that each try raises TooLate."""

    def __init__(self, monotonic: Callable[[], float], seconds: float) -> None:
        self._monotonic = monotonic
        self._deadline = monotonic() + seconds

    def is_late(self) -> bool:
        """True when the time is used up."""
        return self._monotonic() > self._deadline

    def span(self, pattern: Pattern, text: str) -> tuple[int, int] | None:
        """Where *pattern* matches first in *text*, in characters; or None."""
        for start in range(0, max(len(text), 1), PIECE_CHARACTERS - OVERLAP_CHARACTERS):
            if self.is_late():
                raise TooLate
            if span := pattern.span(text[start : start + PIECE_CHARACTERS]):
                return start + span[0], start + span[1]
        return None
