"""What was asked and answered so far, read back from the messages of a request.

The investigator keeps nothing between turns: this is all it knows. Results that a policy has
cleared are told apart from those that found nothing.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from copilot.fence import unfenced
from copilot.models.model import Json as RawJson
from copilot.models.model import Request
from copilot.values import Json, JsonObject, list_at, object_at, text_at

CALL_ID = re.compile(r"off_(\d+)_([a-z]+)_(\d+)")
"""The turn, the step and the number of a call, as `call_id` writes them."""
MARK = "Kept for later: "
"""Stands before the JSON in which a turn keeps what it was answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One tool's envelope. `known` is False when the body was cleared or cannot be read."""

    ok: bool = False
    known: bool = False
    total: int | None = None
    complete: bool = False
    handle: str = ""
    lines: int = 0
    rows: tuple[JsonObject, ...] = ()
    facts: JsonObject = field(default_factory=dict)
    range: tuple[str, str] = ("", "")
    text: str = ""
    """What was said instead of rows: a hint, an error."""

    @property
    def proves_absence(self) -> bool:
        """True when it looked everywhere and found nothing."""
        return self.ok and self.complete and self.total == 0


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call with its answer."""

    id: str
    turn: int
    step: str
    tool: str
    input: JsonObject
    answer: Answer
    is_kept: bool = False
    """True when a turn's own text holds what matters of the answer."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """Every call of ours in order, and whether tools may still be called."""

    exchanges: tuple[Exchange, ...]
    turns: int
    may_call: bool

    def of_step(self, *steps: str) -> tuple[Exchange, ...]:
        """The calls of these steps."""
        return tuple(item for item in self.exchanges if item.step in steps)

    def of_tool(self, *tools: str) -> tuple[Exchange, ...]:
        """The calls of these tools."""
        return tuple(item for item in self.exchanges if item.tool in tools)

    @property
    def steps(self) -> frozenset[str]:
        """The steps that were taken."""
        return frozenset(item.step for item in self.exchanges)


def call_id(turn: int, step: str, number: int) -> str:
    """The id of a call: the same for the same place, so that a resumed run sends the same bytes."""
    return f"off_{turn:02d}_{step}_{number}"


def read_transcript(request: Request) -> Transcript:
    """The transcript in *request*."""
    answers, kept = dict(_answers(request)), dict(_kept(request))
    exchanges = []
    for block in _blocks(request, "assistant", "tool_use"):
        call = str(block.get("id"))
        place = CALL_ID.fullmatch(call)
        if not place:
            continue
        answer = answers.get(call, Answer())
        if call in kept and not answer.rows:
            answer = kept[call]  # cleared since
        exchanges.append(
            Exchange(
                id=call,
                turn=int(place[1]),
                step=place[2],
                tool=str(block.get("name")),
                input=_input(block),
                answer=answer,
                is_kept=call in kept,
            )
        )
    turns = sum(message.get("role") == "assistant" for message in request.messages)
    closed = (request.tool_choice or {}).get("type") == "none" or not request.tools
    return Transcript(tuple(exchanges), turns, not closed)


def _kept(request: Request) -> Iterator[tuple[str, Answer]]:
    """What earlier turns kept of answers, by the id of the call."""
    for block in _blocks(request, "assistant", "text"):
        _, mark, rest = str(block.get("text", "")).partition(MARK)
        try:
            value = json.loads(rest) if mark else {}
        except ValueError:
            continue
        if isinstance(value, dict):
            for call, envelope in value.items():
                yield call, _answer(json.dumps(envelope))


def _answers(request: Request) -> Iterator[tuple[str, Answer]]:
    for block in _blocks(request, "user", "tool_result"):
        content = block.get("content")
        if isinstance(content, list):
            content = "\n".join(str(part.get("text", "")) for part in content)
        yield str(block.get("tool_use_id")), _answer(str(content))


def _blocks(request: Request, role: str, kind: str) -> Iterator[RawJson]:
    for message in request.messages:
        content = message.get("content")
        if message.get("role") == role and isinstance(content, list):
            yield from (block for block in content if block.get("type") == kind)


def _answer(text: str) -> Answer:
    try:
        envelope: Json = json.loads(unfenced(text))
    except ValueError:
        return Answer(text=text)
    if not isinstance(envelope, dict) or "ok" not in envelope:
        return Answer(text=text)
    total = envelope.get("total")
    ends = [str(item) for item in list_at(envelope, "range")]
    lines = envelope.get("lines")
    return Answer(
        ok=envelope.get("ok") is True,
        known=True,
        total=total if isinstance(total, int) else None,
        complete=envelope.get("complete") is True,
        handle=text_at(envelope, "handle"),
        lines=lines if isinstance(lines, int) else 0,
        rows=tuple(row for row in list_at(envelope, "rows") if isinstance(row, dict)),
        facts=object_at(envelope, "facts"),
        range=(ends[0], ends[1]) if len(ends) == 2 else ("", ""),
        text=text_at(envelope, "hint"),
    )


def _input(block: Mapping[str, object]) -> JsonObject:
    value = block.get("input")
    return value if isinstance(value, dict) else {}
