"""Files into an index of ours: once, again, in place of an older copy, and after a failure."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from connectors.log_files.batch import Imported, Refused
from connectors.logbook import Filters, Search
from connectors.opensearch import OpenSearchLogbook, Outside, Site, importer
from connectors.opensearch.caller import Pace
from connectors.opensearch.door import Door
from connectors.opensearch.replies import Ask, Reply
from copilot.errors import ConnectorError
from tests.cli.conftest import Run, run
from tests.connectors.contract.conftest import NAMES
from tests.connectors.opensearch.conftest import reply

__all__ = ["run"]

LINES = ["2024-01-01 10:00:00Z INFO a.B: one", "2024-01-01 10:00:01Z ERROR a.B: two"]


@pytest.fixture
def book(opensearch: str) -> OpenSearchLogbook:
    """Return a logbook into which nothing was imported."""
    return OpenSearchLogbook(Site(opensearch, (f"import-{next(NAMES)}",)), name="app")


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a file."""

    def write(*lines: str, name: str = "app.log") -> Path:
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


def total(book: OpenSearchLogbook, text: str = "") -> int:
    return book.search(Search(Filters(text=text))).total.value


def test_the_same_file_again_changes_nothing(
    book: OpenSearchLogbook, put: Callable[..., Path]
) -> None:
    first = book.import_file(put(*LINES), "app.log")
    again = book.import_file(put(*LINES), "app.log")

    assert first == Imported("app.log", 2, 2, 0, 0, {}, unchanged=False)
    assert again.unchanged
    assert total(book) == 2


def test_new_content_takes_the_place_of_the_old(
    book: OpenSearchLogbook, put: Callable[..., Path]
) -> None:
    book.import_file(put(*LINES), "app.log")
    book.import_file(put("x", name="other.log"), "other.log")

    book.import_file(put(LINES[1]), "app.log")

    assert [total(book, word) for word in ("one", "two", "x", "")] == [0, 1, 1, 2]


def test_a_file_that_is_no_log_is_refused_and_the_others_go_on(
    book: OpenSearchLogbook, put: Callable[..., Path], tmp_path: Path
) -> None:
    put("\x7fELF", name="a.bin")
    put(*LINES)

    done = list(book.import_files([tmp_path], tmp_path))

    assert [type(one) for one in done] == [Refused, Imported]


class Broken:
    """A door that lets so many bulks through, then answers as it is told."""

    def __init__(self, url: str, site: Site, bulks: int, then: Reply) -> None:
        self._door = Door(site, lambda: None)  # type: ignore[arg-type,return-value] # signs nothing
        self._left = bulks
        self._then = then

    def send(self, ask: Ask) -> Reply:
        """Pass the request on, or answer it here."""
        if ask.path.endswith("_bulk"):
            self._left -= 1
            if self._left < 0:
                return self._then
        return self._door.send(ask)


def through(url: str, index: str, bulks: int, then: Reply) -> OpenSearchLogbook:
    site = Site(url, (index,))
    pace = Pace(lambda: 0.0, lambda _: None, lambda: 0.5)
    return OpenSearchLogbook(
        site, name="app", outside=Outside(pace, sender=Broken(url, site, bulks, then))
    )


def test_an_import_that_broke_off_is_said_so_and_goes_on_when_done_again(
    opensearch: str, put: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "CHUNK", 10)
    path = put(*(f"2024-01-01 10:00:00Z INFO a.B: n{n}" for n in range(35)))
    index = f"import-{next(NAMES)}"
    down = reply({"error": {"type": "x_exception", "reason": "gone"}}, 500)

    with pytest.raises(ConnectorError, match="could not write entries"):
        through(opensearch, index, 2, down).import_file(path, "app.log")
    whole = OpenSearchLogbook(Site(opensearch, (index,)), name="app")
    done = whole.import_file(path, "app.log")

    assert (done.entries, done.unchanged) == (35, False)
    assert total(whole) == 35


def test_entries_that_the_server_did_not_take_are_counted_and_told(
    opensearch: str, put: Callable[..., Path], shared_data: Path
) -> None:
    told: Any = json.loads(
        (shared_data / "opensearch" / "errors" / "too_many_shards_bulk_200.json").read_text()
    )
    book = through(opensearch, f"import-{next(NAMES)}", 0, reply(told["body"]))

    with pytest.raises(ConnectorError, match=r"1 of 1 entries were not taken.*2999\]/\[3000"):
        book.import_file(put(*LINES), "app.log")


def test_entries_that_the_server_was_too_busy_for_are_sent_again(
    opensearch: str, put: Callable[..., Path]
) -> None:
    full = {"index": {"status": 429, "error": {"type": "rejected_execution_exception"}}}
    busy = reply({"errors": True, "items": [full, full]})
    book = through(opensearch, f"import-{next(NAMES)}", 0, busy)

    with pytest.raises(ConnectorError, match="too busy for 2 entries; import the same files"):
        book.import_file(put(*LINES), "app.log")


def test_words_without_end_and_odd_keys_are_taken(
    book: OpenSearchLogbook, put: Callable[..., Path]
) -> None:
    odd = {"": "empty", "a.b": 1, "a": {"b": "2"}, "pod": "x" * 40_000, "msg": "y" * 40_000}
    book.import_file(put(json.dumps(odd), name="odd.jsonl"), "odd.jsonl")

    [entry] = book.search(Search()).entries

    assert "y" * 40_000 in entry.message
    assert total(book, "y" * 40_000) == 1


def test_the_command_imports_into_the_logbook_that_is_named(
    run: Run,
    opensearch: str,
    tmp_path: Path,
    put: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    source = {
        "name": "prod", "kind": "opensearch", "url": opensearch,
        "indices": [f"import-{next(NAMES)}"],
    }  # fmt: skip
    (tmp_path / "copilot.yaml").write_text(json.dumps({"logbooks": [source]}))
    put(*LINES)

    imported = run("logbook", "import", "--to", "prod", "app.log")
    found = run("logbook", "search", "two")

    assert (imported.code, found.code) == (0, 0)
    assert "the logbook prod has 2 lines of 1 file" in imported.err
    assert "a.B: two" in found.out
