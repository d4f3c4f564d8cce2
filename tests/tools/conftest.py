"""The tools of a small real workspace, called as a model would call them."""

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.embedded_tracker import EmbeddedTracker
from copilot.context.placement import place
from copilot.models.model import ToolCall
from copilot.tools.registry import Ran
from policies.loader import load_policy
from tests.bench import Bench, made_workspace
from tests.doubles.scripted_model import ScriptedModel

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A workspace with the small log, one ticket and one runbook."""
    workspace = made_workspace(tmp_path / "ws")
    ticket = {
        "key": "OPS-7", "summary": "se01.example.org is gone", "status": "Open",
        "description": "since ten", "comments": [{"at": "2026-11-30T10:35:00Z", "by": "ops", "body": "DNS was changed"}],
    }  # fmt: skip
    (tmp_path / "ticket.json").write_text(json.dumps(ticket))
    tracker = workspace.trackers["tickets"]
    assert isinstance(tracker, EmbeddedTracker)
    tracker.import_file(tmp_path / "ticket.json", "ticket.json")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "dns.md").write_text(
        "# Names\n\n## A host does not resolve\n\nAsk the DNS desk.\n"
    )
    workspace.libraries["documents"].import_folder(tmp_path / "docs")
    return Bench(workspace)


@pytest.fixture
def ask(bench: Bench) -> Iterator[Ask]:
    """Return a function that calls a tool and gives the answer as the model reads it."""
    policy = load_policy("off")
    with bench.work(ScriptedModel(())) as (work, _):
        numbers = itertools.count(1)

        def call(tool: str, **arguments: Any) -> dict[str, Any]:
            prepared = work.registry.prepare(ToolCall(f"t{next(numbers)}", tool, arguments))
            ran = prepared if isinstance(prepared, Ran) else work.registry.run(prepared, work.case)
            handle = ""
            if ran.outcome.stored:
                handle = work.case.scratch.put(
                    ran.outcome.rows, tool=tool, arguments=ran.arguments
                ).handle
            text = place(tool, ran.outcome, handle, policy.tool(tool), 100_000).text
            answer: dict[str, Any] = json.loads(text)
            return answer

        yield call
