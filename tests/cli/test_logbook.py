"""`copilot logbook`: import, search, count; hostile lines and secrets stay harmless."""

import gzip
import json
from pathlib import Path

from tests.cli.conftest import Run


def test_an_import_counts_lines_and_oddities_and_drops_none(workspace: Path, run: Run) -> None:
    said = run("logbook", "import", "app.log")

    assert said.code == 0
    header, row = (line.split() for line in said.out.splitlines())
    assert header[:4] == ["SOURCE", "LINES", "ENTRIES", "UNTIMED"]
    assert row[:4] == ["app.log", "8", "5", "0"]
    assert "the logbook logs has 8 lines of 1 file" in said.err


def test_the_same_file_again_changes_nothing(filled: Path, run: Run) -> None:
    assert "unchanged" in run("logbook", "import", "app.log").out


def test_a_file_that_cannot_be_read_is_refused_and_the_others_are_kept(
    workspace: Path, run: Run
) -> None:
    (workspace / "broken.log.gz").write_bytes(gzip.compress(b"x\n" * 1000)[:30])

    said = run("logbook", "import", "broken.log.gz", "nowhere.log", "app.log")

    assert said.code == 1
    assert "refused: broken.log.gz" in said.err
    assert "refused: nowhere.log" in said.err
    assert said.out.splitlines()[1].startswith("app.log")


def test_sources_are_named_below_the_root(workspace: Path, run: Run) -> None:
    (workspace / "logs" / "today").mkdir(parents=True)
    (workspace / "app.log").rename(workspace / "logs" / "today" / "app.log")

    said = run("logbook", "import", "logs", "--root", "logs")

    assert said.out.splitlines()[1].startswith("today/app.log")


def test_a_search_prints_time_level_place_and_message(filled: Path, run: Run) -> None:
    said = run("logbook", "search", "wf_alpha_20260131", "resolve")

    first, *rest = said.out.splitlines()
    assert first.startswith("2026-01-31T12:01:00Z ERROR app.log:3 ")
    assert rest[-1] == "    socket.gaierror: [Errno -2] Name or service not known"
    assert "1 of 1 line" in said.err


def test_a_search_says_the_absolute_window_that_it_used(filled: Path, run: Run) -> None:
    said = run("logbook", "search", "--since", "2026-01-31T13:01:30+01:00", "--until", "1769861000")

    assert "window: [2026-01-31T12:01:30Z, 2026-01-31T12:03:20Z) UTC" in said.err
    assert len(said.out.splitlines()) == 2


def test_a_time_that_could_mean_two_things_is_refused(filled: Path, run: Run) -> None:
    said = run("logbook", "search", "--since", "01/02/2026")

    assert said.code == 2
    assert "15m, 2h30m" in said.err


def test_lines_are_chosen_by_level_source_and_field(filled: Path, run: Run) -> None:
    by_level = run("logbook", "search", "--level", "warn", "--source", "app.log")

    assert len(by_level.out.splitlines()) == 1
    assert run("logbook", "search", "--source", "other.log").out == ""
    assert run("logbook", "search", "--field", "host=nowhere").out == ""
    assert run("logbook", "search", "--field", "host").code == 2


def test_a_secret_in_a_log_line_is_never_printed(filled: Path, run: Run) -> None:
    for words in (("search", "retry"), ("search", "retry", "--json"), ("overview",), ("patterns",)):
        said = run("logbook", *words)
        assert "hunter2secret" not in said.out + said.err, words
    assert "<secret:password:" in run("logbook", "search", "retry").out


def test_the_next_page_goes_on_where_the_last_ended(filled: Path, run: Run) -> None:
    first = json.loads(run("logbook", "search", "--limit", "3", "--json").out)
    second = json.loads(
        run("logbook", "search", "--limit", "3", "--cursor", first["cursor"], "--json").out
    )

    assert len(first["entries"]) == 3
    assert len(second["entries"]) == 2
    assert second["cursor"] == ""


def test_an_overview_counts_over_time_levels_sources_and_messages(filled: Path, run: Run) -> None:
    said = run("logbook", "overview", "--bucket", "1m")

    assert "5 lines" in said.out
    assert "2026-01-31T12:01:00Z  1      1  " in said.out
    assert "app.log" in said.out
    assert "INFO" in said.out


def test_patterns_compare_with_a_healthy_time(filled: Path, run: Run) -> None:
    said = run(
        "logbook", "patterns", "--since", "2026-01-31T12:01:00Z", "--until", "2026-01-31T12:02:30Z",
        "--baseline-since", "2026-01-31T12:00:00Z", "--baseline-until", "2026-01-31T12:01:00Z",
        "--json",
    )  # fmt: skip

    found = json.loads(said.out)
    assert found["baseline"] == "[2026-01-31T12:00:00Z, 2026-01-31T12:01:00Z)"
    assert {one["level"] for one in found["rose"]} == {"ERROR", "WARN"}
    assert {one["level"] for one in found["vanished"]} == {"INFO"}


def test_fields_are_named_with_their_values(filled: Path, run: Run) -> None:
    said = run("logbook", "fields")

    assert said.out.startswith("FIELD")
    assert "from 2026-01-31T12:00:00" in said.err


def test_an_empty_logbook_says_what_to_type(workspace: Path, run: Run) -> None:
    said = run("logbook", "search", "x")

    assert said.code == 1
    assert "copilot logbook import FILE..." in said.err


def test_an_unknown_logbook_is_answered_with_those_that_there_are(filled: Path, run: Run) -> None:
    said = run("logbook", "search", "x", "--logbook", "nope")

    assert said.code == 2
    assert "there are: logs" in said.err
