"""Budgets: when an investigation must come to its end, and the turn that is kept for the report.

Every budget is checked between turns against what the journal says was paid, so that it survives a
restart and never goes down. At most one call goes past a budget: the one that was under way.
"""

from decimal import Decimal

from copilot import prompt
from copilot.context.restate import visible
from copilot.steps import Work
from copilot.upkeep import is_at_its_end, outlook_of, put_back


def enforce(work: Work, turn: int) -> None:
    """Close the investigation before *turn* when a budget has room for one more answer only."""
    if work.ledger.report or work.ledger.limit:
        return
    spent, budgets = work.ledger.spent, work.budgets
    if reason := work.stop():
        close(work, turn - 1, reason, prompt.LIMITS[reason])
    elif turn >= budgets.turns:
        close(work, turn - 1, "turns", f"{budgets.turns} turns")
    elif spent.tokens + 2 * spent.last_tokens > budgets.tokens:
        close(work, turn - 1, "tokens", f"{spent.tokens} of {budgets.tokens} tokens are used")
    elif (spent.usd or Decimal(0)) + 2 * spent.last_usd > budgets.usd:
        close(work, turn - 1, "usd", f"{spent.usd} of {budgets.usd} dollars are used")
    elif work.ledger.active > budgets.wall_time:
        close(work, turn - 1, "wall_time", f"{budgets.wall_time} are over")
    elif is_at_its_end(work, turn):
        close(
            work, turn - 1, "window", f"about {outlook_of(work, turn).tokens} tokens in the window"
        )
    elif work.ledger.guard.ends():
        close(work, turn - 1, "repeats", work.ledger.guard.ends())


def close(work: Work, turn: int, limit: str, why: str) -> None:
    """Record after *turn* that the next answer is the last. Only the first limit counts."""
    if work.ledger.limit:
        return
    state = put_back(work, visible(work.view.as_read()))
    work.journal.append(
        "limit",
        turn,
        {"limit": limit, "why": why, "text": f"{state}\n{work.limit_message(limit)}".strip()},
    )
