"""The events of an investigation as lines for a person, and what the pinned line says meanwhile."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from copilot.cli.shown import counted
from copilot.cli.ui import Style
from copilot.safe_text import one_line
from copilot.values import JsonObject, list_at, object_at, text_at
from copilot.window import iso

if TYPE_CHECKING:
    from copilot.journal import Event, Kind

SHORT = 12
"""Characters of a commit's name."""
SAID = 160
"""Characters of a claim or a refusal."""


class Follower:
    """Knows how far an investigation is, from its events alone."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.incident = ""
        self._now = now
        self._began = now()
        self._turn = 0
        self._doing = "starting"
        self._window_tokens = 0
        self._usd = 0.0

    def take_in(self, event: "Event") -> tuple[str, Style]:
        """What to print of *event*, and in which style."""
        data = event.data
        self._turn = max(self._turn, event.turn)
        self._usd += float(text_at(data, "usd") or 0)
        match event.kind:
            case "started":
                self.incident = text_at(data, "incident")
            case "request":
                self._window_tokens = int(text_at(data, "estimate") or 0)
                self._doing = "waiting for the answer"
            case "response":
                self._doing = "running tools"
            case "clear" | "compact":
                self._doing = "making room"
            case "limit":
                self._doing = "writing the report"
            case _:
                pass
        return _line(event), _style(event)

    def status(self) -> str:
        """Turn, what is being done, time gone by, tokens in the window, dollars."""
        seconds = int((self._now() - self._began).total_seconds())
        return (
            f"turn {self._turn} · {self._doing} · {seconds // 60}:{seconds % 60:02} · "
            f"{self._window_tokens:,} tokens in the window · ${self._usd:.4f}"
        )


def event_json(event: "Event") -> JsonObject:
    """An event as one line of --jsonl: all of it but the bulk, which the journal keeps."""
    left_out = {
        "raw", "text", "message", "effect", "artifacts", "report", "state", "summary", "block",
        "placeholders",
    }  # fmt: skip
    return {
        "schema": "copilot.event/1",
        "seq": event.seq,
        "time": iso(event.time),
        "kind": event.kind,
        "turn": event.turn,
        "data": {key: value for key, value in event.data.items() if key not in left_out},
    }


def _line(event: "Event") -> str:
    """The event in one line."""
    said = LINES[event.kind](event.data)
    return one_line(f"turn {event.turn}: {said}" if event.turn else said)


def _style(event: "Event") -> Style:
    match event.kind:
        case "result":
            return "" if event.data.get("ok") else "warn"
        case "nudge" | "limit":
            return "warn"
        case "started" | "report" | "ended":
            return "title"
        case _:
            return "dim"


def _title(data: JsonObject) -> str:
    return text_at(object_at(data, "alert"), "title")


def _spent(data: JsonObject) -> str:
    usage = object_at(data, "usage")
    output, ms = text_at(usage, "output"), int(text_at(data, "ms") or 0)
    tokens = f", {output} tokens" if output else ""
    return f"{tokens} in {ms / 1000:.1f} s"


def _result(data: JsonObject) -> str:
    """One answer of a tool in one line: what was called, how much came, where it is kept."""
    tool, handle = text_at(data, "tool"), text_at(data, "handle")
    effect = object_at(data, "effect")
    if data.get("ends"):
        return f"{tool} accepted"
    if not data.get("ok"):
        return f"{tool} refused: {text_at(data, 'text')[:SAID]}"
    news = object_at(effect, "finding") or object_at(effect, "note")
    if news:
        return f"{tool}: {text_at(news, 'claim', 'text')[:SAID]}"
    count = int(text_at(data, "total") or 0)
    total = "1 row" if count == 1 else f"{count:,} rows"
    kept = f", {text_at(data, 'placement')} as {handle}" if handle else ""
    partly = "" if data.get("complete") else ", incomplete"
    again = f", as in turn {text_at(data, 'repeats')}" if data.get("repeats") else ""
    return f"{tool} → {total}{kept}{partly}{again}"


def _cleared(data: JsonObject) -> str:
    return f"{counted(len(list_at(data, 'calls')), 'old result')} left the request, not scratch"


def _compacted(data: JsonObject) -> str:
    failed = data.get("failed")
    return "no summary came; the turns stay" if failed else "older turns became a summary"


def _committed(data: JsonObject) -> str:
    return f"committed {text_at(data, 'commit')[:SHORT]}"


LINES: "Mapping[Kind, Callable[[JsonObject], str]]" = {
    "started": lambda data: f"incident {text_at(data, 'incident')}: {_title(data)}",
    "support": lambda data: f"what the endpoint offers is known ({text_at(data, 'origin')})",
    "request": lambda data: f"asking, {int(text_at(data, 'estimate') or 0):,} tokens in the window",
    "response": lambda data: f"answer{_spent(data)}",
    "result": _result,
    "nudge": lambda _: "text without a report; asked for one",
    "state": lambda _: "what matters was put back into the request",
    "clear": _cleared,
    "compact": _compacted,
    "limit": lambda data: f"limit: {text_at(data, 'why')}; one last answer, the report",
    "commit": lambda data: f"notes {_committed(data)}",
    "report": lambda data: f"report written by {text_at(data, 'author')}",
    "ended": lambda data: f"report {_committed(data)}",
}
"""What is said of each kind of event."""
