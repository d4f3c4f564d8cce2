"""`copilot policy simulate`: a recorded investigation priced anew under other policies."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import click

from copilot.cli.options import as_json
from copilot.cli.session import Session, pass_session
from copilot.errors import NotFoundError, ScratchError

if TYPE_CHECKING:
    from copilot.journal import Event
    from copilot.simulation.comparison import Figures
    from copilot.simulation.placed_again import Rows
    from copilot.simulation.stage import Terms
    from copilot.values import JsonObject

UNKNOWN = "n/a"
COLUMNS = (
    "POLICY", "USD", "PEAK", "INPUT", "READ", "WRITTEN", "OUTPUT",
    "OFFLOAD", "CLEARING", "COMPACTION", "LEFT", "NEEDED",
)  # fmt: skip


@click.command("simulate")
@click.argument("incident", metavar="ID")
@click.option(
    "--policy", "policies", multiple=True, metavar="NAME", help="Or a file; may be repeated."
)
@click.option("--model", metavar="NAME", help="The model whose prices count; else the recorded.")
@click.option("--investigation", type=click.IntRange(1), help="Which one; else the latest.")
@as_json
@pass_session
def simulate(
    session: Session,
    /,
    incident: str,
    policies: tuple[str, ...],
    model: str | None,
    investigation: int | None,
    as_json: bool,
) -> None:
    """Price the investigation of the incident ID anew under other policies; no model is asked.

    Its turns are told again from the journal, with results placed, cleared and summarised as each
    policy says. Without --policy, every policy is tried. OFFLOAD, CLEARING and COMPACTION are the
    dollars that each lever saved, less those of the cache that it broke.
    """
    from copilot.simulation.comparison import of_record, of_simulation
    from copilot.simulation.simulate import simulate as told_again
    from policies.loader import policy_names

    events = _events(session, incident, investigation)
    rows = _rows(session, incident)
    names = policies or policy_names(session.workspace.settings.policies)
    figures = [
        of_simulation(told_again(events, rows, _terms(session, events, model, name)))
        for name in names
    ]
    record = of_record(events)
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.simulation/1",
                "incident": incident,
                "recorded": _json(record),
                "simulated": [_json(one) for one in figures],
            }
        )
        return
    _print(session, record, figures)


def _events(session: Session, incident: str, number: int | None) -> "tuple[Event, ...]":
    """The record of one investigation. Raises NotFoundError."""
    from copilot.journal import read_events

    session.front(incident)
    journals = session.workspace.journals(incident)
    if not journals:
        raise NotFoundError(
            f"{incident} was never investigated here; begin with: copilot investigate {incident}"
        )
    if number and number > len(journals):
        raise NotFoundError(f"{incident} has investigations 1 to {len(journals)}, but no {number}")
    return read_events(journals[(number or len(journals)) - 1])


def _rows(session: Session, incident: str) -> "Rows":
    """How to read the rows of a handle; None where they were swept."""
    from copilot.scratch.rows import decode

    scratch = session.workspace.scratch(incident)

    def rows(handle: str) -> "Sequence[JsonObject] | None":
        try:
            return [decode(line) for line in scratch.lines(handle)]
        except ScratchError:
            return None

    return rows


def _terms(session: Session, events: "Sequence[Event]", model: str | None, policy: str) -> "Terms":
    """The policy with the model's prices; rules have none, so a usual model stands for them."""
    from copilot import assembly, surface
    from copilot.context.room import usable_window
    from copilot.models import prices
    from copilot.simulation.stage import Terms
    from copilot.values import text_at

    recorded = text_at(events[0].data, "model")
    name = model or (assembly.DEFAULT_MODEL if recorded == assembly.OFFLINE else recorded)
    workspace = session.open({"model.name": name, "policy": policy})
    frame = assembly.frame_for(workspace, surface.described(workspace, events[0].data))
    known = prices.facts(name)
    return Terms(
        frame=frame,
        window=usable_window(prices.window(name), frame.policy),
        turns=workspace.settings.budgets.turns,
        prices=assembly.rates_for(name),
        price=assembly.price_for(name),
        cache_minimum=known.cache_minimum if known else None,
    )


def _print(session: Session, record: "Figures", figures: "Sequence[Figures]") -> None:
    screen = session.screen
    head = f"recorded:{record.policy}"
    screen.table(COLUMNS, [_row(record, head), *(_row(one, one.policy) for one in figures)])
    needed = [(one.policy, gone) for one in figures for gone in one.needed]
    if needed:
        screen.line()
        screen.table(
            ("POLICY", "NEEDED-IN", "WHAT", "LEFT-BEFORE", "BY", "WITH"),
            [
                (policy, str(gone.needed_in), gone.needed_for, str(gone.turn), gone.lever,
                 f"{gone.handle} {gone.tool}".strip())
                for policy, gone in needed
            ],
        )  # fmt: skip
    screen.say(f"recorded on {record.model}; simulated on {figures[0].model}")
    for remark in dict.fromkeys(remark for one in figures for remark in one.remarks):
        whose = ", ".join(one.policy for one in figures if remark in one.remarks)
        screen.say((f"{whose}: {remark}", "warn"))


def _row(one: "Figures", name: str) -> tuple[str, ...]:
    counts = one.total.usage
    return (
        name,
        UNKNOWN if one.total.unpriced else f"{'' if one.is_whole else '≥'}{one.total.usd:.4f}",
        *map(str, (one.peak, counts.input, counts.cache_read, counts.cache_write, counts.output)),
        *(_dollars(lever.net_usd) for lever in one.levers),
        str(len(one.departures)),
        str(len(one.needed)),
    )


def _dollars(usd: Decimal | None) -> str:
    return UNKNOWN if usd is None else f"{usd:.4f}"


def _json(one: "Figures") -> "JsonObject":
    from copilot.cli.usage_tables import total_json

    return {
        "policy": one.policy,
        "model": one.model,
        "total": total_json(one.total),
        "is_whole": one.is_whole,
        "peak_tokens": one.peak,
        "levers": [
            {
                "lever": lever.lever,
                "acts": lever.acts,
                "saved_tokens": lever.saved,
                "broken_tokens": lever.broken,
                "net_usd": None if lever.net_usd is None else round(float(lever.net_usd), 8),
            }
            for lever in one.levers
        ],
        "left": [
            {
                "handle": gone.handle,
                "tool": gone.tool,
                "lever": gone.lever,
                "before_turn": gone.turn,
                "needed_in_turn": gone.needed_in or None,
                "needed_for": gone.needed_for or None,
            }
            for gone in one.departures
        ],
        "remarks": list(one.remarks),
    }
