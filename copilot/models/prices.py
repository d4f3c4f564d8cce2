"""What a model costs and what it can hold, from `prices.yaml` beside this file.

A model that is not listed has no price: the answer is None, shown as n/a. It is never 0, which
would read as "free". Prices are Decimals, because many small sums are added up.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from copilot.models.usage import Usage

MILLION = Decimal(1_000_000)
DATED = re.compile(r"-\d{8}$")  # claude-haiku-4-5-20251001 is claude-haiku-4-5
RATES = ("input", "output", "write_5m", "write_1h", "read")


@dataclass(frozen=True, slots=True)
class Rates:
    """Dollars per million tokens."""

    input: Decimal
    output: Decimal
    write_5m: Decimal
    write_1h: Decimal
    read: Decimal

    def cost(self, usage: Usage) -> Decimal:
        """The dollars of one sampling."""
        write_5m = usage.cache_write - usage.cache_write_1h
        dollars = (
            self.input * usage.input
            + self.read * usage.cache_read
            + self.write_5m * write_5m
            + self.write_1h * usage.cache_write_1h
            + self.output * usage.output
        )
        return dollars / MILLION


@dataclass(frozen=True, slots=True)
class Facts:
    """One row of the table. None is unknown."""

    rates: Rates | None
    window: int | None
    max_output: int | None
    cache_minimum: int | None
    """The shortest prefix that is cached at all; a shorter one is silently not."""
    binds_thinking: bool = False
    """Whether thoughts hold only for exactly the conversation that they were made in."""
    step: int | None = None
    """Prompts of more tokens than this cost `rates_above_step`, all of their tokens."""
    rates_above_step: Rates | None = None

    def rates_for(self, prompt: int) -> Rates | None:
        """The prices of a prompt of so many tokens."""
        return self.rates_above_step if self.step and prompt > self.step else self.rates


@dataclass(frozen=True, slots=True)
class Table:
    """The whole file: when it was read, from where, and a row a model."""

    read: str
    source: str
    models: dict[str, Facts]


@cache
def table() -> Table:
    """The price table, read once."""
    text = files("copilot.models").joinpath("prices.yaml").read_text(encoding="utf-8")
    raw = yaml.safe_load(text)
    models = {name: _facts(row) for name, row in raw["models"].items()}
    return Table(str(raw["read"]), raw["source"], models)


def facts(model: str) -> Facts | None:
    """What is known of *model*, by its id with or without a date, or None."""
    models = table().models
    return models.get(model) or models.get(DATED.sub("", model))


def cost(model: str, usage: Usage) -> Decimal | None:
    """The dollars of one response, compactions included; None when a price is unknown."""
    known = facts(model)
    if known is None:
        return None
    total = Decimal(0)
    for entry in usage.billed:
        rates = known.rates_for(entry.prompt)
        if rates is None:
            return None
        total += rates.cost(entry)
    return total


def window(model: str) -> int | None:
    """The tokens that *model* can hold, prompt and answer together, or None when unknown."""
    known = facts(model)
    return known.window if known else None


def _facts(row: dict[str, Any]) -> Facts:
    above = row.get("above") or {}
    return Facts(
        rates=_rates(row),
        window=row["window"],
        max_output=row["max_output"],
        cache_minimum=row["cache_minimum"],
        binds_thinking=row.get("binds_thinking", False),
        step=above.get("prompt"),
        rates_above_step=_rates(above) if above else None,
    )


def _rates(row: dict[str, Any]) -> Rates | None:
    if any(row[name] is None for name in RATES):
        return None
    return Rates(*(Decimal(str(row[name])) for name in RATES))
