"""What was asked before, and which answers had to be had again: a fold over the journal.

It lives outside the context, so that clearing, compaction and restart do not make it forget.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal

from copilot.context.likeness import Likeness, likeness
from copilot.journal import Event
from copilot.values import JsonObject, list_at, object_at, text_at

Worth = Literal["news", "repeat", "reread", "same", "empty", "failed", "closed"]
READS_BACK = frozenset({"read_scratch", "search_scratch", "query_scratch"})
"""Read anew each time, since it costs nothing and scratch may hold more by now."""
OWN_WORDS = frozenset({"read_notes", "write_notes", "record_finding", "submit_report"})
"""The newest answer is the one that counts; reading them back is never news."""
SEARCHES = frozenset(
    {"search_logbook", "logbook_trace", "search_tickets", "search_documents", "search_incidents",
     "search_scratch"}
)  # fmt: skip
"""Tools whose rows are things found: none is an empty answer, the same ones are no news."""
TIGHT = 3
"""Cleared results of one tool that were needed again, after which its `keep` is too tight."""


@dataclass(slots=True)
class Past:
    """A call that was answered well: by which event, and which calls carried its body since."""

    like: Likeness
    event: Event
    bodies: set[str] = field(default_factory=set)
    runs: int = 1

    @property
    def sha(self) -> str:
        """The digest of what it found."""
        return text_at(self.event.data, "sha")


def advice_in(events: Iterable[Event]) -> dict[str, str]:
    """What to change in the policy, by tool, as *events* say it last."""
    data = [event.data for event in events if event.kind == "result"]
    return {text_at(one, "rereads"): text_at(one, "advice") for one in data if one.get("advice")}


class Asked:
    """The fold. `add` takes events in order; everything else reads."""

    def __init__(self) -> None:
        self.advice: dict[str, str] = {}
        """What to change in the policy, by tool."""
        self._past: dict[str, list[Past]] = {}
        self._found: set[tuple[str, str]] = set()
        self._handles: dict[str, Event] = {}
        self._cleared: set[str] = set()
        self._rereads: dict[str, int] = {}

    def add(self, event: Event) -> None:
        """Take in one event."""
        data = event.data
        if event.kind == "clear":
            self._cleared |= {str(call) for call in list_at(data, "calls")}
        if event.kind != "result":
            return
        if text_at(data, "handle"):
            self._handles.setdefault(text_at(data, "handle"), event)
        if data.get("ok") is True:
            self._answered(event)
        again = text_at(data, "rereads")
        if again:
            self._rereads[again] = self._rereads.get(again, 0) + 1
        if text_at(data, "advice"):
            self.advice[again] = text_at(data, "advice")

    def known(self, tool: str, arguments: JsonObject) -> Past | None:
        """The same call when its answer may be served again; a partial one is tried once more."""
        past = self._same(likeness(tool, arguments))
        if past is None or tool in READS_BACK:
            return None
        return past if past.event.data.get("complete") or past.runs > 1 else None

    def worth(self, data: JsonObject, visible: Collection[str]) -> Worth:
        """What an answer tells that was not known; *visible* are calls whose answers are seen."""
        tool, sha = text_at(data, "tool"), text_at(data, "sha")
        if data.get("ok") is not True:
            return "failed"
        like = likeness(tool, object_at(data, "arguments"))
        past = self._same(like)
        if past and (data.get("repeats") or past.sha == sha or tool == "read_notes"):
            stands = past.sha == sha and past.bodies & set(visible)
            return "repeat" if stands else "reread"
        alike = self._past.get(like.question, ())
        if any(past.like.overlaps(like) and past.sha == sha for past in alike):
            return "same"
        if tool in SEARCHES and not data.get("total"):
            return "empty"
        return "same" if tool in SEARCHES and (tool, sha) in self._found else "news"

    def needed_again(self, data: JsonObject) -> JsonObject:
        """The fields for the journal when this answer brings back a cleared one; else none."""
        tool = self._brought_back(data)
        if not tool:
            return {}
        count = self._rereads.get(tool, 0) + 1
        advice = (
            f"keep is too tight for {tool}: {count} of its cleared results were needed again; "
            "raise clearing.keep, or set clear: never for it"
        )
        return {"rereads": tool, **({"advice": advice} if count >= TIGHT else {})}

    def _answered(self, event: Event) -> None:
        data = event.data
        tool = text_at(data, "tool")
        like = likeness(tool, object_at(data, "arguments"))
        past = self._same(like)
        if past is None:
            past = Past(like, event)
            self._past.setdefault(like.question, []).append(past)
        elif not data.get("repeats"):
            past.runs += 1
            if not past.event.data.get("complete") or tool in READS_BACK | OWN_WORDS:
                past.event = event
        if data.get("placement") != "repeat":
            past.bodies.add(text_at(data, "call"))
        if data.get("total") and text_at(data, "sha"):
            self._found.add((tool, text_at(data, "sha")))

    def _same(self, like: Likeness) -> Past | None:
        for past in self._past.get(like.question, ()):
            if past.like.is_same(like):
                return past
        return None

    def _brought_back(self, data: JsonObject) -> str:
        """The tool whose cleared result this answer shows again; empty when none was."""
        tool, arguments = text_at(data, "tool"), object_at(data, "arguments")
        if data.get("worth") == "reread":
            past = self._same(likeness(tool, arguments))
            return tool if past and past.bodies & self._cleared else ""
        event = self._handles.get(text_at(arguments, "handle"))
        if tool != "read_scratch" or event is None or event.data["call"] not in self._cleared:
            return ""
        handle, shown = text_at(event.data, "handle"), text_at(event.data, "text")
        first = int(text_at(arguments, "first") or 1)
        lines = range(first, first + int(text_at(arguments, "count") or 10))
        # Reading on where the shown lines ended is what a pointer is for.
        was_shown = any(f'"{handle}:{line}"' in shown for line in lines)
        return text_at(event.data, "tool") if was_shown else ""
