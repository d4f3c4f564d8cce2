"""Claims about a library of given documents: found, read, cited as those of a file are."""

from pathlib import Path
from threading import Thread

from connectors.document_folder import Document
from connectors.embedded_library import EmbeddedLibrary
from connectors.given_library import GivenLibrary

TEXT = (
    "---\nname: proxy\ndescription: a proxy ran out\n---\n\n# Proxy\n\n## What to do\n\nRenew it.\n"
)
PROXY = Document("proxy/SKILL.md", is_markdown=True, text=TEXT)
LIBRARY = GivenLibrary("runbooks", [PROXY, Document("notes.txt", False, "A proxy of a node.\n")])


def test_it_finds_and_cuts_exactly_as_a_library_in_a_file_does(tmp_path: Path) -> None:
    for document in LIBRARY.documents:
        path = tmp_path / "docs" / document.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document.text)
    kept = EmbeddedLibrary(tmp_path / "library.sqlite")
    kept.import_folder(tmp_path / "docs")

    assert set(LIBRARY.search("renew proxy", 9).chunks) == set(kept.search("renew proxy", 9).chunks)
    assert LIBRARY.chunks(PROXY.path) == kept.chunks(PROXY.path)


def test_the_line_of_a_chunk_is_its_line_in_the_document() -> None:
    lines = TEXT.split("\n")

    for chunk in LIBRARY.chunks(PROXY.path):
        assert chunk.text.split("\n")[0] == lines[chunk.line - 1]


def test_without_documents_nothing_is_found_and_that_is_a_fact() -> None:
    found = GivenLibrary("runbooks", ()).search("proxy", 5)

    assert found.total.value == 0
    assert found.coverage.complete


def test_several_threads_may_ask_at_once() -> None:
    found: list[int] = []
    threads = [
        Thread(target=lambda: found.append(LIBRARY.search("proxy", 5).total.value))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(found)) == 1
    assert len(found) == 4
