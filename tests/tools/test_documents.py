"""Claims about documents and runbooks as tools find and read them, over all libraries at once."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from connectors.embedded_library import EmbeddedLibrary
from connectors.given_library import GivenLibrary
from connectors.library import ChunksFound, Library
from copilot import assembly
from copilot.context.placement import place
from copilot.errors import ConnectorError
from copilot.ledger import Ledger
from copilot.settings import RUNBOOKS
from copilot.tools import library
from copilot.tools.base import AnyTool, Case, Outcome
from policies.loader import load_policy
from tests.bench import ALERT, Bench
from tests.test_runbooks_at_work import shelve

TOOLS: dict[str, AnyTool] = {tool.name: tool for tool in library.TOOLS}
Ask = Callable[..., Outcome]


class Broken(GivenLibrary):
    """A library whose index cannot be read."""

    def search(self, text: str, limit: int) -> ChunksFound:
        """Fail."""
        raise ConnectorError(f"{self.name} is broken; mend it")


def asking(bench: Bench, **more: Library) -> Ask:
    """A function that calls a tool over the libraries of the workspace, and *more*."""
    case: Case = assembly.case_for(bench.workspace, "inc-1", ALERT, "", Ledger())
    case = replace(case, libraries={**case.libraries, **more})
    return lambda name, **given: TOOLS[name].run(TOOLS[name].arguments(**given), case)


def test_runbooks_and_documents_are_searched_together_the_best_of_each_first(bench: Bench) -> None:
    found = asking(bench)("search_documents", text="recovery too large host resolve", limit=20)

    sources = [row["source"] for row in found.rows]
    assert found.scope["library"] == "runbooks, documents"
    assert sources[:2] == ["recovery-collection-too-large/SKILL.md", "dns.md"]
    assert found.total is not None
    assert found.total.value >= len(sources)


def test_a_runbook_is_read_whole_by_its_path_and_in_parts_by_their_ids(bench: Bench) -> None:
    ask = asking(bench)

    whole = ask("read_document", id="waiting-on-purpose/SKILL.md")
    part = ask("read_document", id="waiting-on-purpose/SKILL.md#3")

    assert whole.scope["library"] == RUNBOOKS
    text = "\n".join(str(row["message"]) for row in whole.rows)
    assert "## What to look at first" in text
    assert "## Who can settle it" in text
    assert part.rows == whole.rows[2:3]


def test_by_the_default_policy_each_of_our_runbooks_is_shown_whole_where_it_is_read(
    bench: Bench,
) -> None:
    policy = load_policy("default").tool("read_document")
    for runbook in bench.workspace.runbooks.runbooks:
        read = asking(bench)("read_document", id=runbook.path)

        placed = place("read_document", read, "R0001", policy, 100_000)

        assert len(json.loads(placed.text)["rows"]) == len(read.rows), runbook.name
        assert read.rows[-1]["message"] in json.loads(placed.text)["rows"][-1].values()


def test_one_library_can_be_named(bench: Bench) -> None:
    ask = asking(bench)

    found = ask("search_documents", text="recovery host resolve", library="documents")

    assert {row["source"] for row in found.rows} == {"dns.md"}
    assert not ask("read_document", id="waiting-on-purpose/SKILL.md", library="documents").ok
    with pytest.raises(LookupError, match="there are: documents, runbooks"):
        ask("search_documents", text="host", library="wiki")


def test_a_runbook_that_was_imported_as_well_comes_once(tmp_path: Path, bench: Bench) -> None:
    home = bench.workspace.settings.workspace
    shelve(home, "zebra", "A zebra.", "Zebra stripes.\n")
    bench.workspace.libraries["documents"].import_folder(home / "runbooks")

    found = asking(bench)("search_documents", text="zebra stripes")

    ids = [row["id"] for row in found.rows]
    assert ids == ["zebra/SKILL.md#2", "zebra/SKILL.md#1"]
    assert found.total is not None
    assert found.total.value == 2
    assert found.why_incomplete == ""


def test_a_library_that_fails_hides_nothing_of_the_others(bench: Bench) -> None:
    ask = asking(bench, wiki=Broken("wiki", ()))

    found = ask("search_documents", text="host resolve", limit=20)

    assert "dns.md" in [row["source"] for row in found.rows]
    assert found.why_incomplete == "wiki: wiki is broken; mend it"
    with pytest.raises(ConnectorError, match="wiki is broken"):
        ask("search_documents", text="host resolve", library="wiki")


def test_a_library_that_nobody_filled_leaves_the_answer_of_the_others_complete(
    bench: Bench, tmp_path: Path
) -> None:
    ask = asking(bench, documents=EmbeddedLibrary(tmp_path / "empty.sqlite", name="documents"))

    found = ask("search_documents", text="zyzzyva")
    alone = ask("search_documents", text="zyzzyva", library="documents")

    assert (found.scope["library"], found.why_incomplete) == ("runbooks", "")
    assert "documents holds no document" in found.hint
    assert alone.why_incomplete == "documents: nothing was imported into this library yet"


def test_where_no_library_holds_anything_nothing_found_is_no_fact(
    bench: Bench, tmp_path: Path
) -> None:
    empty = EmbeddedLibrary(tmp_path / "empty.sqlite", name="documents")
    ask = asking(bench, documents=empty, runbooks=GivenLibrary(RUNBOOKS, ()))

    assert "documents: nothing was imported" in ask("search_documents", text="dns").why_incomplete


def test_a_chunk_that_is_nowhere_is_said_with_where_it_was_looked_for(bench: Bench) -> None:
    read = asking(bench)("read_document", id="gone.md#1")

    assert not read.ok
    assert "'gone.md#1' in runbooks, documents; search_documents gives the ids" in read.hint
