"""Claims about a worker that waits for the inbox."""

import pytest

from copilot.daemon.patience import PAUSE_S, patiently
from copilot.errors import InboxError


def test_what_cannot_be_written_now_is_written_when_it_can() -> None:
    answers = iter([InboxError("away", retryable=True)] * 3)
    slept: list[float] = []

    def ask() -> str:
        for error in answers:
            raise error
        return "written"

    assert patiently(ask, slept.append) == "written"
    assert slept == [PAUSE_S] * 3


def test_what_waiting_cannot_mend_is_not_waited_for() -> None:
    def ask() -> None:
        raise InboxError("made by another version")

    with pytest.raises(InboxError, match="another version"):
        patiently(ask)
