"""A folder of runbooks can be searched by chunk; what was left out is said, never followed."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.document_folder import LARGEST_FILE
from connectors.embedded_library import EmbeddedLibrary
from copilot.errors import ImportRefusedError

RUNBOOK = """---
name: expired-proxy
description: What to do when jobs fail with an expired grid proxy.
metadata:
  alertnames: [ProxyExpiring]
---
# Expired proxy

## Signs
Jobs end with exit code 60311 and `X509_USER_PROXY` in the log.

## What to do
Renew the proxy on the agent host, then restart JobSubmitter.
"""


@pytest.fixture
def library(tmp_path: Path) -> EmbeddedLibrary:
    return EmbeddedLibrary(tmp_path / "library.sqlite")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runbook = tmp_path / "docs" / "expired-proxy" / "SKILL.md"
    runbook.parent.mkdir(parents=True)
    runbook.write_text(RUNBOOK)
    return tmp_path / "docs"


def test_a_runbook_is_found_by_its_words_and_read_by_its_id(
    library: EmbeddedLibrary, folder: Path
) -> None:
    library.import_folder(folder)

    found = library.search("how to renew a proxy", 3)

    best = found.chunks[0]
    assert best.title == "expired-proxy › Expired proxy › What to do"
    assert "Renew the proxy" in found.snippets[0]
    assert library.chunks(best.id) == (best,)
    assert best.id == "expired-proxy/SKILL.md#3"


def test_a_document_is_read_whole_by_its_path(library: EmbeddedLibrary, folder: Path) -> None:
    library.import_folder(folder)

    read = library.chunks("expired-proxy/SKILL.md")

    assert [chunk.id.partition("#")[2] for chunk in read] == ["1", "2", "3"]
    assert [line for chunk in read for line in chunk.text.split("\n") if line] == [
        line for line in RUNBOOK.split("\n") if line
    ]


def test_the_line_of_a_chunk_is_its_line_in_the_file(
    library: EmbeddedLibrary, folder: Path
) -> None:
    library.import_folder(folder)
    lines = RUNBOOK.split("\n")

    for number in (1, 2, 3):
        (chunk,) = library.chunks(f"expired-proxy/SKILL.md#{number}")
        first = chunk.text.split("\n")[0]
        assert lines[chunk.line - 1] == first


def test_the_description_of_a_runbook_is_searched_too(
    library: EmbeddedLibrary, folder: Path
) -> None:
    library.import_folder(folder)

    assert library.search("ProxyExpiring", 5).chunks[0].line == 1
    assert library.search("X509_USER_PROXY", 5).chunks[0].id == "expired-proxy/SKILL.md#2"


def test_importing_again_replaces_adds_and_removes(library: EmbeddedLibrary, folder: Path) -> None:
    (folder / "a.md").write_text("# A\nold words\n")
    (folder / "b.md").write_text("# B\nbye\n")
    first = library.import_folder(folder)
    (folder / "a.md").write_text("# A\nnew words\n")
    (folder / "b.md").unlink()

    again = library.import_folder(folder)

    assert (first.added, first.chunks) == (3, 5)
    assert (again.added, again.replaced, again.unchanged, again.removed) == (0, 1, 1, 1)
    assert library.search("old", 5).total.value == 0
    assert library.search("new", 5).total.value == 1
    assert library.chunks("b.md#1") == ()


def test_what_is_no_document_is_skipped_and_named(library: EmbeddedLibrary, folder: Path) -> None:
    secret = folder.parent / "secret.md"
    secret.write_text("# Secret\nhunter2\n")
    (folder / "link.md").symlink_to(secret)
    (folder / "outside").symlink_to(folder.parent, target_is_directory=True)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "core.md").write_bytes(b"\x7fELF\0\0")
    (folder / "huge.txt").write_bytes(b"x" * (LARGEST_FILE + 1))
    (folder / "plot.png").write_bytes(b"png")
    (folder / ".hidden.md").write_text("hidden")
    os.mkfifo(folder / "pipe.md")

    result = library.import_folder(folder)

    assert {item.path: item.why.split(",")[0] for item in result.skipped} == {
        "link.md": "a link",
        "outside": "a link",
        "loop": "a link",
        "core.md": "binary",
        "huge.txt": "over 4 MiB",
        "plot.png": "not Markdown or text (.md",
        "pipe.md": "not a plain file",
    }
    assert library.search("hunter2 hidden", 5).total.value == 0


def test_a_path_that_two_folders_give_is_skipped_and_both_are_named(
    library: EmbeddedLibrary, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(f"words of {name}")
    library.import_folder(tmp_path / "one")

    second = library.import_folder(tmp_path / "two")

    assert str(tmp_path / "one") in second.skipped[0].why
    assert library.search("one", 5).total.value == 1


def test_a_folder_that_is_none_is_refused(library: EmbeddedLibrary, tmp_path: Path) -> None:
    with pytest.raises(ImportRefusedError, match="absent"):
        library.import_folder(tmp_path / "absent")


def test_old_encodings_and_line_ends_are_read(library: EmbeddedLibrary, folder: Path) -> None:
    (folder / "old.txt").write_bytes("Störung am Knoten\r\n\r\nzweite Zeile".encode("latin-1"))

    library.import_folder(folder)

    assert library.search("Störung", 5).chunks[0].text == "Störung am Knoten\n\nzweite Zeile"
    assert library.search("storung", 5).total.value == 1


def test_a_name_that_utf8_cannot_hold_is_no_trap(library: EmbeddedLibrary, folder: Path) -> None:
    (folder / "odd.md").write_text('---\nname: "\\ud800"\n---\nwords\n')

    assert library.import_folder(folder).added == 2
    assert library.search("words", 5).chunks[0].title == "?"


def test_an_empty_library_cannot_show_that_something_is_absent(library: EmbeddedLibrary) -> None:
    assert "nothing was imported" in library.search("proxy", 5).coverage.why_incomplete


def test_a_text_without_words_says_so(library: EmbeddedLibrary) -> None:
    assert "no word" in library.search("-- ?", 5).coverage.notes[0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=30) | st.text(st.sampled_from('aOR NEAR()"*^:-\x00\ud800'), max_size=20))
def test_no_text_is_ever_a_syntax_error(library: EmbeddedLibrary, text: str) -> None:
    library.search(text, 5)
    library.chunks(text)
