"""The tree of commands: help, version, topics, and the one place for errors."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import click
import pytest

from copilot import __version__
from copilot.cli.exit_codes import MEANINGS
from copilot.cli.root import COMMANDS, root
from copilot.cli.session import Session
from copilot.cli.ui import Screen
from tests.cli.conftest import Run, in_process_of_its_own

VENDORS = ("anthropic", "jira", "opensearchpy", "apscheduler")
LOADED = "import sys; from copilot.cli import main; sys.argv[1:] = {arguments}\ntry:\n    main()\nexcept SystemExit:\n    pass\nprint('\\n'.join(sys.modules), file=sys.stderr)"


def modules_after(*arguments: str) -> set[str]:
    """Return the top-level modules that are loaded when the command has ended."""
    code = LOADED.format(arguments=list(arguments))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stderr.splitlines()}


def every_command() -> list[tuple[str, ...]]:
    """Return the path of each command, groups included."""
    found: list[tuple[str, ...]] = []

    def walk(command: click.Command, path: tuple[str, ...]) -> None:
        found.append(path)
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                walk(below, (*path, name))

    walk(root, ())
    return found


@pytest.mark.parametrize("path", every_command(), ids=" ".join)
def test_every_command_explains_itself_and_h_is_help(path: tuple[str, ...], run: Run) -> None:
    long, short = run(*path, "--help"), run(*path, "-h")

    assert long == short
    assert long.code == 0
    assert long.out.startswith("Usage: ")
    assert all(len(line) <= 100 for line in long.out.splitlines())


def test_help_names_every_command_without_importing_one(run: Run) -> None:
    said = run("--help").out

    assert all(re.search(rf"^  {name}  ", said, re.MULTILINE) for name in COMMANDS)


def test_the_short_helps_of_the_table_are_those_of_the_commands(run: Run) -> None:
    context = click.Context(root)
    for name in COMMANDS:
        command = root.get_command(context, name)
        assert command is not None
        assert command.help, name


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["nonsense"], ["help"]])
def test_a_word_about_itself_loads_neither_a_vendor_nor_rich_nor_pydantic(
    arguments: list[str],
) -> None:
    loaded = modules_after(*arguments)

    assert not loaded & {*VENDORS, "rich", "pydantic", "yaml", "sqlite3"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["incidents", "list"],
        ["notes", "list"],
        ["notes", "search", "dns"],
        ["scratch", "ls", "inc-1"],
    ],
)
def test_reading_notes_loads_no_vendor_and_no_rich(workspace: Path, arguments: list[str]) -> None:
    assert not modules_after(*arguments) & {*VENDORS, "rich"}


def test_the_version_is_one_line(run: Run) -> None:
    said = run("--version")

    assert said.out == f"copilot {__version__}\n"
    assert said.code == 0


def test_a_mistyped_command_is_answered_with_the_one_that_was_meant(run: Run) -> None:
    said = run("incidnets", "list")

    assert said.code == 2
    assert "incidents" in said.err
    assert said.err.startswith("copilot: No such command")
    assert "copilot --help" in said.err


def test_a_mistyped_option_is_answered_with_the_one_that_was_meant(run: Run) -> None:
    said = run("incidents", "list", "--jsn")

    assert said.code == 2
    assert "--json" in said.err
    assert "copilot incidents list --help" in said.err


def test_no_command_shows_what_there_is_and_is_a_usage_error(run: Run) -> None:
    said = run()

    assert said.code == 2
    assert "investigate" in said.err
    assert not said.out


def test_every_exit_code_is_explained(run: Run) -> None:
    said = run("help", "exit-codes").out

    assert [int(line.split()[0]) for line in said.splitlines()] == list(MEANINGS)


def test_help_of_a_command_is_its_help(run: Run) -> None:
    assert run("help", "notes", "diff").out == run("notes", "diff", "--help").out


def test_help_below_a_command_without_commands_says_so(run: Run) -> None:
    said = run("help", "doctor", "x")

    assert said.code == 2
    assert "has no commands below it" in said.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(shell: str, run: Run) -> None:
    said = run("completion", shell)

    assert "_COPILOT_COMPLETE" in said.out
    assert shell in said.err


def test_a_shell_completes_commands_and_their_options() -> None:
    asked = {
        "_COPILOT_COMPLETE": "bash_complete",
        "COMP_WORDS": "copilot notes ",
        "COMP_CWORD": "2",
    }
    found = in_process_of_its_own(environ=asked).stdout.decode().split()

    assert "plain,history" in found


class Broken(Session):
    """A session that fails in a way that nobody expected."""

    def front(self, incident: str) -> NoReturn:
        raise ZeroDivisionError("a bug with password=hunter2secret in it")


def test_an_unexpected_error_is_one_line_and_leaves_a_masked_file(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    said = run("incidents", "show", "inc-1", obj=Broken(Screen()))

    assert said.code == 1
    assert len(said.err.splitlines()) == 1
    assert "ZeroDivisionError" in said.err
    (file,) = tmp_path.glob("copilot-fault-*.log")
    assert str(file) in said.err
    text = file.read_text()
    assert "Traceback" in text
    assert "hunter2secret" not in text
    assert file.stat().st_mode & 0o077 == 0


def test_a_wrong_setting_names_file_and_line_and_what_to_type(workspace: Path, run: Run) -> None:
    (workspace / "copilot.yaml").write_text("model:\n  nmae: offline\n")

    said = run("incidents", "list")

    assert said.code == 2
    assert said.err.startswith(
        "copilot: copilot.yaml:2: model.nmae: unknown key. Did you mean name?"
    )
    assert "copilot config check" in said.err


def test_json_is_one_document_with_a_schema(filled: Path, run: Run) -> None:
    commands = (
        ("incidents", "list"), ("notes", "list"), ("notes", "search", "dns"), ("policy", "list"),
        ("config", "show"), ("doctor",), ("logbook", "search"), ("logbook", "overview"),
        ("logbook", "patterns"), ("logbook", "fields"), ("tickets", "list"),
        ("tickets", "show", "OPS-7"), ("documents", "search", "dns"),
    )  # fmt: skip
    for words in commands:
        document = json.loads(run(*words, "--json").out)
        assert re.fullmatch(r"copilot\.[a-z-]+/1", document["schema"]), words


def test_the_reference_page_names_every_command_and_every_option() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "cli.md").read_text()
    for path in every_command():
        command: click.Command = root
        for name in path:
            assert isinstance(command, click.Group)
            below = command.get_command(click.Context(command), name)
            assert below is not None
            command = below
        assert not path or path[-1] in page, path
        for option in command.params:
            if isinstance(option, click.Option):
                assert max(option.opts, key=len) in page, (path, option.opts)
