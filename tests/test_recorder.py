"""All that an investigation pays for goes through its recorder, one step after the other."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from copilot.investigation import investigate
from copilot.journal import read_events
from copilot.values import JsonObject
from tests.bench import SEARCH, SUBMIT, Bench, made_workspace
from tests.doubles.scripted_model import ScriptedModel


@dataclass
class Recording:
    """A recorder that remembers what it was asked to do."""

    steps: list[tuple[str, JsonObject]] = field(default_factory=list)
    inside: bool = False

    def step(self, name: str, io: Callable[[], JsonObject]) -> JsonObject:
        """Do it, and remember it."""
        assert not self.inside
        self.inside = True
        note = io()
        self.inside = False
        self.steps.append((name, note))
        return note

    def nested(self) -> "Recording":
        """Return another one."""
        return Recording()


def test_each_answer_and_each_turns_calls_are_one_step_that_names_its_last_event(
    tmp_path: Path,
) -> None:
    bench, recording = Bench(made_workspace(tmp_path)), Recording()

    class Watched(ScriptedModel):
        """Answers only inside a step."""

        def respond(self, request: object) -> object:  # type: ignore[override]
            """Return the next answer."""
            assert recording.inside
            return super().respond(request)  # type: ignore[arg-type]

    with bench.work(Watched([[SEARCH], [SUBMIT]])) as (work, notebook):
        investigate(replace(work, recorder=recording), notebook)
        events = read_events(work.journal.path)

    assert [(name, note["turn"]) for name, note in recording.steps] == [
        ("model", 1),
        ("tools", 1),
        ("model", 2),
        ("tools", 2),
    ]
    for (_, note), kind in zip(
        recording.steps, ("response", "result", "response", "result"), strict=True
    ):
        assert events[int(str(note["seq"])) - 1].kind == kind == note["kind"]


def test_what_the_journal_holds_is_no_step_again(tmp_path: Path) -> None:
    bench, recording = Bench(made_workspace(tmp_path)), Recording()
    with bench.work(ScriptedModel([[SEARCH], [SUBMIT]])) as (work, notebook):
        investigate(work, notebook)

    with bench.work(ScriptedModel([])) as (work, notebook):
        investigate(replace(work, recorder=recording), notebook)

    assert recording.steps == []
