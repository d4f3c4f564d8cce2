"""`copilot demo`: the main job, with what is bundled, from anywhere, leaving nothing behind."""

import json
import tempfile
from pathlib import Path

import pytest

from copilot.demo import SCENARIOS
from tests.cli.conftest import Run

DATA = Path(__file__).resolve().parents[2] / "copilot" / "demo" / "data"
LIMIT_BYTES = 1_500_000


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that we are in; temporary files are made below another one."""
    (tmp_path / "here").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path


def test_it_says_each_step_and_ends_with_the_card_and_leaves_nothing(
    elsewhere: Path, run: Run
) -> None:
    said = run("demo", "--scenario", "archival")

    assert said.code == 0
    for words in ("workspace: ", "logbook: ", "tracker: 6 tickets", "runbooks: 8", "alert: "):
        assert words in said.err
    assert "offline rules, not a language model" in said.err
    assert "The folder is removed. To keep it: copilot demo --keep DIR" in said.out
    assert not list(elsewhere.rglob("*.md"))


def test_what_is_kept_can_be_looked_into_with_the_commands_that_it_names(
    elsewhere: Path, run: Run
) -> None:
    said = run("demo", "--scenario", "archival", "--keep", "kept")

    assert said.code == 0
    typed = [line.split()[1:] for line in said.out.splitlines() if line.startswith("  copilot ")]
    assert len(typed) == 3
    for words in typed:
        assert run(*words).code == 0, words


def test_every_cited_line_stands_in_the_file_that_it_names(elsewhere: Path, run: Run) -> None:
    run("demo", "--keep", "kept")
    (file,) = (elsewhere / "here" / "kept" / "notes").glob("*/report.json")
    report = json.loads(file.read_text())

    claims = [report["cause"], *report["chain"], *report["evidence"]]
    cited = [piece for claim in claims if claim for piece in claim["evidence"] if piece.get("line")]
    assert cited
    for piece in cited:
        lines = (elsewhere / "here" / "kept" / piece["source"]).read_text().splitlines()
        assert piece["text"].strip("…")[:60] in lines[piece["line"] - 1]


@pytest.mark.parametrize("name", [one.name for one in SCENARIOS])
def test_each_scenario_ends_with_a_report(elsewhere: Path, name: str, run: Run) -> None:
    said = run("demo", "--scenario", name)

    assert said.code == 0
    assert "Cost: " in said.out


def test_the_watchdog_is_closed_without_a_search(elsewhere: Path, run: Run) -> None:
    said = run("demo", "--scenario", "watchdog")

    assert "NO ACTION" in said.out
    assert "search_logbook" not in said.err


def test_a_folder_with_something_in_it_is_refused(elsewhere: Path, run: Run) -> None:
    (elsewhere / "here" / "kept").mkdir()
    (elsewhere / "here" / "kept" / "mine").write_text("mine")

    said = run("demo", "--keep", "kept")

    assert said.code == 2
    assert [path.name for path in (elsewhere / "here" / "kept").iterdir()] == ["mine"]


def test_an_unknown_scenario_is_answered_with_those_that_there_are(run: Run) -> None:
    said = run("demo", "--scenario", "nope")

    assert said.code == 2
    assert "stalled-workflow" in said.err
    assert run("demo", "--list").out.count("\n") == len(SCENARIOS) + 1


def test_a_persons_own_settings_do_not_lead_out_of_the_demo(
    elsewhere: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPILOT_NOTES", str(elsewhere / "mine"))
    monkeypatch.setenv("COPILOT_BUDGETS__TURNS", "1")

    assert run("demo", "--scenario", "watchdog").code == 0
    assert not (elsewhere / "mine").exists()


def test_the_data_is_small_and_each_part_has_its_licence() -> None:
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) < LIMIT_BYTES
    assert (DATA / "cms_wmcore" / "LICENSE").is_file()
    assert (DATA / "cms_wmcore" / "NOTICE").is_file()
    assert (DATA / "nezha" / "LICENSE").is_file()
    readme = (DATA / "README.md").read_text()
    for folder in DATA.iterdir():
        assert folder.is_file() or f"`{folder.name}/`" in readme
