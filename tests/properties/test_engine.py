"""Any mix of turns, crashes, kills, levers and downgrades keeps the invariants I1-I7.

The judge of I1 and I2 is the strict double: it refuses what the service would refuse.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from copilot.errors import ModelError
from copilot.models.model import Request
from copilot.models.support import Support
from copilot.sightings import Weight
from copilot.steps import Work
from copilot.upkeep import compact_view, downgrade
from tests.doubles.messages_api import Json, thinks
from tests.properties.rig import WINDOW, Killed, Rig, identifiers, with_edits

LEVERS = ("clear_tool_uses", "clear_thinking", "on_demand", "threshold")
BREAKS = frozenset({"clear", "compact", "support", "limit"})
"""Events after which a request may begin otherwise than the one before."""
SUMMARIES: dict[str, Any] = {
    "good": lambda text: ", ".join(identifiers(text)),
    "lossy": lambda text: ", ".join(identifiers(text)[::2]) or "nothing",
    "prose": lambda _: "It was looked at, and it goes on.",
    "none": lambda _: None,
}
CALLS = st.one_of(
    st.tuples(st.just("look"), st.integers(1, 40), st.integers(0, 60)),
    st.tuples(st.sampled_from(["crash", "unknown", "wrong", "finding", "note"]), st.integers(1, 40), st.just(0)),
)  # fmt: skip


class Engine(RuleBasedStateMachine):
    """Steps of an investigation in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.shown: dict[str, bytes] = {}
        self.before: tuple[list[Json], Json, int] | None = None
        self.ids = 0
        self.ended = False

    @initialize(
        model=st.sampled_from(["claude-sonnet-4-6", "claude-sonnet-5-5"]),
        has=st.sets(st.sampled_from(LEVERS)),
        edits=st.sampled_from(["applied", "applied", "refused", "ignored"]),
        summary=st.sampled_from(sorted(SUMMARIES)),
    )
    def begin(self, model: str, has: set[str], edits: str, summary: str) -> None:
        binds = model == "claude-sonnet-5-5"
        flags = dict.fromkeys(has if edits == "applied" else LEVERS, True)
        support = Support(**flags, adaptive_thinking=True, binds_thinking=binds)
        self.rig = Rig(Path(self.folder.name), model=model, support=support)
        self.rig.summary = SUMMARIES[summary]
        self.rig.watch = self.read
        self.edits = edits
        with_edits(self.rig, edits)

    def teardown(self) -> None:
        if hasattr(self, "rig"):
            self.every_handle_opens()
            self.rig.work.journal.close()
        self.folder.cleanup()

    @precondition(lambda self: not self.ended)
    @rule(
        calls=st.lists(CALLS, min_size=1, max_size=8),
        thought=st.booleans(),
        dies=st.integers(0, 14),
    )
    def tools(self, calls: list[tuple[str, int, int]], thought: bool, dies: int) -> None:
        reply = self.reply([self.call(*call) for call in calls], "tool_use")
        self.turn(thinks("hm", reply) if thought else reply, dies=dies)

    @precondition(lambda self: not self.ended)
    @rule(dies=st.integers(0, 4))
    def words(self, dies: int) -> None:
        self.turn(self.reply([{"type": "text", "text": "I think so."}], "end_turn"), dies=dies)

    @precondition(lambda self: not self.ended and not self.rig.work.view.is_paused)
    @rule()
    def paused(self) -> None:
        self.turn(self.reply([{"type": "text", "text": "…"}], "pause_turn"))

    @precondition(lambda self: not self.ended)
    @rule()
    def cut_then_whole(self) -> None:
        cut = self.reply([self.call("look", 1, 3)], "max_tokens")
        self.turn(cut, self.reply([self.call("look", 2, 3)], "tool_use"))

    @precondition(lambda self: not self.ended)
    @rule(kind=st.sampled_from(["client", "state", "on_demand"]))
    def compact(self, kind: Any) -> None:
        work = self.rig.work
        if work.view.is_paused or (kind == "on_demand" and not work.ledger.support.on_demand):
            return
        compact_view(work, self.rig.number, kind)

    @precondition(lambda self: not self.ended)
    @rule(lever=st.sampled_from(LEVERS))
    def lose(self, lever: str) -> None:
        if not self.rig.work.view.signed_block or lever != "on_demand":
            downgrade(self.rig.work, self.rig.number, [lever], "refused")

    @precondition(lambda self: not self.ended)
    @rule()
    def resume(self) -> None:
        view, ledger = self.rig.work.view, self.rig.work.ledger
        self.rig.reopen()
        assert self.rig.work.view.digest == view.digest
        assert self.rig.work.view.sizes == view.sizes
        assert self.rig.work.ledger.important() == ledger.important()

    @precondition(lambda self: not self.ended)
    @rule(rare=st.integers(0, 9))
    def limit(self, rare: int) -> None:
        if rare:
            return
        self.rig._replies = [self.reply([{"type": "text", "text": "{}"}], "end_turn")]
        self.rig.close()
        self.ended = True

    @precondition(lambda self: self.ended)
    @rule()
    def rest(self) -> None:
        """After its end a run may be opened and read as often as one likes."""
        self.rig.reopen()

    def turn(self, *replies: Json, dies: int = 0) -> None:
        """One turn, killed at that append and gone on with."""
        if dies:
            self.rig.dies_at = next(self.rig.appends) + dies
        try:
            self.rig.turn(*replies)
        except Killed:
            self.rig.reopen()
            self.rig.turn(*replies[-1:])
        except ModelError as error:
            assert error.kind == "too_long"  # noqa: PT017 - the only way a turn may end here
            self.ended = True
        self.rig.dies_at = 0
        self.ended |= bool(self.rig.work.ledger.limit)

    def read(self, work: Work, request: Request, read: Json) -> None:
        """Judge one request, as it was sent and as the model reads it."""
        text = json.dumps(read["messages"], ensure_ascii=False)
        weighty = [item for item in work.ledger.important() if item.weight > Weight.ARGUMENT]
        gone = [item.value for item in weighty if item.value not in text]
        if self.edits != "ignored":  # such an endpoint drops a signed summary without a word
            assert not gone, f"I5: {gone} is not read any more"
        blocks = [_unmarked(block) for message in request.messages for block in message["content"]]
        changes = sum(event.kind in BREAKS for event in work.journal.events)
        fixed = {"system": request.system, "tools": request.tools}
        if self.before and self.before[2] == changes:
            assert blocks[: len(self.before[0])] == self.before[0], "I3"
        if self.before:
            assert self.before[1] == fixed, "I3"
        self.before = (blocks, fixed, changes)

    @invariant()
    def nothing_was_refused_but_levers(self) -> None:
        """I1, I2: every request was one that the service takes."""
        if hasattr(self, "rig") and self.edits == "applied":
            assert self.rig.refused == []

    @invariant()
    def the_window_was_never_passed(self) -> None:
        """I6: what the service counted is within the window, and our estimate is no less."""
        if not hasattr(self, "rig"):
            return
        for event in self.rig.work.journal.events:
            if event.kind == "response":
                assert int(str(event.data["context"])) <= WINDOW

    def every_handle_opens(self) -> None:
        """I4: each handle that was ever shown holds the rows it held."""
        work = self.rig.work
        for event in work.journal.events:
            handle = event.data.get("handle") if event.kind == "result" else ""
            if not handle or event.data["tool"] != "look":
                continue
            arguments: Any = event.data["arguments"]
            rows = arguments.get("rows", 1)
            if rows:
                row = work.case.scratch.row(str(handle), rows)
                assert f"job {arguments['seed'] * 1000 + rows + 10**7} " in str(row["message"])

    def reply(self, content: list[Json], stop_reason: str) -> Json:
        return {"content": content, "stop_reason": stop_reason}

    def call(self, kind: str, seed: int, rows: int) -> Json:
        """A call with an id of its own."""
        self.ids += 1
        use: Json = {"type": "tool_use", "id": f"toolu_{self.ids}"}
        match kind:
            case "look":
                return use | {"name": "look", "input": {"seed": seed, "rows": rows}}
            case "wrong":
                return use | {"name": "look", "input": {"seed": "many"}}
            case "note":
                shown = self.finding(seed)
                note = {
                    "section": "ruled_out",
                    "text": f"{shown['claim']}, which is not the cause",
                    "evidence": shown["evidence"],
                }
                return use | {"name": "write_notes", "input": note}
            case "finding":
                return use | {"name": "record_finding", "input": self.finding(seed)}
            case _:
                return use | {"name": kind, "input": {}}

    def finding(self, seed: int) -> Json:
        """A claim about a line that was shown, where there is one."""
        known = [
            event
            for event in self.rig.work.journal.events
            if event.kind == "result" and event.data.get("handle") and event.data["tool"] == "look"
            and event.data["total"]
        ]  # fmt: skip
        if not known:
            return {"claim": "none", "status": "likely", "evidence": []}
        event = known[seed % len(known)]
        arguments: Any = event.data["arguments"]
        job = f"job {arguments['seed'] * 1000 + 1 + 10**7}"
        evidence = [{"reference": f"{event.data['handle']}:1", "quote": job}]
        return {"claim": f'the "first" is {job}', "status": "likely", "evidence": evidence}


def _unmarked(block: Json) -> Json:
    return {key: value for key, value in block.items() if key != "cache_control"}


Engine.TestCase.settings = settings(
    max_examples=80,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # a failing run is short enough to read; shrinking takes minutes
    suppress_health_check=list(HealthCheck),
)
TestEngine = Engine.TestCase
