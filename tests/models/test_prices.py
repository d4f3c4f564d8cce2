"""What a response costs, and what nobody knows."""

from decimal import Decimal

import pytest

from copilot.models.prices import cost, facts, table, window
from copilot.models.usage import Usage

MILLION = 1_000_000


def test_each_kind_of_token_has_its_price() -> None:
    usage = Usage(
        input=MILLION, cache_read=MILLION, cache_write=2 * MILLION, output=MILLION,
        cache_write_1h=MILLION,
    )  # fmt: skip

    assert cost("claude-opus-5-5", usage) == Decimal(4) + Decimal("0.2") + 5 + 8 + 20


def test_an_unknown_model_has_no_price_and_not_the_price_zero() -> None:
    assert cost("gpt-oss", Usage(input=1)) is None
    assert cost("claude-mythos-5-2", Usage(input=1)) is None
    assert window("gpt-oss") is None


def test_a_dated_id_is_the_model_without_the_date() -> None:
    assert facts("claude-haiku-4-5-20251001") == facts("claude-haiku-4-5")


def test_every_iteration_is_paid_for() -> None:
    compaction = Usage(input=MILLION, kind="compaction")
    usage = Usage(input=10, iterations=(compaction, Usage(input=MILLION)))

    assert cost("claude-sonnet-5-5", usage) == 4


@pytest.mark.parametrize(("prompt", "dollars"), [(100_000, "0.01"), (100_001, "0.0500005")])
def test_a_long_prompt_costs_haiku_five_times_as_much(prompt: int, dollars: str) -> None:
    assert cost("claude-haiku-5-5", Usage(input=prompt)) == Decimal(dollars)


def test_the_step_is_taken_by_each_prompt_and_not_by_their_sum() -> None:
    half = Usage(input=60_000)

    assert cost("claude-haiku-5-5", Usage(iterations=(half, half))) == Decimal("0.012")


def test_the_table_says_when_and_where_it_was_read() -> None:
    assert table().read == "2026-11-29"
    assert table().source


@pytest.mark.parametrize("model", sorted(table().models))
def test_a_row_of_the_table_makes_sense(model: str) -> None:
    row = facts(model)

    assert row is not None
    if row.rates:
        rates = row.rates
        assert rates.read < rates.input < rates.write_5m < rates.write_1h < rates.output
        assert (row.window or 0) > (row.max_output or 0) > 0
