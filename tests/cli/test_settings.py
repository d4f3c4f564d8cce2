"""`copilot config`, `policy`, `init` and `doctor`."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from copilot.cli.session import Session
from copilot.cli.ui import Screen
from copilot.config import load_settings
from copilot.initialise import TEMPLATES, workspace_files
from tests.cli.conftest import Run, Said
from tests.permissions import obeyed

ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"


def state_of(said: Said, name: str) -> tuple[str, str]:
    """Return the state and the fix of one check."""
    found = {one["name"]: one for one in json.loads(said.out)["checks"]}
    return found[name]["state"], found[name]["fix"]


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Return every path below *folder* with what would change if anybody wrote to it."""
    return {
        str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in folder.rglob("*")
    }


def test_every_setting_is_shown_with_where_it_comes_from(
    workspace: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPILOT_BUDGETS__TURNS", "7")

    said = run("config", "show", "--origin").out

    rows = {line.split()[0]: line.split()[1:] for line in said.splitlines()}
    assert rows["model.name"] == ["copilot.yaml:2", "offline"]
    assert rows["budgets.turns"] == ["$COPILOT_BUDGETS__TURNS", "7"]
    assert rows["budgets.usd"] == ["default", "5.0"]


def test_a_key_is_never_among_the_settings(
    workspace: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)

    for words in (("config", "show", "--json"), ("config", "show", "--origin"), ("doctor",)):
        said = run(*words)
        assert KEY not in said.out + said.err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("model: !!python/object:os.system {}\n", "copilot.yaml:1: model: a tag (!) is refused"),
        ("a: &x [1]\nmodel: *x\n", "copilot.yaml:1: a: an anchor (&) is refused"),
        ("policy: off\npolicy: default\n", "copilot.yaml:2: policy: given twice"),
        ("model:\n\tname: offline\n", "copilot.yaml:2: a tab cannot indent YAML"),
        (
            "redaction:\n  emails: no\n",
            "copilot.yaml:2: redaction.emails: 'no' is not true or false",
        ),
        ("budgets:\n  turns: 010\n", "copilot.yaml:2: budgets.turns: '010' is not a whole number"),
        ("policy: nope\n", "policy: there is no 'nope'"),
    ],
)
def test_a_wrong_file_is_refused_with_line_and_reason(
    workspace: Path, text: str, problem: str, run: Run
) -> None:
    (workspace / "copilot.yaml").write_text(text)

    said = run("config", "check")

    assert said.code == 2
    assert said.err.startswith(f"copilot: {problem}")


def test_right_settings_are_called_right(workspace: Path, run: Run) -> None:
    said = run("config", "check")

    assert said.code == 0
    assert "right" in said.err


def test_a_file_that_is_not_there_is_named(workspace: Path, run: Run) -> None:
    said = run("--config", "nowhere.yaml", "config", "check")

    assert said.code == 2
    assert "nowhere.yaml" in said.err
    assert "copilot init" in said.err


def test_the_schema_is_one_that_an_editor_can_use(run: Run) -> None:
    schema = json.loads(run("config", "schema").out)

    assert schema["properties"]["model"]
    assert schema["additionalProperties"] is False


def test_init_makes_a_workspace_that_the_doctor_likes(workspace: Path, run: Run) -> None:
    said = run("init", "new")

    assert said.code == 0
    assert "copilot runbooks list" in said.err
    made = {line.removeprefix(f"{workspace / 'new'}/") for line in said.out.splitlines()}
    assert {"copilot.yaml", ".gitignore", ".env.example", "policies/README.md", "notes/"} <= made
    assert (workspace / "new" / "notes" / ".git").is_dir()
    assert load_settings(workspace / "new", {}, workspace).workspace == workspace / "new"


def test_init_overwrites_nothing(workspace: Path, run: Run) -> None:
    before = listing(workspace)

    said = run("init", ".")

    assert said.code == 2
    assert "copilot.yaml" in said.err
    assert listing(workspace) == before


def test_init_keeps_keys_out_of_git(workspace: Path, run: Run) -> None:
    run("init", "new")

    assert ".env" in (workspace / "new" / ".gitignore").read_text().splitlines()


def test_the_repository_itself_is_such_a_workspace() -> None:
    assert (ROOT / "copilot.yaml").read_text() == workspace_files()["copilot.yaml"]
    assert set(TEMPLATES) <= set(workspace_files())


def test_each_runbook_says_when_to_use_it() -> None:
    runbooks = {name: text for name, text in workspace_files().items() if name.endswith("SKILL.md")}

    assert len(runbooks) >= 3
    for name, text in runbooks.items():
        assert text.startswith(f"---\nname: {Path(name).parent.name}\ndescription: "), name


def test_the_doctor_changes_nothing(filled: Path, run: Run) -> None:
    (filled / "state" / "documents.sqlite").unlink(missing_ok=True)
    before = listing(filled)

    said = run("doctor")

    assert said.code == 0
    assert listing(filled) == before


def test_the_doctor_says_what_to_type_where_something_is_missing(workspace: Path, run: Run) -> None:
    said = run("doctor")

    assert "! logbook logs: empty\n  → copilot logbook import FILE..." in said.out
    assert "✓ model: offline rules, not a language model" in said.out


def test_the_doctor_counts_what_was_imported(filled: Path, run: Run) -> None:
    said = run("doctor").out

    assert "✓ logbook logs: 5 entries" in said
    assert "✓ tracker tickets: 2 tickets" in said


def wrong_yaml(folder: Path) -> None:
    (folder / "copilot.yaml").write_text("modle: x\n")


def torn_index(folder: Path) -> None:
    (folder / "state").mkdir()
    (folder / "state" / "logs.sqlite").write_bytes(b"not a database at all" * 100)


def foreign_notes(folder: Path) -> None:
    (folder / "notes").mkdir()
    (folder / "notes" / ".git").write_text("gitdir: /elsewhere\n")


def a_file_for_a_folder(folder: Path) -> None:
    (folder / "scratch").write_text("")


@pytest.mark.parametrize(
    ("spoil", "check"),
    [
        (wrong_yaml, "settings"),
        (torn_index, "logbook logs"),
        (foreign_notes, "notes"),
        (a_file_for_a_folder, "scratch folder"),
    ],
)
def test_what_must_be_mended_fails_with_a_way_out(
    workspace: Path, spoil: Callable[[Path], None], check: str, run: Run
) -> None:
    spoil(workspace)

    said = run("doctor", "--json")

    assert said.code == 1
    state, fix = state_of(said, check)
    assert state == "fail"
    assert fix


def test_a_lock_that_a_dead_git_left_is_a_warning(workspace: Path, run: Run) -> None:
    run("init", "new")
    (workspace / "new" / "notes" / ".git" / "index.lock").write_text("")

    assert state_of(run("--config", "new", "doctor", "--json"), "notes")[0] == "warn"


@pytest.mark.bad_input("B87")
def test_a_clock_that_is_years_behind_fails(workspace: Path, run: Run) -> None:
    session = Session(Screen(), now=lambda: datetime(1970, 1, 2, tzinfo=UTC))

    assert state_of(run("doctor", "--json", obj=session), "clock")[0] == "fail"


@pytest.mark.parametrize(
    ("name", "key", "state"),
    [
        ("auto", "your_api_key", "warn"),
        ("claude-sonnet-5-5", "", "fail"),
        ("claude-sonnet-5-5", KEY, "ok"),
        ("claude-sonnet-5-5", "something-else", "warn"),
        ("claude-sonnet-5-5", "two\nlines", "fail"),
    ],
)
def test_a_key_is_looked_at_and_never_shown(
    workspace: Path, name: str, key: str, state: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "copilot.yaml").write_text(f"model:\n  name: {name}\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)

    said = run("doctor", "--json")

    assert state_of(said, "key")[0] == state
    assert not key or key not in said.out + said.err


@pytest.mark.parametrize(
    ("name", "check", "state", "says"),
    [
        ("auto", "model", "warn", "offline rules: http://127.0.0.1:8080 is configured"),
        ("qwen3-32b", "key", "ok", "none; http://127.0.0.1:8080 is asked without one"),
        ("offline", "model", "ok", "offline rules, not a language model"),
    ],
)
def test_a_local_server_needs_a_name_and_no_key(
    workspace: Path, name: str, check: str, state: str, says: str, run: Run
) -> None:
    (workspace / "copilot.yaml").write_text(
        f"model:\n  name: {name}\n  base_url: http://127.0.0.1:8080\n"
    )

    said = run("doctor", "--json")

    assert state_of(said, check)[0] == state
    assert says in said.out


def test_an_authority_that_cannot_be_read_fails(workspace: Path, run: Run) -> None:
    (workspace / "copilot.yaml").write_text("model:\n  ca: nowhere.pem\n")

    said = run("doctor", "--json")

    assert state_of(said, "certificates") == ("fail", "mend model.ca, a file in PEM form")
    assert "nowhere.pem: no certificates can be read (No such file" in said.out


def test_a_key_file_that_everyone_can_read_is_a_warning(
    workspace: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = workspace / "key"
    file.write_text(KEY)
    file.chmod(0o644)
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", str(file))

    said = run("doctor", "--json")

    assert state_of(said, "key file")[0] == "warn"
    assert f"chmod 600 {file}" in said.out
    assert KEY not in said.out


def test_an_env_file_that_others_can_read_is_a_warning(workspace: Path, run: Run) -> None:
    (workspace / ".env").write_text(f"ANTHROPIC_API_KEY={KEY}\n")
    (workspace / ".env").chmod(0o640)

    state, fix = state_of(run("doctor", "--json"), "secrets")

    assert (state, fix) == ("warn", f"chmod 600 {workspace / '.env'}")


def test_offline_leaves_the_model_out(workspace: Path, run: Run) -> None:
    checks = json.loads(run("doctor", "--offline", "--json").out)["checks"]

    assert {one["tier"] for one in checks} == {"local"}


def test_a_folder_that_cannot_be_written_fails(workspace: Path, run: Run) -> None:
    (workspace / "state").mkdir(mode=0o500)

    with obeyed():
        said = run("doctor", "--json")

    assert state_of(said, "state folder")[0] == "fail"
