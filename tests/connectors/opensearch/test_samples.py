"""Templates mined page by page: the pages go, and the answer is that of one page."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from connectors.logbook import Filters
from connectors.opensearch import OpenSearchLogbook, Site, sample
from copilot.window import ALWAYS, Window
from tests.connectors.opensearch.test_foreign import DATE, KEYWORD, TEXT, Server, minute, server

__all__ = ["server"]

NAMES = count(1)


def mined(url: str, folder: Path) -> OpenSearchLogbook:
    """Return a logbook of three files that speak at the same times, and once without a time."""
    book = OpenSearchLogbook(Site(url, (f"mined-{next(NAMES)}",)), name="mined")
    for place, name in enumerate(("c.log", "a.log", "b.log")):
        lines = ["no time at all", *(f"{minute(9 - n + place)} step {n} done" for n in range(9))]
        (folder / name).write_text("\n".join(lines) + "\n")
        book.import_file(folder / name, name)
    return book


def test_pages_of_two_say_what_one_page_says(
    opensearch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = mined(opensearch, tmp_path)
    whole = book.patterns(ALWAYS, None, Filters())

    monkeypatch.setattr(sample, "PAGE", 2)
    paged = book.patterns(ALWAYS, None, Filters())

    assert paged == whole
    steps = next(one for one in whole.rose if "done" in one.template)
    assert [entry.id for entry in steps.samples] == ["c.log:10", "a.log:10", "b.log:10", "b.log:2"]
    assert (steps.count, dict(steps.sources)) == (27, {"a.log": 9, "b.log": 9, "c.log": 9})


def test_only_what_is_shown_stays_of_a_page(
    opensearch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = mined(opensearch, tmp_path)
    held: list[int] = []
    taken = sample.Mine.lines

    def looked_at(mine: sample.Mine, lines: Any) -> Any:
        held.append(len(mine._hits))
        return taken(mine, lines)

    monkeypatch.setattr(sample.Mine, "lines", looked_at)
    monkeypatch.setattr(sample, "PAGE", 2)

    found = book.patterns(ALWAYS, None, Filters())

    assert held[0] == sum(len(one.samples) for one in found.rose)


@pytest.mark.parametrize(
    ("mapping", "times", "told"),
    [
        (DATE, [minute(2), minute(0), minute(1)], {}),
        ({"type": "date_nanos"}, [minute(2), minute(0), minute(1)], {}),
        ({"type": "long"}, [1772366520, 1772366400, 1772366460], {"time_unit": "s"}),
        ({"type": "double"}, [1772366520.5, 1772366400.5, 1772366460.5], {"time_unit": "s"}),
        (DATE, [minute(2), minute(0), None], {}),
    ],
)
def test_first_and_last_are_told_by_time_whatever_the_mapping_of_it(
    server: Server, mapping: Any, times: list[Any], told: dict[str, Any]
) -> None:
    properties = {"at": mapping, "message": TEXT, "service": KEYWORD, "level": KEYWORD}
    documents = [
        {"at": time, "message": f"step {n} done", "service": "mover", "level": "INFO"}
        for n, time in enumerate(times)
        if time is not None
    ]
    server.index("a", properties, *documents)

    book = server.book("a", time="at", message="message", source="service", **told)
    [pattern] = book.patterns(Window(None, None), None, Filters()).rose

    assert [entry.message for entry in pattern.samples] == ["step 1 done", "step 0 done"]
    assert pattern.sources == (("mover", len(documents)),)


def test_a_source_that_is_text_with_exact_values_is_read_by_its_text(server: Server) -> None:
    service = {"type": "text", "fields": {"keyword": {"type": "keyword"}}}
    server.index(
        "a",
        {"at": DATE, "message": TEXT, "service": service},
        {"at": minute(1), "message": "step 1 done", "service": "mover"},
    )

    book = server.book("a", time="at", message="message", source="service")
    [pattern] = book.patterns(ALWAYS, None, Filters()).rose

    assert pattern.sources == (("mover", 1),)
    assert pattern.samples[0].source == "mover"
