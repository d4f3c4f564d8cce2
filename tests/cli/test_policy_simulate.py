"""`copilot policy simulate`: what an investigation would have cost, without asking any model."""

import json
from pathlib import Path

from tests.cli.conftest import Run


def test_every_policy_is_priced_beside_the_record(investigated: str, run: Run) -> None:
    said = run("policy", "simulate", investigated)

    assert said.code == 0, said.err
    rows = [line.split() for line in said.out.split("\n\n")[0].splitlines()]
    assert [row[0] for row in rows] == [
        "POLICY", "recorded:default",
        "client-only", "default", "off", "server-only", "small-window",
    ]  # fmt: skip
    assert rows[1][1] == "0.0000"
    assert float(rows[3][1]) > 0


def test_what_is_assumed_of_a_run_by_rules_is_said_once(investigated: str, run: Run) -> None:
    said = run("policy", "simulate", investigated)

    assert "recorded on offline; simulated on claude-sonnet-5-5" in said.err
    assert said.err.count("recorded by rules: an endpoint") == 1


def test_chosen_policies_and_model_are_simulated_in_that_order(investigated: str, run: Run) -> None:
    Path("policies").mkdir(exist_ok=True)
    Path("policies/mine.yaml").write_text("name: mine\nlike: default\nturn_tokens: 400\n")

    said = run(
        "policy", "simulate", investigated, "--json", "--model", "claude-opus-5",
        "--policy", "mine", "--policy", "off", "--policy", "policies/mine.yaml",
    )  # fmt: skip

    found = json.loads(said.out)
    assert found["schema"] == "copilot.simulation/1"
    assert [one["policy"] for one in found["simulated"]] == ["mine", "off", "mine"]
    assert {one["model"] for one in found["simulated"]} == {"claude-opus-5"}
    assert found["simulated"][0] == found["simulated"][2]
    assert found["recorded"]["total"]["usd"] == 0


def test_swept_results_are_told_of(investigated: str, run: Run, workspace: Path) -> None:
    for file in (workspace / "scratch").rglob("*.jsonl"):
        file.unlink()

    said = run("policy", "simulate", investigated, "--policy", "off")

    assert said.code == 0
    assert "answers that are as they were recorded, since their rows are gone: " in said.err


def test_simulating_writes_nothing(investigated: str, run: Run, workspace: Path) -> None:
    before = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()}

    run("policy", "simulate", investigated)

    assert {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()} == before


def test_what_cannot_be_simulated_is_refused(investigated: str, run: Run) -> None:
    unknown = run("policy", "simulate", "inc-20260101-000000")
    policy = run("policy", "simulate", investigated, "--policy", "nope")
    number = run("policy", "simulate", investigated, "--investigation", "7")

    assert (unknown.code, policy.code, number.code) == (4, 2, 4)
    assert "there is no 'nope'" in policy.err
    assert "has investigations 1 to 1, but no 7" in number.err
