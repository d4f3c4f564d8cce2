"""The parts of one investigation, made from a workspace: its model, its frame, its case."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from decimal import Decimal
from typing import Any, cast

from copilot import alerts, prompt
from copilot.artifacts import find_artifacts
from copilot.context.levers import Prices
from copilot.context.request import Frame
from copilot.context.room import answer_tokens, check_room, usable_window
from copilot.errors import ConnectorError, CredentialsError
from copilot.journal import Event
from copilot.ledger import Ledger
from copilot.loading import load
from copilot.models import prices
from copilot.models.discovery import Describable
from copilot.models.model import Model, Usage
from copilot.models.retries import Attempt, Retries
from copilot.models.support import NOTHING
from copilot.notes.search import search_notes
from copilot.notes.state import parse
from copilot.runbooks import announced, library_of
from copilot.screening import screened
from copilot.settings import RUNBOOKS
from copilot.steps import Budgets, usage_json
from copilot.tools.base import Case
from copilot.tools.registry import Registry
from copilot.values import Alert, Json, JsonObject, object_at, text_at
from copilot.window import iso
from copilot.workspace import Workspace
from policies.schema import Policy, Window

OFFLINE = "offline"
DEFAULT_MODEL = "claude-sonnet-5-5"
VERSION = "loop-1"
"""Of the journal: what an investigation was begun with. Another version is never resumed."""


NO_KEY = "no-key"
"""What an endpoint without keys is sent, since the client sends none that is empty."""


def model_name(workspace: Workspace) -> str:
    """The model that investigates here: `auto` is Claude when there is a key, else offline.

    An endpoint without keys has models of its own, so there the name must be said.
    """
    name = workspace.settings.model.name
    if name != "auto":
        return name
    return DEFAULT_MODEL if workspace.api_key() else OFFLINE


def unnamed_endpoint(workspace: Workspace) -> str:
    """What to do where rules investigate though an endpoint is configured; empty otherwise."""
    settings = workspace.settings.model
    if settings.name != "auto" or settings.needs_key or workspace.api_key():
        return ""
    return (
        f"{settings.base_url} is not asked: name a model that it serves, in model.name or with "
        "--model NAME"
    )


@contextmanager
def model_for(
    workspace: Workspace,
    on_attempt: Callable[[Attempt], None],
    retries: Retries | None = None,
) -> Iterator[Model]:
    """The model, ready to answer. *retries* are how patient it is; None: as a person would be.

    Raises CredentialsError when the public service is wanted without a key.
    """
    name = model_name(workspace)
    if name == OFFLINE:
        from copilot.models.offline import OfflineModel

        yield OfflineModel()
        return
    load("copilot.models.claude")
    from copilot.models.claude import Claude, Endpoint

    settings = workspace.settings.model
    key = workspace.api_key()
    if key is None and settings.needs_key:
        raise CredentialsError(
            f"{name} needs a key: set ANTHROPIC_API_KEY (or ANTHROPIC_API_KEY_FILE), "
            "name an endpoint that needs none in model.base_url, or investigate by rules: "
            "--model offline"
        )
    word = key.reveal() if key else NO_KEY
    endpoint = Endpoint(
        word,
        settings.base_url,
        answer_s=settings.timeout_s,
        proxy=settings.proxy,
        ca_file=settings.ca,
    )
    retries = retries or Retries(sleep=time.sleep, random=random.random)
    claude = Claude(name, endpoint, retries=retries, now=workspace.now, on_attempt=on_attempt)
    with closing(claude):
        yield claude


def support_for(workspace: Workspace, model: Model) -> JsonObject:
    """What the endpoint of *model* can do of its own, as the journal keeps it."""
    name = model_name(workspace)
    if name == OFFLINE:
        return {**NOTHING.as_json(), "origin": OFFLINE}
    settings = workspace.settings.model
    said = {str(lever): has for lever, has in settings.supports.items()}
    found = workspace.discovery.find(cast("Describable", model), settings.base_url, said)
    data: JsonObject = {**found.support.as_json(), "origin": found.origin}
    if found.window:
        data["window"] = found.window
    if found.paid:
        usage = found.paid.usage
        data |= {"model": name, "usage": usage_json(usage), "usd": _text(prices.cost(name, usage))}
    return data


def window_for(frame: Frame, events: Sequence[Event] = ()) -> int:
    """The tokens that a request and its answer may take: by the endpoint, else by the price table.

    Raises ConfigError when what every request carries leaves no room there.
    """
    told = (event.data.get("window") for event in events if event.kind == "support")
    said = next((size for size in told if isinstance(size, int)), None)
    window = usable_window(said or prices.window(frame.model), frame.policy)
    check_room(frame, window)
    return window


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)


def price_for(name: str) -> Callable[[Usage], Decimal | None]:
    """What an answer of that model costs in dollars; rules cost nothing."""
    if name == OFFLINE:
        return lambda _: Decimal(0)
    return lambda usage: prices.cost(name, usage)


def rates_for(name: str) -> Prices:
    """What reading the cache and writing it cost; at classic rates where nobody knows."""
    known = prices.facts(name)
    if known is None or known.rates is None:
        return Prices(write=1.25, read=0.1)
    return Prices(write=float(known.rates.write_5m), read=float(known.rates.read))


def policy_for(workspace: Workspace) -> Policy:
    """The policy of an investigation. Rules pay for nothing and forget nothing: no lever is pulled.

    What the tools show stays as it is, so that the offline investigator sees what a model sees.
    """
    policy = workspace.policy
    if model_name(workspace) != OFFLINE:
        return policy
    off: dict[str, object] = {
        "offer": "all",
        "window": Window(),
        "clearing": policy.clearing.model_copy(update={"by": "off"}),
        "compaction": policy.compaction.model_copy(update={"by": "off"}),
    }
    return policy.model_copy(update=off)


def frame_for(workspace: Workspace, registry: Registry) -> Frame:
    """What stays the same through an investigation: system prompt, tools, limits."""
    policy = policy_for(workspace)
    tools = registry.definitions()
    return Frame(
        model=model_name(workspace),
        system=prompt.system([tool["name"] for tool in tools]),
        tools=tools,
        max_tokens=answer_tokens(workspace.settings.model.max_output_tokens, policy),
        policy=policy,
        effort=workspace.settings.model.effort,
    )


def budgets_for(workspace: Workspace) -> Budgets:
    """What an investigation may use."""
    budgets = workspace.settings.budgets
    return Budgets(budgets.turns, budgets.tokens, Decimal(str(budgets.usd)), budgets.wall_time)


def case_for(
    workspace: Workspace, incident: str, alert: Alert, question: str, ledger: Ledger
) -> Case:
    """All that the tools may reach for this incident."""
    return Case(
        incident=incident,
        alert=alert,
        question=question,
        logbooks=workspace.logbooks,
        trackers=workspace.trackers,
        libraries={**workspace.libraries, RUNBOOKS: library_of(workspace.runbooks)},
        scratch=workspace.scratch(incident),
        # An operator may have pasted a secret into the page; a model never reads it.
        state=lambda: parse(workspace.redactor.redact(workspace.notes.read(incident) or "")),
        recall=lambda query: search_notes(workspace.settings.notes, query),
        answers=lambda: ledger.answers,
        seen=lambda: ledger.seen,
        refusals=lambda: ledger.refusals,
        outbox=workspace.outbox,
    )


def started(workspace: Workspace, case: Case, remote: Sequence[JsonObject]) -> JsonObject:
    """What the journal begins with: everything the first message says, and what it was made of.

    *remote* are the tools of MCP servers, which may be described otherwise when it goes on.
    """
    sources: JsonObject = {
        "logbooks": [_logbook(name, book) for name, book in sorted(case.logbooks.items())],
        "trackers": list[Json](sorted(case.trackers)),
        "libraries": list[Json](sorted(case.libraries)),
    }
    alert = alerts.as_json(case.alert)
    mark = workspace.mark(case.incident)
    said: JsonObject = {
        "alert": alert,
        "question": case.question,
        "sources": sources,
        "history": _history(workspace, case.incident),
    }
    shown = screened(said, workspace.redactor)
    return {
        "version": VERSION,
        "incident": case.incident,
        "alert": alert,
        "question": case.question,
        "model": model_name(workspace),
        "policy": workspace.policy.name,
        "mark": mark,
        "mcp_tools": [*remote],
        "message": _announced(workspace, case.alert)
        + prompt.first_message(
            object_at(shown, "alert"),
            incident=case.incident,
            question=text_at(shown, "question"),
            sources=object_at(shown, "sources"),
            history=object_at(shown, "history"),
            mark=mark,
        ),
        "artifacts": [
            [item.kind, item.value, 0]
            for item in find_artifacts(f"{case.alert.words()}\n{case.question}")
        ],
    }


def _history(workspace: Workspace, incident: str) -> JsonObject:
    """What came of the incident's forerunner; empty without one."""
    front = workspace.notes.front(incident)
    if not front or not front.previous:
        return {}
    before = workspace.notes.front(front.previous)
    return {
        "recurrence_of": front.previous,
        "outcome": before.outcome if before else "",
        "verdict": before.verdict if before else "",
    }


def _announced(workspace: Workspace, alert: Alert) -> str:
    """What the first message says of runbooks; nothing where no tool is offered to read them."""
    if not policy_for(workspace).offers("read_document"):
        return ""
    return prompt.announcement(announced(workspace.runbooks, alert, workspace.redactor.redact))


def _logbook(name: str, book: Any) -> JsonObject:
    """What the first message says of a logbook: how much it holds, and of which time."""
    try:
        found = book.fields()
    except ConnectorError as error:
        return {"name": name, "problem": str(error)}
    return {
        "name": name,
        "entries": found.total,
        "first": iso(found.first) if found.first else None,
        "last": iso(found.last) if found.last else None,
    }
