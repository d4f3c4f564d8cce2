"""Dollars by what they were paid for: by source within a request, by lever and in all. Pure."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from copilot.models import prices
from copilot.models.prices import Rates
from copilot.models.usage import Usage

ANSWER = "answer"
"""Stands among the sources for what the model wrote."""


def rates(model: str, usage: Usage) -> Rates | None:
    """The prices of that request, or None."""
    known = prices.facts(model)
    return known.rates_for(usage.context or usage.total.prompt) if known else None


def by_source(
    parts: Iterable[tuple[str, int]], model: str, usage: Usage, usd: Decimal | None
) -> Mapping[str, Decimal] | None:
    """The dollars of one request by source and `answer`; together they are exactly *usd*.

    *parts* are source and bytes in the order of the prompt: its beginning was read from the cache,
    what follows was written to it, the rest was read afresh. None when the prices are not known.
    """
    if usd == 0:
        return {}
    known = rates(model, usage)
    if usd is None or known is None:
        return None
    parts, total = list(parts), usage.total
    per_byte = total.prompt / max(1, sum(size for _, size in parts))
    steps = (
        (total.cache_read, float(known.read)),
        (total.cache_read + total.cache_write, float(known.write_5m)),
        (total.prompt, float(known.input)),
    )
    weights: dict[str, float] = {}
    begin = 0.0
    for source, size in parts:
        end = begin + size * per_byte
        weights[source] = weights.get(source, 0.0) + _weight(begin, end, steps)
        begin = end
    weights[ANSWER] = total.output * float(known.output)
    return _shares(usd, weights)


def _weight(begin: float, end: float, steps: Iterable[tuple[int, float]]) -> float:
    """What the tokens from *begin* to *end* cost, where prices change at these steps."""
    weight, at = 0.0, 0.0
    for until, price in steps:
        weight += price * max(0.0, min(end, until) - max(begin, at))
        at = until
    return weight


def _shares(usd: Decimal, weights: Mapping[str, float]) -> dict[str, Decimal]:
    """*usd* in proportion to the weights; rounding goes to the last."""
    whole = sum(weights.values()) or 1.0
    shares = {name: usd * Decimal(str(weight / whole)) for name, weight in weights.items()}
    rest = usd - sum(shares.values())
    last = next(reversed(shares))
    return {**shares, last: shares[last] + rest}
