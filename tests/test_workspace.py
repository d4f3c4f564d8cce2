"""Claims about what the runs of one workspace share."""

from dataclasses import replace
from pathlib import Path

from copilot.tools.catalogue import TOOLS
from tests.bench import made_workspace


def test_a_run_of_the_same_policy_reads_no_file_again(tmp_path: Path) -> None:
    workspace = made_workspace(tmp_path)

    run = workspace.with_run(workspace.run_options)

    assert run.policy is workspace.policy


def test_a_run_of_another_policy_has_that_one(tmp_path: Path) -> None:
    workspace = made_workspace(tmp_path)
    options = replace(workspace.run_options, policy="off")

    assert workspace.with_run(options).policy.name == "off"


def test_who_changes_a_definition_changes_it_for_nobody_else() -> None:
    tool = TOOLS[0]
    before = tool.definition()

    tool.definition()["input_schema"].clear()  # type: ignore[union-attr]

    assert tool.definition() == before
