"""Rows added up: in all, by source, and by lever with what it saved, broke and cost. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from copilot.context.costs import rates
from copilot.context.meter import broken_by
from copilot.context.savings import LEVERS, Lever
from copilot.context.usage_rows import Row
from copilot.models.usage import Usage


@dataclass(frozen=True, slots=True)
class Total:
    """What was used. `usd` has the requests whose price is known; `unpriced` counts the others."""

    requests: int = 0
    usage: Usage = field(default_factory=Usage)
    usd: Decimal = Decimal(0)
    unpriced: int = 0

    def __add__(self, other: "Total") -> "Total":
        return Total(
            self.requests + other.requests,
            Usage(iterations=(self.usage, other.usage)).total,
            self.usd + other.usd,
            self.unpriced + other.unpriced,
        )


@dataclass(frozen=True, slots=True)
class LeverTotal:
    """What one lever did over all requests. Tokens are added up request by request."""

    lever: Lever
    acts: int | None
    """How often it acted and took; None for offload, which acts on every large answer."""
    failed: int
    saved: int | None
    """None when the journal does not say how large the offloaded bodies were."""
    broken: int
    spent_usd: Decimal | None
    """Of the summaries that it asked for."""
    net_usd: Decimal | None
    """What was saved, at the price of reading the cache, less what was broken and spent."""

    @property
    def net(self) -> int | None:
        """Tokens saved, less those of the cache that it broke."""
        return None if self.saved is None else self.saved - self.broken


def total(rows: Iterable[Row]) -> Total:
    """All rows together."""
    found = Total()
    for row in rows:
        priced = row.usd is not None
        found += Total(1, row.usage.total, row.usd or Decimal(0), not priced)
    return found


def by_source(rows: Iterable[Row]) -> dict[str, Decimal] | None:
    """Dollars by source and `answer`, the dearest first; None when a price is not known."""
    sums: dict[str, Decimal] = {}
    for row in rows:
        if row.usd_by_source is None:
            return None
        for source, usd in row.usd_by_source.items():
            sums[source] = sums.get(source, Decimal(0)) + usd
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def by_lever(rows: Sequence[Row]) -> list[LeverTotal]:
    """What each lever did, in the order of `LEVERS`."""
    return [_lever(lever, rows) for lever in LEVERS]


def _lever(lever: Lever, rows: Sequence[Row]) -> LeverTotal:
    saved = [row.saved[lever] for row in rows if lever in row.saved]
    known = [tokens for tokens in saved if tokens is not None]
    spent = _all([_summaries(row) for row in rows]) if lever == "compaction" else Decimal(0)
    acts = [act for row in rows for act in row.acts if act.lever == lever]
    gains = _all([_gain(lever, row) for row in rows if row.saved])
    return LeverTotal(
        lever=lever,
        acts=None if lever == "offload" else sum(not act.failed for act in acts),
        failed=sum(act.failed for act in acts),
        saved=sum(known) if len(known) == len(saved) else None,
        broken=sum(row.broken for row in rows if broken_by(row) == lever),
        spent_usd=spent,
        net_usd=None if gains is None or spent is None else gains - spent,
    )


def _gain(lever: Lever, row: Row) -> Decimal | None:
    """The dollars that the lever saved in one request, less those of the cache that it broke."""
    if row.usd == 0:
        return Decimal(0)
    saved, known = row.saved[lever], rates(row.model, row.usage)
    if saved is None or known is None:
        return None
    counts = row.usage.total
    reading = known.read if counts.cache_read or counts.cache_write else known.input
    broken = row.broken if broken_by(row) == lever else 0
    return (saved * reading - broken * (known.write_5m - known.read)) / 1_000_000


def _summaries(row: Row) -> Decimal | None:
    """What the summaries of one request cost."""
    if not row.compactions or row.usd == 0:
        return Decimal(0)
    if row.kind == "compaction":
        return row.usd
    known = rates(row.model, row.usage)
    return sum(map(known.cost, row.compactions), Decimal(0)) if known else None


def _all(parts: Sequence[Decimal | None]) -> Decimal | None:
    """The sum, or None as soon as one is not known."""
    known = [part for part in parts if part is not None]
    return sum(known, Decimal(0)) if len(known) == len(parts) else None
