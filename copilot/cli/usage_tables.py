"""The usage of an investigation as tables for a person and as one JSON document."""

from collections.abc import Sequence
from decimal import Decimal

from copilot.cli.ui import Screen
from copilot.context import totals
from copilot.context.meter import UNKNOWN, cells, freed_tokens
from copilot.context.totals import LeverTotal, Total
from copilot.context.usage_rows import Row
from copilot.values import Json, JsonObject

COUNTS = ("input", "cache_read", "cache_write", "output")


def print_tables(screen: Screen, rows: Sequence[Row], total: Total) -> None:
    """Print requests, their *total*, dollars by source and what each lever did."""
    if not rows:
        screen.say("no request was paid for: nothing was asked yet, or rules answered alone")
        return
    screen.table(
        ("TURN", "KIND", "CARRIED", "INPUT", "READ", "WRITTEN", "OUTPUT", "USD", "WHAT-HAPPENED"),
        [*map(_request, rows), ("all", "", "", *sums(total), "")],
    )
    screen.line()
    sources = totals.by_source(rows)
    if sources is None:
        screen.line(("dollars by source: n/a, a price is not known", "warn"))
    else:
        whole = sum(sources.values()) or Decimal(1)
        screen.table(
            ("USD", "SHARE", "SOURCE"),
            [(_dollars(usd), f"{usd / whole:.0%}", name) for name, usd in sources.items()],
        )
    screen.line()
    screen.table(
        ("LEVER", "ACTED", "FAILED", "SAVED", "BROKEN", "NET", "SPENT-USD", "NET-USD"),
        [_lever(one) for one in totals.by_lever(rows)],
    )


def document(rows: Sequence[Row], total: Total) -> JsonObject:
    """The same as data; what is not known is null."""
    sources = totals.by_source(rows)
    return {
        "requests": [_row_json(row) for row in rows],
        "total": total_json(total),
        "usd_by_source": None
        if sources is None
        else {name: _rounded(usd) for name, usd in sources.items()},
        "levers": [_lever_json(one) for one in totals.by_lever(rows)],
    }


def _request(row: Row) -> tuple[str, ...]:
    counts = row.usage.total
    happened = [act.name for act in row.acts]
    if row.acts:
        happened.append(f"{freed_tokens(row):,} tokens freed")
    if row.miss and (row.broken or row.miss != "first_request"):
        happened.append(f"cache miss: {row.miss}, {row.broken:,} tokens written again")
    return (
        str(row.turn),
        row.kind,
        str(row.carried),
        *(str(getattr(counts, name)) for name in COUNTS),
        UNKNOWN if row.usd is None else _dollars(row.usd),
        "; ".join(happened),
    )


def sums(total: Total) -> tuple[str, ...]:
    """Tokens and dollars; `≥` where some prices are not known."""
    usd = _dollars(total.usd)
    if total.unpriced:
        usd = UNKNOWN if total.unpriced == total.requests else f"≥{usd}"
    return (*(str(getattr(total.usage, name)) for name in COUNTS), usd)


def _lever(one: LeverTotal) -> tuple[str, ...]:
    tokens = [UNKNOWN if n is None else str(n) for n in (one.saved, one.broken, one.net)]
    dollars = [UNKNOWN if usd is None else _dollars(usd) for usd in (one.spent_usd, one.net_usd)]
    acts = ["", ""] if one.acts is None else [str(one.acts), str(one.failed)]
    return (one.lever, *acts, *tokens, *dollars)


def _dollars(usd: Decimal) -> str:
    return f"{usd:.4f}"


def _rounded(usd: Decimal | None) -> Json:
    return None if usd is None else round(float(usd), 8)


def _row_json(row: Row) -> JsonObject:
    """The columns of usage.csv; null where nothing applies or nobody knows."""
    empty = ("", UNKNOWN)
    found: JsonObject = {name: None if cell in empty else cell for name, cell in cells(row).items()}
    sources = row.usd_by_source
    split = None if sources is None else {name: _rounded(usd) for name, usd in sources.items()}
    return {**found, "usd": _rounded(row.usd), "usd_by_source": split}


def total_json(total: Total) -> JsonObject:
    """Tokens and dollars; `usd` is null as soon as one price is not known."""
    counts: JsonObject = {name: getattr(total.usage, name) for name in COUNTS}
    return {
        "requests": total.requests,
        **counts,
        "usd": None if total.unpriced else _rounded(total.usd),
        "usd_known": _rounded(total.usd),
        "unpriced": total.unpriced,
    }


def _lever_json(one: LeverTotal) -> JsonObject:
    return {
        "lever": one.lever,
        "acts": one.acts,
        "failed": one.failed,
        "saved": one.saved,
        "broken": one.broken,
        "net": one.net,
        "spent_usd": _rounded(one.spent_usd),
        "net_usd": _rounded(one.net_usd),
    }
