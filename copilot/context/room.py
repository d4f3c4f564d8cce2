"""Whether an investigation can begin: what every request carries must fit the window. Pure.

A window that is too small is found before anything is asked, with the numbers. Otherwise a local
server cuts the prompt without a word, and the model answers to half of it.
"""

import math

from copilot.context.placement import BYTES_PER_TOKEN
from copilot.context.request import Frame
from copilot.errors import ConfigError
from copilot.models import prices
from policies.schema import Policy

UNKNOWN_WINDOW = 200_000
"""Tokens; what every model of the last years has at least."""
SMALL = "small-window"


def usable_window(model_window: int | None, policy: Policy) -> int:
    """The tokens that a request and its answer may take together: the model's, or fewer."""
    window = model_window or UNKNOWN_WINDOW
    limit = policy.window.limit_tokens
    return window if limit == "auto" else min(window, limit)


def answer_tokens(setting: int, policy: Policy) -> int:
    """The most that one answer may take: what the settings say, or fewer."""
    limit = policy.window.answer_tokens
    return setting if limit == "auto" else min(setting, limit)


def enlarged(frame: Frame, left: int, times: int) -> int:
    """What an answer may take that broke off so often: each time twice as much.

    Never more than the model can write, nor than is *left* of its window.
    """
    known = prices.facts(frame.model)
    most = (known and known.max_output) or left
    return max(frame.max_tokens, min(frame.max_tokens << times, most, left))


def request_room(frame: Frame, window: int) -> int:
    """The most that a request may take and leave room for the report: small windows need more."""
    return window - max(window // 10, frame.max_tokens * 6 // 5)


def fixed_tokens(frame: Frame) -> int:
    """An upper guess of what system prompt and tools take in every request."""
    return math.ceil(frame.bytes / BYTES_PER_TOKEN)


def check_room(frame: Frame, window: int) -> None:
    """Return when something can be said between the fixed part and the report.

    Raises ConfigError with the numbers and the way out.
    """
    fixed = fixed_tokens(frame)
    answer = max(frame.max_tokens, frame.policy.window.report_tokens)
    if fixed + answer < window:
        return
    way_out = "" if frame.policy.name == SMALL else f"policy {SMALL} or "
    raise ConfigError(
        f"policy {frame.policy.name}: system and tools take {fixed} tokens, the answer {answer}, "
        f"the window of {frame.model} is {window}; use {way_out}a larger model"
    )
