"""Log files into an index of our own. The only thing here that writes.

A file's entries have ids made of its name and their places, so that doing it again, or half of it
after a failure, changes nothing. Entries of an older version of the file go last.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from connectors.log_files.batch import Imported, chunks_of
from connectors.log_files.opening import digest
from connectors.log_files.reader import Assumptions, read_log
from connectors.log_files.record import Flags, Record
from connectors.log_files.searchable import searchable
from connectors.logbook import TimeFlag
from connectors.opensearch.caller import Caller
from connectors.opensearch.faults import RefusedError, fault_in
from connectors.opensearch.layout import MARK, TIME, index_body, pairs_of
from connectors.opensearch.replies import Ask
from connectors.timestamps import instant
from copilot.errors import ConnectorError
from copilot.values import JsonObject, list_at, object_at
from copilot.window import iso

CHUNK = 2_000
CHUNK_CHARACTERS = 3 << 20
BUSY_TRIES = 4


@dataclass(slots=True)
class Importer:
    """Imports files into the first index of a site. It must be ours, or not be there yet."""

    caller: Caller
    assumed: Assumptions
    _ready: bool = False

    @property
    def index(self) -> str:
        """The index that is written to. Raises ConnectorError when the settings name a pattern."""
        name = self.caller.site.indices[0]
        if "*" in name or self.caller.site.msearch_only:
            raise ConnectorError(
                f"logbook {self.caller.name}: nothing can be imported into {name}; name one index, "
                "first in `indices` of copilot.yaml, and no proxy"
            )
        return name

    def import_file(self, path: Path, source: str) -> Imported:
        """Import one file under the name *source*, in place of what that name held before.

        Raises ImportRefusedError, or ConnectorError when the server did not take all of it; the
        import of the same file again then goes on.
        """
        self._prepare()
        fingerprint = digest(path)
        here: JsonObject = {"term": {"source": source}}
        same: JsonObject = {"bool": {"filter": [here, {"term": {"import": fingerprint}}]}}
        before = self._count(same)
        flags, told = Flags(), _Told(source, fingerprint)
        with read_log(path, self.assumed, flags) as records:
            for chunk in chunks_of(records, CHUNK, CHUNK_CHARACTERS):
                documents = told.documents(chunk)
                if not before:
                    self._write(documents)
        self._refresh()
        if before and before != told.entries:  # an earlier import broke off
            self._again(path, source, fingerprint)
        self._forget({"bool": {"filter": [here], "must_not": [{"term": {"import": fingerprint}}]}})
        return Imported(
            source,
            told.entries,
            told.lines,
            told.flags["none"],
            told.flags["carried"],
            {name: count for name, count in sorted(flags.items()) if count},
            unchanged=before == told.entries and bool(before),
        )

    def _again(self, path: Path, source: str, fingerprint: str) -> None:
        told = _Told(source, fingerprint)
        with read_log(path, self.assumed, Flags()) as records:
            for chunk in chunks_of(records, CHUNK, CHUNK_CHARACTERS):
                self._write(told.documents(chunk))
        self._refresh()

    def _prepare(self) -> None:
        """Make the index where it is not there. Raises ConnectorError when it is someone else's."""
        if self._ready:
            return
        doing = "look at the index"
        try:
            caps = self.caller.ask(
                Ask("GET", f"{self.index}/_field_caps", doing, None, {"fields": MARK})
            )
        except RefusedError as error:
            if error.fault.kind != "index_not_found_exception":
                raise
            self.caller.ask(Ask("PUT", self.index, "make the index", index_body()))
        else:
            if MARK not in object_at(caps, "fields"):
                raise ConnectorError(
                    f"logbook {self.caller.name}: the index {self.index} was not made by `copilot "
                    "logbook import`; it is only read, so name another one to import into"
                )
        self._ready = True

    def _write(self, documents: list[tuple[str, JsonObject]]) -> None:
        """Index the documents under their ids; what the server was too busy for is sent again."""
        for _ in range(BUSY_TRIES):
            lines: list[JsonObject] = []
            for name, document in documents:
                lines += [{"index": {"_id": name}}, document]
            documents = self._bulk(lines, documents)
            if not documents:
                return
        raise ConnectorError(
            f"logbook {self.caller.name}: the server was too busy for {len(documents)} entries; "
            "import the same files again to go on",
            retryable=True,
        )

    def _bulk(
        self, lines: list[JsonObject], documents: list[tuple[str, JsonObject]]
    ) -> list[tuple[str, JsonObject]]:
        """Send a bulk; the documents that the server was too busy for."""
        ask = Ask("POST", f"{self.index}/_bulk", "write entries", lines)
        answer = self.caller.ask(ask)
        if not answer.get("errors"):
            return []
        items = [
            next(iter(item.values())) for item in list_at(answer, "items") if isinstance(item, dict)
        ]
        busy = []
        for item, document in zip(items, documents, strict=False):
            status = item.get("status") if isinstance(item, dict) else None
            if status == 429:
                busy.append(document)
            elif isinstance(item, dict) and "error" in item:
                lost = sum(isinstance(one, dict) and "error" in one for one in items)
                fault = fault_in(item, status if isinstance(status, int) else 500)
                raise ConnectorError(
                    f"logbook {self.caller.name}: {lost} of {len(items)} entries were not taken by "
                    f"{self.index}: {fault.words()}; mend that, then import them again"
                )
        return busy

    def _count(self, query: JsonObject) -> int:
        ask = Ask("POST", f"{self.index}/_count", "count the entries", {"query": query})
        count = self.caller.ask(ask).get("count")
        return count if isinstance(count, int) else 0

    def _forget(self, query: JsonObject) -> None:
        """Delete what matches. By ids: deleting by query is a module that not every server has."""
        body: JsonObject = {"query": query, "size": 5_000, "_source": False}
        while True:
            ask = Ask("POST", f"{self.index}/_search", "find older entries", body)
            hits = list_at(object_at(self.caller.ask(ask), "hits"), "hits")
            if not hits:
                return
            lines: list[JsonObject] = [
                {"delete": {"_id": hit["_id"]}} for hit in hits if isinstance(hit, dict)
            ]
            self.caller.ask(Ask("POST", f"{self.index}/_bulk", "delete older entries", lines))
            self._refresh()

    def _refresh(self) -> None:
        self.caller.ask(Ask("POST", f"{self.index}/_refresh", "show the entries"))


@dataclass(slots=True)
class _Told:
    """The documents of one file, and what was counted on the way."""

    source: str
    fingerprint: str
    entries: int = 0
    lines: int = 0
    flags: Counter[TimeFlag] = field(default_factory=Counter)
    _last_line: int = 0
    _part: int = 0

    def documents(self, chunk: list[Record]) -> list[tuple[str, JsonObject]]:
        """The id and the document of each record, in their order."""
        return list(self._documents(chunk))

    def _documents(self, chunk: list[Record]) -> Iterator[tuple[str, JsonObject]]:
        name = hashlib.sha256(self.source.encode()).hexdigest()[:24]
        for record in chunk:
            self._part = self._part + 1 if record.line == self._last_line else 0
            self._last_line = record.line
            self.entries += 1
            self.lines += record.lines
            self.flags[record.time_flag] += 1
            yield f"{name}-{record.line}-{self._part}", self._document(record)

    def _document(self, record: Record) -> JsonObject:
        text = searchable(record.message)
        fields = dict(record.fields)
        document: JsonObject = {
            "time_flag": record.time_flag,
            "level": record.level,
            "source": self.source,
            "line": record.line,
            "part": self._part,
            "lines": record.lines,
            "import": self.fingerprint,
            "verbatim": record.verbatim,
            "message": text,
        }
        if record.time is not None:
            document[TIME] = iso(instant(record.time))
        if text != record.message:
            document["raw"] = record.message
        if fields:
            document |= {"fields": {**fields}, "pairs": [*pairs_of(fields)], "names": [*fields]}
        if record.extra:
            document["extra"] = record.extra
        if record.record is not None:
            document["record"] = record.record
        return document
