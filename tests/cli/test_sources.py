"""`copilot tickets` and `copilot documents`."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_tickets_are_imported_with_counts(workspace: Path, run: Run) -> None:
    said = run("tickets", "import", "tickets.json")

    assert said.code == 0
    assert said.out.splitlines()[1].split() == ["tickets.json", "2", "0", "0", "0"]


def test_a_file_without_a_ticket_is_refused(workspace: Path, run: Run) -> None:
    (workspace / "other.json").write_text('[{"no": "ticket"}]')

    said = run("tickets", "import", "other.json", "tickets.json")

    assert said.code == 1
    assert "refused: other.json" in said.err
    assert "tickets.json" in said.out


def test_tickets_are_listed_newest_first_and_searched(filled: Path, run: Run) -> None:
    assert run("tickets", "list", "-q").out.split() == ["OPS-7", "OPS-8"]
    assert run("tickets", "search", "disk", "node-3", "-q").out.split() == ["OPS-8"]
    assert run("tickets", "list", "--since", "2026-01-31T00:00:00Z", "-q").out.split() == ["OPS-7"]


@pytest.mark.bad_input("B088")
def test_a_ticket_is_shown_with_its_comments_masked_and_harmless(filled: Path, run: Run) -> None:
    said = run("tickets", "show", "ops-7")

    assert said.out.startswith("OPS-7  wf_alpha_20260131 does not move\nstatus: Open\n")
    assert "2026-01-31T13:30:00Z  ops-a\nDNS looks odd \\x1b[31m" in said.out
    assert "ghp_" not in said.out


def test_a_ticket_as_json_keeps_types(filled: Path, run: Run) -> None:
    first, second = (
        json.loads(run("tickets", "show", key, "--json").out)["ticket"]
        for key in ("OPS-7", "OPS-8")
    )

    assert first["comments"][0]["author"] == "ops-a"
    assert second["comments"] is None
    assert second["created"] == "2026-01-30T13:00:00Z"
    assert "ghp_" not in run("tickets", "list", "--json").out


def test_an_unknown_ticket_is_not_found(filled: Path, run: Run) -> None:
    said = run("tickets", "show", "../../x")

    assert said.code == 4
    assert "copilot tickets list" in said.err


def test_documents_are_imported_found_and_shown(workspace: Path, run: Run) -> None:
    (workspace / "wiki" / "dns").mkdir(parents=True)
    (workspace / "wiki" / "dns" / "SKILL.md").write_text(
        "---\nname: dns\ndescription: names do not resolve\n---\n# DNS\n\nAsk the resolver. \x1b[2J\n"
    )
    (workspace / "wiki" / "picture.png").write_bytes(b"\x89PNG")

    imported = run("documents", "import", "wiki")
    found = run("documents", "search", "resolver", "-q").out.split()
    shown = run("documents", "show", found[0])

    assert imported.out.splitlines()[1].split()[:4] == ["1", "0", "0", "0"]
    assert "skipped: picture.png" in imported.err
    assert found[0].startswith("dns/SKILL.md#")
    assert "Ask the resolver. \\x1b[2J" in shown.out
    whole = run("documents", "show", "dns/SKILL.md")
    assert "names do not resolve" in whole.out
    assert "Ask the resolver." in whole.out


def test_an_unknown_chunk_is_not_found(workspace: Path, run: Run) -> None:
    said = run("documents", "show", "x#1")

    assert said.code == 4
    assert "copilot documents search" in said.err
