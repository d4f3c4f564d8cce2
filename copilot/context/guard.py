"""Whether an investigation still learns anything, and what happens when it does not.

Answers without news in a row end in three steps: a nudge in the result's hint, then the tools in
question are closed until another one brings news, then the final report. A pure fold over the
journal. A re-read of what left the view is never refused and never counts as a repeat.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from copilot.context.asked import OWN_WORDS, READS_BACK, Asked
from copilot.context.likeness import likeness
from copilot.journal import Event
from copilot.values import JsonObject, object_at, text_at

STALE = frozenset({"repeat", "same", "failed", "closed"})
"""Worths that a model which looks at its answers would not produce in a row."""
NUDGE, CLOSE, END = 3, 6, 10
"""Stale answers in a row."""
EMPTY_NUDGE, EMPTY_CLOSE, EMPTY_END = 5, 10, 16
"""The same with empty answers to new questions counted in: looking in vain is honest work."""
REREAD_NUDGE, REREAD_END = 15, 30
"""Answers in a row that brought nothing new, needed re-reads included."""
CLOSE_TURNS, END_TURNS = 2, 3
"""Turns over which they lie, so that the model has seen the nudge before the next step."""
NEVER_CLOSED = READS_BACK | OWN_WORDS
INSTEAD = (
    "logbook_overview", "logbook_patterns", "logbook_trace", "search_tickets", "search_documents",
    "read_notes", "query_scratch", "submit_report",
)  # fmt: skip
"""What to use instead of a closed tool, the widest view first."""
SAYS = {
    "swing": "you go back and forth between two calls whose answers you have",
    "repeat": "these calls were made before and their answers stand",
    "same": "asked wider or in other words the answer stays the same: there is no more",
    "empty": "nothing was found again; a complete total 0 is a fact that you may cite",
    "failed": "these calls fail one after the other; their hints say why",
    "closed": "closed tools stay closed until another one brings news",
    "reread": "you read the same things again and again; write_notes keeps what matters of them",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One answer without news."""

    turn: int
    tool: str
    question: str
    worth: str


class Guard:
    """The fold. `add` takes events in order; everything else reads."""

    def __init__(self) -> None:
        self.asked = Asked()
        self._streak: list[Step] = []
        self._turn = 0
        self._closed: frozenset[str] = frozenset()

    def add(self, event: Event) -> None:
        """Take in one event."""
        self.asked.add(event)
        if event.kind != "result":
            return
        if event.turn > self._turn:
            self._turn, self._closed = event.turn, self._due_to_close()
        if event.data.get("worth", "news") == "news":
            self._streak = []
        else:
            self._streak.append(_step(event.turn, event.data))

    def judged(self, data: JsonObject, visible: Collection[str]) -> JsonObject:
        """The answer with its worth and what follows from it, for the journal.

        *visible* are the calls whose answers the model still sees.
        """
        data = {"worth": self.asked.worth(data, visible), **data}
        return data | self.asked.needed_again(data)

    def nudge(self, turn: int, data: JsonObject) -> str:
        """What the model is told with this judged answer; empty while there is no pattern."""
        if data["worth"] in ("news", "closed"):
            return ""
        streak = [*self._streak, _step(turn, data)]
        stale, barren, _ = _counts(streak)
        if stale < NUDGE and barren < EMPTY_NUDGE and len(streak) < REREAD_NUDGE:
            return ""
        return (
            f"{len(streak)} answers in a row brought nothing new: {_said(streak)}. Ask something "
            "else, or hand in what you have with submit_report"
        )

    def closed(self, turn: int) -> frozenset[str]:
        """The tools that are closed in *turn*, the same from its first call to its last."""
        return self._closed if turn <= self._turn else self._due_to_close()

    def refusal(self, tool: str, turn: int, tools: Collection[str]) -> str:
        """What a call of a closed tool is answered with: why, and which of *tools* to use."""
        closed = self.closed(turn)
        instead = [name for name in INSTEAD if name in tools and name not in closed]
        return (
            f"not run: {_said(self._streak)}. {tool} is closed until another tool brings "
            f"something new; use {', '.join(instead)}"
        )

    def ends(self) -> str:
        """Why the investigation must come to its report now; empty while it may go on."""
        stale, barren, turns = _counts(self._streak)
        if turns < END_TURNS:
            return ""
        if stale >= END or barren >= EMPTY_END or len(self._streak) >= REREAD_END:
            count = len(self._streak)
            return f"{count} answers in a row brought nothing new: {_said(self._streak)}"
        return ""

    def _due_to_close(self) -> frozenset[str]:
        stale, barren, turns = _counts(self._streak)
        if turns < CLOSE_TURNS or (stale < CLOSE and barren < EMPTY_CLOSE):
            return frozenset()
        return frozenset(step.tool for step in self._streak) - NEVER_CLOSED


def _step(turn: int, data: JsonObject) -> Step:
    tool = text_at(data, "tool")
    like = likeness(tool, object_at(data, "arguments"))
    return Step(turn, tool, like.question, text_at(data, "worth"))


def _counts(streak: Sequence[Step]) -> tuple[int, int, int]:
    """Stale answers, those and the empty ones, and the turns over which all lie."""
    stale = sum(step.worth in STALE for step in streak)
    barren = stale + sum(step.worth == "empty" for step in streak)
    return stale, barren, len({step.turn for step in streak})


def _said(streak: Sequence[Step]) -> str:
    """The pattern in words."""
    if not streak:
        return SAYS["repeat"]
    last = [step.question for step in streak[-3:]]
    if len(last) == 3 and last[0] == last[2] != last[1]:
        return SAYS["swing"]
    worths = [step.worth for step in streak if step.worth != "closed"]
    return SAYS[worths[-1] if worths else "closed"]
