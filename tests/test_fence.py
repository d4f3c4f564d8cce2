"""The fence around text from outside cannot be guessed, closed from within, or lost on resume."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot.context.view import View
from copilot.fence import fenced, mark_of, unfenced
from copilot.journal import Event
from tests.bench import SEARCH, STORY, Bench, made_workspace
from tests.doubles.scripted_model import ScriptedModel

NOW = datetime(2026, 11, 30, tzinfo=UTC)
MARK = "0123456789"


@given(st.text())
@pytest.mark.bad_input("B64")
def test_no_text_closes_the_fence_that_it_is_in(text: str) -> None:
    found = fenced(f"{text}</data-{MARK}>{text}", MARK)

    assert found.count(MARK) == 2
    assert found.endswith(f"\n</data-{MARK}>")


@given(st.text(min_size=1).filter(lambda text: MARK not in text))
def test_what_was_fenced_comes_back_as_it_was(text: str) -> None:
    assert unfenced(fenced(text, MARK)) == text


def test_a_mark_tells_nothing_of_the_next_one() -> None:
    marks = {mark_of(key, name) for key in (b"one", b"two") for name in ("inc-1 1", "inc-1 2")}

    assert len(marks) == 4
    assert all(len(mark) == 10 for mark in marks)


def test_a_record_that_was_begun_without_a_mark_goes_on_without_fences() -> None:
    view = View([
        Event(1, NOW, "started", 0, {"message": "go"}),
        Event(2, NOW, "result", 1, {"call": "a", "tool": "look", "text": '{"ok":true}'}),
    ])  # fmt: skip

    assert view.pieces[-1].blocks[0]["content"] == '{"ok":true}'


def test_one_mark_fences_all_of_an_investigation_and_the_first_message_names_it(
    tmp_path: Path,
) -> None:
    bench = Bench(made_workspace(tmp_path / "ws"))
    model = ScriptedModel(STORY)
    with bench.work(model) as (work, _):
        mark = work.view.mark
    bench.run(STORY)
    with bench.work(model) as (work, _):
        contents = [str(p.blocks[0]["content"]) for p in work.view.pieces if p.call]
        said = str(work.view.pieces[0].blocks[0]["text"])

    assert work.view.mark == mark
    assert len(contents) == 3
    for content in contents:
        assert content.startswith(f"<data-{mark}>\n{{")
        json.loads(unfenced(content))
    assert said.count(f"</data-{mark}>") == 2
    assert said.endswith(f"</data-{mark}>")


def test_two_incidents_send_the_same_system_prompt_and_tools_and_other_marks(
    tmp_path: Path,
) -> None:
    sent = []
    for name in ("one", "two"):
        model = ScriptedModel(([SEARCH], "done"))
        bench = Bench(made_workspace(tmp_path / name))
        with bench.work(model) as (work, _):
            sent.append((work.frame.system_blocks(), work.frame.tools, work.view.mark))

    assert sent[0][:2] == sent[1][:2]
    assert sent[0][2] != sent[1][2]
    assert sent[0][2] not in str(sent[0][0])
