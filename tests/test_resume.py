"""Killed after any event while levers are pulled, a run resumes to the same record and report."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from copilot.investigation import investigate
from copilot.models.model import Request, Response
from copilot.notebook import Ending, Notebook
from copilot.steps import Work
from tests.bench import FINDING, SEARCH, SUBMIT, Bench, made_workspace
from tests.doubles.scripted_model import Call, ScriptedModel, Turn

TRIGGER = 9000
LEVERS = ("clear", "compact", "limit")
EVENTS = 48
"""That the run below records."""


class CountingModel(ScriptedModel):
    """A scripted model that counts what it is sent, so that triggers are reached."""

    def respond(self, request: Request) -> Response:
        """Return the scripted answer with a usage by size."""
        raw = dict(super().respond(request).raw)
        raw["usage"] = {"input_tokens": request.size // 3, "output_tokens": 50}
        return Response(raw)


class Levers(Bench):
    """A bench whose policy clears early and often."""

    @contextmanager
    def work(self, model: ScriptedModel) -> Iterator[tuple[Work, Notebook]]:
        """The parts of an investigation under that policy."""
        with super().work(model) as (work, notebook):
            said = {"trigger_tokens": TRIGGER, "keep": 1, "at_least_tokens": 50}
            clearing = work.policy.clearing.model_copy(update=said)
            policy = work.policy.model_copy(update={"clearing": clearing})
            yield replace(work, policy=policy, frame=replace(work.frame, policy=policy)), notebook

    def finish(self) -> Ending:
        """Run to the end."""
        with self.work(CountingModel(STORY)) as (work, notebook):
            return investigate(work, notebook)

    def die_after(self, count: int) -> None:
        """Run until *count* events are recorded, then stop dead."""
        with self.work(CountingModel(STORY)) as (work, notebook):
            append = work.journal.append

            def dying(*event: Any) -> Any:
                if len(work.journal.events) >= count:
                    raise KeyboardInterrupt
                return append(*event)

            work.journal.append = dying  # type: ignore[method-assign, assignment]  # the kill
            with pytest.raises(KeyboardInterrupt):
                investigate(work, notebook)


def look(number: int) -> list[Call]:
    """One turn with a large answer and a long note."""
    lines = {"source": "app.log", "line": 1 + number, "before": 3, "after": 15}
    note = {"section": "now", "text": f"step {number} " + "words " * 330}
    return [("logbook_context", lines), ("write_notes", note)]


STORY: list[Turn] = [[SEARCH], *[look(number) for number in range(6)], [FINDING], [SUBMIT]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Levers, Ending]:
    """The run that nobody killed."""
    bench = Levers(made_workspace(tmp_path_factory.mktemp("whole")))
    ending = bench.finish()
    assert any(event.kind == "clear" for event in bench.events)
    return bench, ending


@pytest.mark.parametrize("count", range(1, EVENTS))
def test_killed_after_any_event_a_run_comes_to_the_same_record(
    tmp_path: Path, whole: tuple[Levers, Ending], count: int
) -> None:
    undisturbed, expected = whole
    bench = Levers(made_workspace(tmp_path))

    bench.die_after(count)
    ending = bench.finish()

    assert ending.report == expected.report
    assert acts(bench) == acts(undisturbed)
    assert page(bench) == page(undisturbed)
    assert results(bench) == results(undisturbed)


def test_every_event_has_its_kill_and_there_is_something_to_lose(
    whole: tuple[Levers, Ending],
) -> None:
    bench, _ = whole

    assert len(bench.events) == EVENTS
    assert "se01.example.org" in page(bench)
    assert results(bench)


def page(bench: Levers) -> str:
    """STATE.md, with every identifier that was seen."""
    return bench.workspace.notes.read(bench.alert_incident()) or ""


def results(bench: Levers) -> dict[str, bytes]:
    """The files of scratch, by name."""
    folder = bench.workspace.settings.scratch.path
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("R*"))
        if path.is_file()
    }


def acts(bench: Levers) -> list[tuple[str, int]]:
    """The levers that were pulled, with their turns."""
    return [(event.kind, event.turn) for event in bench.events if event.kind in LEVERS]
