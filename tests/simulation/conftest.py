"""Investigations recorded on the strict double, each once for all tests."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from copilot import app, assembly, surface
from copilot.config import load_settings
from copilot.context.room import usable_window
from copilot.journal import Event
from copilot.models import prices
from copilot.scratch.rows import decode
from copilot.scratch.store import Scratch
from copilot.simulation.simulate import Simulation, simulate
from copilot.simulation.stage import Terms
from copilot.values import Json, JsonObject
from copilot.workspace import Workspace
from policies.schema import Policy
from tests.bench import ALERT, FINDING, NOW, SEARCH, SUBMIT, made_workspace
from tests.doubles.messages_api import Json as Body
from tests.doubles.messages_api import MessagesApi, Options, calls, says

TURNS = 22
COPIES = "".join(
    f"2026-11-30 11:{n // 60:02}:{n % 60:02},000 INFO mover: copied /store/{n}.root for "
    f"wf_gamma_{n:04} at site_{n % 7} in {n * 37 % 900} ms\n"
    for n in range(600)
)


@dataclass(frozen=True)
class Recorded:
    """One investigation as it lies in its workspace."""

    workspace: Workspace
    incident: str
    events: tuple[Event, ...]
    scratch: Scratch

    @property
    def journal(self) -> Path:
        return self.workspace.journals(self.incident)[-1]

    def rows(self, handle: str) -> Sequence[JsonObject]:
        return [decode(line) for line in self.scratch.lines(handle)]

    def terms(self, policy: str | Policy, model: str = "") -> Terms:
        settings: dict[str, Json] = {"model.name": model or self.workspace.settings.model.name}
        if isinstance(policy, str):
            settings["policy"] = policy
        folder = self.workspace.settings.workspace
        workspace = Workspace(load_settings(folder, {}, folder, settings), {}, now=lambda: NOW)
        if isinstance(policy, Policy):
            workspace.__dict__["policy"] = policy
        frame = assembly.frame_for(workspace, surface.registry_for(workspace))
        known = prices.facts(frame.model)
        return Terms(
            frame=frame,
            window=usable_window(prices.window(frame.model), frame.policy),
            turns=workspace.settings.budgets.turns,
            prices=assembly.rates_for(frame.model),
            price=assembly.price_for(frame.model),
            cache_minimum=known.cache_minimum if known else None,
        )

    def under(self, policy: str | Policy) -> Simulation:
        return simulate(self.events, self.rows, self.terms(policy))


Record = Callable[..., Recorded]


@pytest.fixture(scope="session")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Return a function that gives the investigation recorded under that policy on that model."""

    @cache
    def recorded(policy: str, model: str = "claude-sonnet-4-6") -> Recorded:
        return investigated(tmp_path_factory.mktemp(policy), policy, model)

    return recorded


def investigated(folder: Path, policy: str, model: str) -> Recorded:
    bench = made_workspace(folder)
    (folder / "many.log").write_text(COPIES)
    bench.logbooks["logs"].import_file(folder / "many.log", "many.log")
    script = story()

    def answer(view: Body) -> Body:
        last = view["messages"][-1]["content"][-1]
        if str(last.get("text", "")).startswith("Summarise this investigation"):
            return says("Searched for copies; R0001 holds what cannot be resolved.")
        return script.pop(0)

    with MessagesApi(responder=answer, options=Options(now=time.monotonic)) as api:
        options: dict[str, Json] = {
            "model.name": model, "model.base_url": api.url, "policy": policy,
        }  # fmt: skip
        settings = load_settings(folder, {}, folder, options)
        workspace = Workspace(settings, {"ANTHROPIC_API_KEY": api.key}, now=lambda: NOW)
        ending = app.run(workspace, ALERT, app.Wishes())
    assert api.refusals == []
    incident = ending.incident
    return Recorded(workspace, incident, workspace.events(incident), workspace.scratch(incident))


def story() -> list[Body]:
    """The cause, searches that find ten lines each, two early things again, the report."""
    searches = [calls(("search_logbook", {"text": f"wf_gamma_0{n:02}*"})) for n in range(TURNS)]
    again = [
        calls(("read_scratch", {"handle": "R0004"})),
        calls(("search_logbook", {"text": "/store/31.root"})),
    ]
    return [calls(SEARCH), calls(FINDING), *searches, *again, calls(SUBMIT)]
