"""The sum behind `clear_at_least: auto`, for a run of results of one size. Pure."""

import math
from dataclasses import dataclass

from copilot.context.levers import PLACEHOLDER_BYTES, Prices, pays_back
from copilot.context.placement import BYTES_PER_TOKEN
from policies.schema import Policy

MOST_RESULTS = 1000


@dataclass(frozen=True, slots=True)
class SmallestBite:
    """The smallest bite that is worth the cache it breaks, in tokens, and its sum.

    It is made for a run of results like this one, one a turn: the newest of them stay.
    """

    least: int
    """What must be cleared at once."""
    results: int
    """How many results like this one make such a bite."""
    is_auto: bool
    """False when the policy says the number itself: then the rest decides nothing."""
    tail: int
    """What stays behind the first cleared result, and is written to the cache again."""
    write: float
    read: float
    """Prices of a token, in one unit."""
    pays_back: float
    """Turns after which a token cleared in front of one that stays has paid: (write-read)/read."""
    turns: int
    """The turns that may still come."""
    spread: int
    """tail x pays_back / turns: what has paid for itself at the end."""
    quantity: int
    """The root of 2 x tail x pays_back x growth a turn: the size at which bites cost least."""


def smallest_bite(policy: Policy, tokens: int, prices: Prices, turns: int) -> SmallestBite:
    """The two bounds of `levers.at_least` for results like this one, one a turn."""
    clearing = policy.clearing
    placeholder = math.ceil(PLACEHOLDER_BYTES / BYTES_PER_TOKEN)
    freed = max(1, tokens - placeholder)
    said, ratio = clearing.at_least_tokens, pays_back(prices)
    results = tail = spread = quantity = least = 0
    while results < MOST_RESULTS and results * freed < max(1, least):
        results += 1
        tail = clearing.keep * tokens + results * placeholder
        spread = math.ceil(tail * ratio / turns)
        quantity = math.ceil(math.sqrt(2 * tail * ratio * freed))
        least = max(spread, quantity) if said == "auto" else said
    return SmallestBite(
        least=least,
        results=results,
        is_auto=said == "auto",
        tail=tail,
        write=prices.write,
        read=prices.read,
        pays_back=round(ratio, 1),
        turns=turns,
        spread=spread,
        quantity=quantity,
    )
