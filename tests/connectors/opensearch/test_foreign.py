"""Indices that others made, on a real node: whatever their mapping, or what it does not say."""

import json
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import count
from typing import Any

import pytest

from connectors.logbook import Filters, Latest, Search
from connectors.opensearch import OpenSearchLogbook, Site, Told
from copilot.errors import ConnectorError, NotFoundError, UsageError
from copilot.window import ALWAYS, Window

NAMES = count(1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = Window(NOON, NOON + timedelta(hours=1))
TEXT = {"type": "text"}
KEYWORD = {"type": "keyword"}
DATE = {"type": "date"}


@dataclass(frozen=True)
class Server:
    """A node that a test makes indices on."""

    url: str
    prefix: str

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer to one request."""
        lines = body if isinstance(body, bytes) else json.dumps(body).encode() if body else None
        kind = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
        ask = urllib.request.Request(
            f"{self.url}/{path}", lines, {"content-type": kind}, method=method
        )
        with urllib.request.urlopen(ask, timeout=30) as answer:
            return json.load(answer)

    def index(self, name: str, properties: Any, *documents: Any, **settings: Any) -> None:
        """Make an index with those documents."""
        body = {
            "settings": {"number_of_replicas": 0, **settings},
            "mappings": {"properties": properties},
        }
        self.call("PUT", self.prefix + name, body)
        if documents:
            lines = [f'{{"index": {{}}}}\n{json.dumps(document)}' for document in documents]
            self.call(
                "POST",
                f"{self.prefix}{name}/_bulk?refresh=true",
                ("\n".join(lines) + "\n").encode(),
            )

    def book(self, *indices: str, **told: Any) -> OpenSearchLogbook:
        """Return the logbook of those indices."""
        names = tuple(self.prefix + index for index in indices or ("*",))
        return OpenSearchLogbook(Site(self.url, names, told=Told(**told)), name="app")


@pytest.fixture
def server(opensearch: str) -> Server:
    """Return the node, with names of this test's own."""
    return Server(opensearch, f"foreign-{next(NAMES)}-")


def minute(n: int) -> str:
    return (NOON + timedelta(minutes=n)).isoformat().replace("+00:00", "Z")


@pytest.mark.bad_input("B030")
def test_several_dates_and_none_chosen_is_an_error_that_lists_them(server: Server) -> None:
    server.index("a", {"@timestamp": DATE, "event": {"properties": {"created": DATE}}, "m": TEXT})

    with pytest.raises(ConnectorError, match=r"any of @timestamp, event\.created; say which"):
        server.book().search(Search())
    assert server.book(time="event.created").search(Search()).total.value == 0


Written = Callable[[datetime], Any]


@pytest.mark.parametrize(
    ("mapping", "written", "told"),
    [
        (DATE, lambda t: t.isoformat(), {}),
        ({"type": "date_nanos"}, lambda t: t.isoformat(), {}),
        ({"type": "date", "format": "epoch_millis"}, lambda t: int(t.timestamp() * 1000), {}),
        ({"type": "date", "format": "epoch_second"}, lambda t: int(t.timestamp()), {}),
        ({"type": "date", "format": "yyyy-MM-dd HH:mm:ss"}, lambda t: f"{t:%Y-%m-%d %H:%M:%S}", {}),
        ({"type": "long"}, lambda t: int(t.timestamp()), {"time": "when", "time_unit": "s"}),
        ({"type": "long"}, lambda t: int(t.timestamp()) * 10**9, {"time": "when", "time_unit": "ns"}),
        (DATE, lambda t: t.astimezone(timezone(timedelta(hours=2))).isoformat(), {}),
    ],
    ids=["iso", "nanos", "epoch_ms", "epoch_s", "house", "number_s", "number_ns", "plus2"],
)  # fmt: skip
@pytest.mark.bad_input("B040")
def test_a_time_is_found_however_it_is_kept(
    server: Server, mapping: Any, written: Written, told: dict[str, Any]
) -> None:
    entries = [
        {"when": written(NOON + timedelta(minutes=n)), "message": f"step {n}", "level": "error"}
        for n in (-1, 0, 30, 60)
    ]
    server.index("a", {"when": mapping, "message": TEXT, "level": KEYWORD}, *entries)
    book = server.book(**told)

    found = book.search(Search(window=HOUR, order="oldest"))
    seen = book.overview(HOUR, Filters(), timedelta(minutes=30))

    assert [entry.message for entry in found.entries] == ["step 0", "step 30"]
    assert [entry.time for entry in found.entries] == [NOON, NOON + timedelta(minutes=30)]
    assert (found.first, found.last) == (NOON, NOON + timedelta(minutes=30))
    assert [(b.start, b.count, b.errors) for b in seen.buckets] == [
        (NOON, 1, 1), (NOON + timedelta(minutes=30), 1, 1),
    ]  # fmt: skip
    assert book.search(Search(limit=1)).entries[0].time == NOON + timedelta(hours=1)


def test_a_number_is_no_time_until_someone_says_of_what(server: Server) -> None:
    server.index("a", {"when": {"type": "long"}, "message": TEXT})

    with pytest.raises(ConnectorError, match="is of no date field"):
        server.book().search(Search())
    with pytest.raises(ConnectorError, match=r"is a number; say of what with fields\.time_unit"):
        server.book(time="when").search(Search())


@pytest.mark.bad_input("B035")
def test_an_index_without_the_time_field_is_counted_and_said(server: Server) -> None:
    server.index(
        "a", {"@timestamp": DATE, "message": TEXT}, {"@timestamp": minute(1), "message": "x"}
    )
    server.index("b", {"message": TEXT}, {"message": "x"}, {"message": "x"})

    found = server.book().search(Search(Filters(text="x"), HOUR))
    everywhere = server.book().search(Search(Filters(text="x")))

    assert (found.total.value, found.coverage.untimed) == (1, 2)
    assert everywhere.total.value == len(everywhere.entries) == 3
    assert f"{server.prefix}b has no field @timestamp" in "; ".join(server.book().schema().notes)


@pytest.mark.bad_input("B026")
def test_thousands_of_entries_of_one_instant_over_shards_are_all_read(server: Server) -> None:
    entries = [{"@timestamp": minute(1), "message": f"n{n}"} for n in range(3_100)]
    server.index("a", {"@timestamp": DATE, "message": TEXT}, *entries, number_of_shards=3)
    book = server.book()

    seen: list[str] = []
    asked = Search(window=HOUR, limit=500)
    while True:
        page = book.search(asked)
        seen += [entry.id for entry in page.entries]
        if not page.cursor:
            break
        asked = Search(window=HOUR, limit=500, cursor=page.cursor)

    assert len(seen) == len(set(seen)) == page.total.value == 3_100
    assert len(book.search(Search(limit=5_000)).entries) == 3_100


def test_entries_from_several_mappings_are_read_as_one_logbook(server: Server) -> None:
    server.index(
        "a", {"@timestamp": DATE, "message": TEXT, "level": KEYWORD, "pod": KEYWORD},
        {"@timestamp": minute(1), "message": "boom", "level": "ERROR", "pod": "web-0"},
    )  # fmt: skip
    server.index(
        "b",
        {"@timestamp": {"type": "date_nanos"}, "message": TEXT,
         "level": KEYWORD, "pod": {"type": "text", "fields": {"keyword": KEYWORD}}},
        {"@timestamp": minute(2), "message": "boom", "level": "err", "pod": "web-0"},
        {"@timestamp": minute(3), "message": "fine", "level": "info", "pod": "web-1"},
    )  # fmt: skip
    book = server.book()

    assert book.search(Search(Filters(levels=("ERROR",)))).total.value == 2
    assert dict(book.overview(ALWAYS, Filters(), None).levels) == {"ERROR": 2, "INFO": 1}
    assert [e.level for e in book.search(Search()).entries] == ["INFO", "ERROR", "ERROR"]
    assert [e.source for e in book.search(Search(order="oldest")).entries] == [
        server.prefix + "a", server.prefix + "b", server.prefix + "b",
    ]  # fmt: skip
    assert book.search(Search(Filters(sources=(server.prefix + "b",)))).total.value == 2


def test_text_without_exact_values_is_said_to_be_compared_by_words(server: Server) -> None:
    server.index(
        "a", {"@timestamp": DATE, "message": TEXT, "host": TEXT},
        {"@timestamp": minute(1), "message": "x", "host": "node one"},
    )  # fmt: skip
    book = server.book()

    found = book.search(Search(Filters(fields={"host": "node one"})))

    assert found.total.value == 1
    assert "host is text without exact values" in found.coverage.notes[0]
    assert ("host", 1, (("node one", 1),)) in [
        (f.name, f.count, f.values) for f in book.fields().fields
    ]
    assert "host: text, counted in the newest 500 entries only" in book.fields().coverage.notes[-1]
    with pytest.raises(UsageError, match="cannot be counted"):
        book.latest(Latest("host"))


@pytest.mark.bad_input("B035")
def test_a_field_that_no_index_has_is_said_to_be_missing(server: Server) -> None:
    server.index(
        "a", {"@timestamp": DATE, "message": TEXT}, {"@timestamp": minute(1), "message": "x"}
    )

    found = server.book().search(Search(Filters(fields={"nope": "x"})))

    assert found.total.value == 0
    assert "no index has a field nope" in found.coverage.notes[0]


def test_punctuation_that_the_index_does_not_keep_is_checked_here(server: Server) -> None:
    server.index(
        "a", {"@timestamp": DATE, "message": TEXT},
        {"@timestamp": minute(1), "message": "job-7 ran"},
        {"@timestamp": minute(2), "message": "job 7 ran"},
    )  # fmt: skip

    found = server.book().trace("job-7", ALWAYS, 10)

    assert [entry.message for entry in found.entries] == ["job-7 ran"]
    assert (found.total.value, found.total.relation) == (1, "exact")
    assert "compares words only" in found.coverage.notes[-1]


def test_an_alias_and_a_data_stream_give_the_entries_behind_them(server: Server) -> None:
    server.index(
        "real", {"@timestamp": DATE, "message": TEXT}, {"@timestamp": minute(1), "message": "a"}
    )
    server.call(
        "POST",
        "_aliases",
        {"actions": [{"add": {"index": server.prefix + "real", "alias": server.prefix + "alias"}}]},
    )
    server.call("PUT", f"_index_template/{server.prefix}t", {
        "index_patterns": [server.prefix + "stream"], "data_stream": {},
        "template": {"settings": {"number_of_replicas": 0}},
    })  # fmt: skip
    server.call("PUT", f"_data_stream/{server.prefix}stream")
    server.call(
        "POST",
        f"{server.prefix}stream/_doc?refresh=true",
        {"@timestamp": minute(2), "message": "b"},
    )

    found = server.book("alias", "stream").search(Search(order="oldest"))

    assert [entry.message for entry in found.entries] == ["a", "b"]
    assert found.coverage.complete


def test_a_closed_index_is_no_silence(server: Server) -> None:
    for name in "ab":
        server.index(
            name, {"@timestamp": DATE, "message": TEXT}, {"@timestamp": minute(1), "message": "x"}
        )
    server.call("POST", f"{server.prefix}b/_close")

    found = server.book().search(Search())

    assert found.total.relation == "at_least"
    assert f"{server.prefix}b is closed and was not searched" in found.coverage.why_incomplete
    with pytest.raises(ConnectorError, match="closed"):
        server.book("b").search(Search())


def test_indices_that_are_not_there_are_no_silence(server: Server) -> None:
    with pytest.raises(ConnectorError, match=r"no open index matches.*not the same as no entries"):
        server.book("none-*").search(Search())
    server.index("a", {"@timestamp": DATE, "message": TEXT})
    with pytest.raises(ConnectorError, match="there is no such index"):
        server.book("a", "missing").search(Search())


def test_an_import_never_writes_into_an_index_of_others(server: Server, tmp_path: Any) -> None:
    server.index("a", {"@timestamp": DATE, "message": TEXT})
    (tmp_path / "x.log").write_text("x\n")

    with pytest.raises(ConnectorError, match="was not made by `copilot logbook import`"):
        list(server.book("a").import_files([tmp_path / "x.log"], tmp_path))
    with pytest.raises(ConnectorError, match=r"name one index"):
        list(server.book("a-*").import_files([tmp_path / "x.log"], tmp_path))


def test_a_line_of_a_log_without_lines_is_refused_with_what_to_do_instead(server: Server) -> None:
    server.index(
        "a", {"@timestamp": DATE, "message": TEXT}, {"@timestamp": minute(1), "message": "x"}
    )

    with pytest.raises(ConnectorError, match="give a reference to an entry that was found"):
        server.book().context(server.prefix + "a", 3, 1, 1)


def test_entries_without_lines_come_around_one_of_them_by_time(server: Server) -> None:
    mapping = {"@timestamp": DATE, "message": TEXT}
    entries = [{"@timestamp": minute(n), "message": f"step {n}"} for n in (5, 3, 1, 4, 2)]
    server.index("a", mapping, *entries)
    server.index("b", mapping, {"@timestamp": minute(3), "message": "of another source"})
    book = server.book()
    [middle] = book.search(Search(Filters(text='"step 3"'))).entries

    found = book.context(middle.id, 0, before=1, after=9)
    alone = book.context(middle.id, 0, before=0, after=0)

    assert [entry.message for entry in found.entries] == ["step 2", "step 3", "step 4", "step 5"]
    assert [entry.message for entry in alone.entries] == ["step 3"]
    assert "no line numbers" in found.coverage.notes[0]
    with pytest.raises(NotFoundError, match=r"no entry .*/nope' in this logbook any more"):
        book.context(f"{server.prefix}a/nope", 0, 1, 1)


def test_entries_of_one_instant_on_several_shards_are_all_around_one(server: Server) -> None:
    mapping = {"@timestamp": {"type": "date_nanos"}, "message": TEXT}
    entries = [{"@timestamp": minute(1), "message": f"n{n}"} for n in range(12)]
    server.index("a", mapping, *entries, number_of_shards=4)
    book = server.book()

    for entry in book.search(Search()).entries:
        around = book.context(entry.id, 0, before=12, after=12).entries

        assert {one.id for one in around} >= {entry.id}
        assert len({one.message for one in around}) == len(around)
        assert len(around) == 12


def test_an_entry_without_a_time_stands_alone(server: Server) -> None:
    server.index(
        "a", {"@timestamp": DATE, "message": TEXT},
        {"message": "timeless"}, {"@timestamp": minute(1), "message": "x"},
    )  # fmt: skip
    book = server.book()
    [entry] = book.search(Search(Filters(text="timeless"))).entries

    found = book.context(entry.id, 0, 5, 5)

    assert [one.message for one in found.entries] == ["timeless"]
    assert "has no time" in found.coverage.notes[0]


def test_an_entry_outside_the_configured_indices_is_not_found_by_its_id(server: Server) -> None:
    mapping = {"@timestamp": DATE, "message": TEXT}
    for name in "ab":
        server.index(name, mapping, {"@timestamp": minute(1), "message": "x"})
    [other] = server.book("b").search(Search()).entries

    with pytest.raises(NotFoundError):
        server.book("a").context(other.id, 0, 1, 1)


def test_behind_a_proxy_only_multi_searches_are_sent(server: Server) -> None:
    server.index(
        "a", {"@timestamp": DATE, "message": TEXT, "pod": KEYWORD},
        *({"@timestamp": minute(n), "message": f"step {n}", "pod": "web"} for n in range(1, 40)),
    )  # fmt: skip
    told = Told(time="@timestamp", message="message", keywords=("pod",))
    site = Site(server.url, (server.prefix + "a",), told=told, msearch_only=True)
    book = OpenSearchLogbook(site, name="app")
    asked: list[str] = []
    send = book.caller._sender.send
    book.caller._sender.send = lambda ask: asked.append(ask.path) or send(ask)  # type: ignore[method-assign,func-returns-value] # listens in

    assert book.search(Search(limit=20)).total.value == 39
    assert book.overview(ALWAYS, Filters(), None).total.value == 39
    assert book.patterns(ALWAYS, None, Filters()).rose[0].template == "step <n>"
    assert book.latest(Latest("pod")).rows[0].count == 39
    assert book.fields().fields[-1].name == "pod"
    assert set(asked) == {"_msearch"}


def test_a_document_that_is_a_text_of_json_is_read() -> None:
    from connectors.opensearch.searches import hit_of

    hit = hit_of({"_index": "a", "_id": "1", "_source": '{"message": "x", "pod": "web"}'})

    assert hit.source == {"message": "x", "pod": "web"}
    assert hit_of({"_source": "no JSON"}).source == {"message": "no JSON"}
