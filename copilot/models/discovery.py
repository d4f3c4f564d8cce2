"""Finds out what an endpoint supports, once a day, and remembers it in the workspace."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import get_ident
from typing import Protocol

from copilot.errors import ModelError
from copilot.models import prices
from copilot.models.model import Json, Request, Response
from copilot.models.support import NOTHING, Support, from_capabilities, from_json
from copilot.window import iso, parse_iso

KEPT_FOR = timedelta(days=1)
PROBE: Json = {
    "edits": [
        {
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": 1_000_000},
        }
    ]
}


class Describable(Protocol):
    """A model that can be asked about itself."""

    name: str

    def describe(self) -> Json | None:
        """What the Models API says, or None where there is none."""

    def respond(self, request: Request) -> Response:
        """Answer one request. Raises ModelError."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found out, by which way, and the answer that had to be paid for it, if any."""

    support: Support
    origin: str
    paid: Response | None = None
    window: int | None = None
    """The tokens that the endpoint says the model can hold."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """What endpoints support, in the file at *path*."""

    path: Path
    now: Callable[[], datetime]

    def find(self, model: Describable, address: str, said: Mapping[str, bool]) -> Found:
        """What *model* supports at *address*; *said* is what the operator knows better."""
        found = self._remembered(f"{address} {model.name}") or _asked(model)
        if found.origin != "remembered":
            self._keep(f"{address} {model.name}", found.support, found.window)
        origin = "configured" if said else found.origin
        return replace(found, support=found.support.but(said), origin=origin)

    def remember(self, model: str, address: str, support: Support) -> None:
        """Keep for a day what was learned from a refusal, or from a lever without effect."""
        known = self._book().get(f"{address} {model}") or {}
        self._keep(f"{address} {model}", support, known.get("window"))

    def _keep(self, key: str, support: Support, window: int | None) -> None:
        book = self._book()
        book[key] = {"at": iso(self.now()), "support": support.as_json(), "window": window}
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self.path.with_suffix(f".{os.getpid()}-{get_ident()}")
        draft.write_text(json.dumps(book, indent=1), encoding="utf-8")
        draft.replace(self.path)

    def _remembered(self, key: str) -> Found | None:
        known = self._book().get(key)
        if not known or self.now() - parse_iso(known["at"]) > KEPT_FOR:
            return None
        return Found(from_json(known["support"]), "remembered", window=known.get("window"))

    def _book(self) -> dict[str, Json]:
        """All verdicts; a file that cannot be read is as good as none."""
        try:
            book = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return book if isinstance(book, dict) else {}


def _asked(model: Describable) -> Found:
    described = model.describe()
    facts = prices.facts(model.name)
    binds = bool(facts and facts.binds_thinking)
    if described is not None:
        support = from_capabilities(described, binds_thinking=binds)
        return Found(support, "models api", window=_window(described))
    return _probed(model, Support(binds_thinking=binds))


def _window(described: Json) -> int | None:
    """What the model can hold by the Models API, or by vLLM's, which has a name of its own."""
    found = described.get("max_input_tokens") or described.get("max_model_len")
    return found if isinstance(found, int) and found > 0 else None


def _probed(model: Describable, known: Support) -> Found:
    """One request of one token with a clearing edit: taken, it may work; the effect must show."""
    request = Request(
        model=model.name,
        system=(),
        tools=(),
        messages=({"role": "user", "content": [{"type": "text", "text": "ping"}]},),
        max_tokens=1,
        betas=("context-management-2025-06-27",),
        context_management=PROBE,
    )
    try:
        paid = model.respond(request)
    except ModelError as error:
        if error.kind != "invalid":
            raise
        return Found(known if known != NOTHING else NOTHING, "probe refused")
    return Found(known.but({"clear_tool_uses": True}), "probe", paid)
