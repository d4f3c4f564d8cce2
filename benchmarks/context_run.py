"""One investigation on the strict double, and what the double counted of it."""

import itertools
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.context_engine import build_ms
from benchmarks.context_investigator import Investigator
from benchmarks.context_plan import artifacts
from benchmarks.context_world import ALERT, made_world
from copilot import assembly, surface
from copilot.app import Wishes, run
from copilot.errors import CopilotError
from copilot.journal import Event
from copilot.report.values import Report
from tests.doubles.messages_api import (
    TRUNCATED,
    Cut,
    Json,
    MessagesApi,
    Options,
    Received,
    Status,
)

PRICES = {"input": 3.0, "output": 15.0, "read": 0.3, "write_5m": 3.75, "write_1h": 6.0}
"""Dollars per million tokens, for every model here, so that variants compare."""
SECONDS_A_TURN = 10.0
FAULTS: dict[str, Any] = {
    "429": Status(429, "rate_limit_error", headers={"retry-after": "1"}),
    "529": Status(529, "overloaded_error"),
    "500": Status(500, "api_error"),
    "reset": Cut(after=4, clean=False),
    "error event": Cut(after=3, error="overloaded_error"),
    "undecodable": TRUNCATED,
}
MISHAPS = {
    2: "429", 5: "529", 6: "529", 8: "500", 11: "reset", 15: "error event", 17: "undecodable",
    19: "invalid input", 23: "unknown tool", 26: "max_tokens", 28: "pause_turn",
}  # fmt: skip
"""What goes wrong before which step."""


@dataclass(frozen=True, slots=True)
class Variant:
    """What is measured: a policy, and what differs from the plain case."""

    name: str
    policy: str = "default"
    turns: int = 40
    model: str = "claude-sonnet-4-6"
    records: bool = True
    thinks: bool = False
    drops: int = 0
    fails_to_summarise: bool = False
    replays_clearing: bool = False
    window: int | None = None
    faulty: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """What one investigation cost and kept."""

    name: str
    dollars: float
    peak: int
    """Tokens of the largest request as read."""
    visible: int
    """Percent of the artifacts that were read when the report was written."""
    twice: tuple[str, ...]
    looks: int
    refused: int
    """Requests that the double refused for a fault of ours."""
    turns: int
    clears: int
    compactions: int
    failed_compactions: int
    dollars_by: dict[str, float]
    missing: tuple[str, ...]
    ended: str
    build_ms: dict[int, float | None]
    """By turn, what our side of the request took."""
    report: Report | None = None
    events: tuple[Event, ...] = field(default=(), repr=False)


class Counting(MessagesApi):
    """The double, with every answer's usage kept, whether it arrived or not."""

    def __init__(self, investigator: Investigator, options: Options) -> None:
        super().__init__(responder=investigator, options=options)
        self.samplings: list[Json] = []
        investigator.fault = lambda name: self.play(FAULTS[name])

    def take(self, received: Received) -> tuple[Json, Any]:
        """Answer as the double does, and keep the usage."""
        answer, fault = super().take(received)
        usage = answer.get("usage")
        if usage and received.path.endswith("/messages"):
            self.samplings += usage.get("iterations") or [usage]
        return answer, fault


def measure(variant: Variant, folder: Path | None = None) -> Measured:
    """Run one variant in a workspace of its own."""
    with tempfile.TemporaryDirectory() as made:
        return _measure(variant, (folder or Path(made)) / "workspace")


def _measure(variant: Variant, folder: Path) -> Measured:
    investigator = Investigator(
        variant.turns,
        records=variant.records,
        thinks=variant.thinks,
        drops=variant.drops,
        fails_to_summarise=variant.fails_to_summarise,
        mishaps=MISHAPS if variant.faulty else {},
    )
    seconds = itertools.count()
    options = Options(
        now=lambda: next(seconds) * SECONDS_A_TURN,
        summarise=investigator.summary,
        replays_clearing=variant.replays_clearing,
        window=variant.window,
    )
    with Counting(investigator, options) as api:
        workspace = made_world(
            folder,
            {
                "model.name": variant.model,
                "model.base_url": api.url,
                "policy": variant.policy,
                "budgets.turns": variant.turns + 20,
                "budgets.usd": 1000.0,
                "budgets.tokens": 10**9,
            },
        )
        events: list[Event] = []
        report = None
        try:
            ending = run(workspace, ALERT, Wishes(observe=events.append))
            report, ended = ending.report, ending.page.limit or "report"
        except CopilotError as error:
            ended = f"{type(error).__name__}: {error}"[:200]
    frame = assembly.frame_for(workspace, surface.registry_for(workspace))
    kinds = [event.kind for event in events]
    by = {name: round(sum(_parts(item)[name] for item in api.samplings), 4) for name in PRICES}
    return Measured(
        name=variant.name,
        dollars=round(sum(by.values()), 4),
        peak=max(_prompt(item) for item in api.samplings),
        visible=round(100 * len(investigator.visible) / len(artifacts())),
        twice=tuple(investigator.twice),
        looks=investigator.looks,
        refused=sum("scripted" not in str(item) for item in api.refusals),
        turns=max(event.turn for event in events),
        clears=kinds.count("clear"),
        compactions=kinds.count("compact"),
        failed_compactions=sum(e.kind == "compact" and bool(e.data.get("failed")) for e in events),
        dollars_by=by,
        missing=tuple(v for v in artifacts() if v not in investigator.visible),
        ended=ended if investigator.is_done or ended != "report" else "report by code",
        build_ms={turn: build_ms(events, frame, turn) for turn in (40, 400)},
        report=report,
        events=tuple(events),
    )


def _prompt(usage: Json) -> int:
    """The tokens that one sampling read."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(int(usage[name]) for name in names)


def _parts(usage: Json) -> dict[str, float]:
    """The dollars of one sampling by rate."""
    written = usage["cache_creation"]
    tokens = {
        "input": usage["input_tokens"],
        "output": usage["output_tokens"],
        "read": usage["cache_read_input_tokens"],
        "write_5m": written["ephemeral_5m_input_tokens"],
        "write_1h": written["ephemeral_1h_input_tokens"],
    }
    return {name: tokens[name] * rate / 1_000_000 for name, rate in PRICES.items()}
