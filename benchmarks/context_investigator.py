"""A scripted investigator: a function of the plan and of what the service says the model reads.

It knows an exact value only while it reads it. Where a turn needs one that it does not read any
more, it fetches it again, which is counted and costs a turn. It looks a value up by the words
beside it, as one does who remembers what it was about. It plays a real model's mishaps on request.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.context_plan import Call, Step, artifacts, job, plan
from benchmarks.context_world import NEEDED, host
from copilot.context.instructions import SUMMARY
from copilot.fence import unfenced
from tests.doubles.messages_api import Json, calls, says, stops, thinks

THOUGHT = (
    "The result narrows it to one component, and the time fits the alert. I compare with a healthy "
    "hour before I trust it."
)
IDENTIFIER = re.compile(
    r"[\w.-]+\.example\.org|OPS-\d+|R\d{4}:\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}|\b\d{8,12}\b"
    r"|/[\w./-]+|T[12]_\w+|\w+_\d{6}_\d{6}_\d+|\b60321\b"
)
"""What a careful summariser keeps; not the product's own idea of an artifact."""
MAX_LOOKS = 2


@dataclass
class Investigator:
    """Answers requests. `mishaps` says at which step which one happens, once."""

    turns: int
    records: bool = True
    """Whether it records as a finding what it meets and will need, and takes notes."""
    thinks: bool = False
    """Whether a thought stands before each turn, where the request allows it."""
    drops: int = 0
    """Of ten identifiers, how many its summaries lose."""
    fails_to_summarise: bool = False
    mishaps: Mapping[int, str] = field(default_factory=dict)
    fault: Callable[[str], None] = lambda _: None
    """Told the name of a fault to put on the wire before the next answer."""
    twice: list[str] = field(default_factory=list)
    """What was fetched again, as `turn: value`."""
    looks: int = 0
    """Turns that opened a pointer to see a value for the first time."""
    visible: list[str] = field(default_factory=list)
    """The artifacts that were read when the report was written."""
    is_done: bool = False
    _at: int = 0
    _steps: list[Step] = field(init=False)
    _pending: tuple[str, str, str] | None = None
    """Claim, value and words of what was met and is not recorded yet."""
    _tries: int = 0
    _told: dict[str, Json] = field(default_factory=dict)
    _references: dict[str, str] = field(default_factory=dict)
    _played: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._steps = plan(self.turns)

    def __call__(self, request: Json) -> Json:
        """The answer to a request as it is read; the same request gets the same answer."""
        messages = json.dumps(request["messages"], ensure_ascii=False)
        key = hashlib.sha256(_unmarked(messages).encode()).hexdigest()
        if key not in self._told or self._told[key]["stop_reason"] == "max_tokens":
            self._told[key] = self._answer(request, messages)
        return self._told[key]

    def summary(self, request: Json, _: str | None = None) -> str | None:
        """The summary of a request: its identifiers, less those that this summariser drops."""
        if self.fails_to_summarise:
            return None
        text = json.dumps(request["messages"], ensure_ascii=False)
        found = list(dict.fromkeys(IDENTIFIER.findall(text)))
        kept = [value for value in found if _dice(value) >= self.drops]
        wanted = [value for value in artifacts() if value in kept]
        others = [value for value in kept if value not in wanted][:30]
        return (
            "The alert asks why the workflow makes no progress. Counts and patterns were looked at "
            f"first, then lines and tickets. {SAYS_SUMMARY} Identifiers: {', '.join(wanted)}. Also "
            f"seen: {', '.join(others)}. Next: follow the plan, then hand in the report."
        )

    def _answer(self, request: Json, messages: str) -> Json:
        if SUMMARY[:60] in json.dumps(request["messages"][-1]):
            text = self.summary(request)
            return says(text) if text else stops("end_turn")
        mishap = self.mishaps.get(self._at)
        if mishap and self._at not in self._played:
            self._played.add(self._at)
            if mishap not in MISHAPS:
                self.fault(mishap)
            else:
                return MISHAPS[mishap]
        reply = self._turn(messages)
        allowed = (request.get("thinking") or {}).get("type", "disabled") != "disabled"
        return thinks(THOUGHT, reply) if self.thinks and allowed else reply

    def _turn(self, messages: str) -> Json:
        """The next turn: a look at what was not shown, a value fetched again, or the next step."""
        found: list[Call] = []
        if self._pending:
            claim, value, near = self._pending
            reference = next(_references(messages, value), "")
            if not reference and self._tries < MAX_LOOKS:
                self._tries += 1
                self.looks += 1
                return calls(
                    _look(near), text=f"The line about the {claim} is not shown; I open it."
                )
            self._pending, self._tries = None, 0
            self._references[value] = reference
            if self.records and reference:
                found = [_finding(claim, value, reference)]
        if self._at == len(self._steps):
            return self._report(messages)
        step = self._steps[self._at]
        if step.needs and step.needs.value not in messages and self._tries < MAX_LOOKS:
            self._tries += 1
            self.twice.append(f"{self._at + 1}: {step.needs.value}")
            return calls(
                _look(step.needs.near), text="I need the exact value again and look it up."
            )
        self._tries = 0
        self._at += 1
        self._meets(step)
        planned = [self._cited(call) for call in step.calls if self.records or not _notes(call)]
        return calls(*found, *planned, text=step.says)

    def _cited(self, call: Call) -> Call:
        """The call; what rules a cause out cites the line that was read last."""
        name, arguments = call
        if not _notes(call) or arguments["section"] != "ruled_out":
            return call
        lines = [{"reference": ref, "quote": value} for value, ref in self._references.items()]
        return name, {**arguments, "evidence": lines[-1:]}

    def _meets(self, step: Step) -> None:
        if step.meets:
            self._pending = (step.meets.what, step.meets.value, step.meets.near)
        if step.cites:
            words = f"at {host(step.cites)} job {job(step.cites)}"
            self._pending = ("job", words, words)

    def _report(self, messages: str) -> Json:
        """The report, of the values whose lines it still reads."""
        self.visible = [value for value in artifacts() if value in messages]
        self.is_done = True
        whole = {item.value: item.what for item in NEEDED}
        claims = [
            _claim(whole.get(value, "job"), value, reference)
            for value, reference in self._references.items()
            if reference and reference in messages and value in messages
        ]
        report: dict[str, Any] = {"verdict": "inconclusive", "summary": "No line was left to cite."}
        if claims:
            first, *rest = claims
            report = {
                "verdict": "action_suggested",
                "summary": "Copies of the workflow fail at one site and its jobs wait for them.",
                "cause": first,
                "evidence": rest[:7],
                "next_steps": ["Lift the rule, then release the quarantined job."],
            }
        return calls(("submit_report", report), text="The chain is complete; I hand it in.")


SAYS_SUMMARY = (
    "The checksum mismatch came first; stage-in and the merge wait for it. A mirror in downtime "
    "was ruled out, and the proxy was long enough. A rule from a ticket keeps the copies in place."
)
MISHAPS: dict[str, Json] = {
    "invalid input": calls(("search_logbook", {"text": ["a"], "limit": "many"}), text="I search."),
    "unknown tool": calls(("search_logs", {"text": "mismatch"}), text="I search."),
    "max_tokens": calls(("search_logbook", '{"text": "chec'), text="I", stop_reason="max_tokens"),
    "pause_turn": says("I go on in a moment.", stop_reason="pause_turn"),
}


def _notes(call: Call) -> bool:
    return call[0] == "write_notes"


def _look(near: str) -> Call:
    return "search_scratch", {"pattern": re.escape(near).replace("\\ ", " "), "limit": 3}


def _claim(what: str, value: str, reference: str) -> dict[str, Any]:
    ticked = "` `".join(part for part in value.split() if part not in ("at", "job"))
    return {
        "claim": f"the {what} `{ticked}` is where it stops",
        "status": "likely",
        "evidence": [{"reference": reference, "quote": value}],
    }


def _finding(what: str, value: str, reference: str) -> Call:
    return "record_finding", _claim(what, value, reference)


def _references(messages: str, value: str) -> Iterator[str]:
    """The lines that hold *value*, among the rows of the answers that are read."""
    for message in json.loads(messages):
        for block in message["content"]:
            if block.get("type") != "tool_result" or value not in str(block.get("content")):
                continue
            for row in json.loads(unfenced(block["content"])).get("rows", []):
                if value in json.dumps(row, ensure_ascii=False) and "ref" in row:
                    yield str(row["ref"])


def _unmarked(messages: str) -> str:
    return re.sub(r', "cache_control": \{[^}]*\}', "", messages)


def _dice(value: str) -> int:
    return hashlib.sha256(value.encode()).digest()[0] % 10
