"""A run on the strict double with every lever in it, and journals made by hand, to measure."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from copilot import app
from copilot.config import load_settings
from copilot.journal import Event, Kind
from copilot.values import JsonObject
from copilot.workspace import Workspace
from tests.bench import ALERT, NOW, SEARCH, made_workspace
from tests.doubles.messages_api import MessagesApi, calls

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
POLICY = """\
name: mine
why: every lever acts within a few turns
clearing: {by: client, trigger_tokens: 6500, keep: 2, at_least_tokens: 100}
compaction: {by: auto, trigger_tokens: 7300, tail_turns: 1, summary_tokens: 1000}
"""
TURNS = 16


def investigated(folder: Path) -> tuple[Workspace, str]:
    """An incident that was investigated on the double with offload, clears and compactions."""
    workspace = made_workspace(folder)
    lines = [
        f"2026-11-30 11:{n // 60:02}:{n % 60:02},000 INFO mover: copied /store/{n}.root in {n} ms"
        for n in range(400)
    ]
    (folder / "many.log").write_text("\n".join(lines) + "\n")
    workspace.logbooks["logs"].import_file(folder / "many.log", "many.log")
    (folder / "policies").mkdir()
    (folder / "policies" / "mine.yaml").write_text(POLICY)
    script = [
        calls(("search_logbook", {"text": f"copied -x{n}", "limit": 40})) for n in range(TURNS)
    ]
    last = calls(("submit_report", {"verdict": "inconclusive", "summary": "x"}))
    with MessagesApi(*script, calls(SEARCH), last) as api:
        settings: JsonObject = {
            "model.name": "claude-sonnet-4-6",
            "model.base_url": api.url,
            "policy": "mine",
            "budgets.turns": 40,
        }
        found = Workspace(
            load_settings(folder, {}, folder, settings),
            {"ANTHROPIC_API_KEY": api.key},
            now=lambda: NOW,
        )
        incident = app.run(found, ALERT, app.Wishes()).incident
        assert api.refusals == []
    return found, incident


class Written:
    """A journal in the making: each event is a minute after the one before."""

    def __init__(self, model: str = "claude-sonnet-4-6") -> None:
        self.events: list[Event] = []
        self.add("started", 0, model=model, message="why has it stalled?")

    def add(self, kind: Kind, turn: int, *, minutes: int = 1, **data: Any) -> None:
        """Add one event."""
        time = self.events[-1].time if self.events else START
        after = timedelta(minutes=minutes)
        self.events.append(Event(len(self.events) + 1, time + after, kind, turn, data))

    def ask(self, turn: int, *, minutes: int = 1, **sizes: int) -> None:
        """Add a request of these bytes by source."""
        sizes = sizes or {"system": 1000, "tools": 3000, "alert": 100}
        self.add("request", turn, minutes=minutes, bytes=sizes, estimate=999)

    def answer(
        self,
        turn: int,
        tokens: Sequence[int] = (0, 0, 0, 0),
        *,
        usd: str | None = "0.01",
        **data: Any,
    ) -> None:
        """Add the answer; *tokens* are input, cache read, cache write, output."""
        names = ("input", "cache_read", "cache_write", "output")
        use = {"type": "tool_use", "id": f"call{turn}", "name": "search_logbook", "input": {}}
        given: dict[str, Any] = {
            "raw": {"content": [use], "stop_reason": "tool_use"},
            "model": "claude-sonnet-4-6",
            "stop_reason": "tool_use",
            "usage": dict(zip(names, tokens, strict=True)),
            "usd": usd,
        }
        self.add("response", turn, **(given | data))

    def result(self, turn: int, text: str = "x" * 500, **data: Any) -> None:
        """Add the answer to the turn's one call."""
        self.add("result", turn, call=f"call{turn}", tool="search_logbook", text=text, **data)
