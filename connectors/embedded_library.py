"""Documents and runbooks of a folder, in one SQLite file with a full-text index.

A search gives ids and snippets; the text of a chunk is asked for by its id, `<document>#<n>`.
"""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from connectors import chunk_index
from connectors.document_folder import Document, Skipped, documents_below
from connectors.full_text import storable
from connectors.index_file import IndexFile
from connectors.library import Chunk, ChunksFound

Outcome = Literal["added", "replaced", "unchanged"]


@dataclass(frozen=True, slots=True)
class ImportedDocuments:
    """What became of one folder. `removed` were there before and are gone from the folder."""

    folder: str
    added: int
    replaced: int
    unchanged: int
    removed: int
    chunks: int
    skipped: tuple[Skipped, ...]


class EmbeddedLibrary:
    """A library in the file at *path*, which is made when it is missing.

    *redact* sees each document whole, before it is cut: half a secret looks like none.
    """

    def __init__(
        self, path: Path, *, name: str = "local", redact: Callable[[str], str] = str
    ) -> None:
        self.name = name
        self._redact = redact
        self._index = IndexFile(path, chunk_index.SCHEMA, chunk_index.VERSION)

    def import_folder(self, folder: Path) -> ImportedDocuments:
        """Keep the documents below *folder* in place of those it gave before, all or nothing.

        A path that another folder has given already is skipped: one of the two must be renamed.
        Raises ImportRefusedError when the folder cannot be read.
        """
        origin = storable(str(folder.resolve()))
        found = list(documents_below(folder))
        skipped = [item for item in found if isinstance(item, Skipped)]
        outcomes: Counter[Outcome] = Counter()
        with self._index.writing() as connection:
            kept = _kept(connection)
            for document in found:
                if isinstance(document, Skipped):
                    continue
                owner, digest = kept.pop(document.path, (origin, ""))
                if owner != origin and Path(owner).is_dir():
                    why = f"{owner} has a document of that path already; rename one of the two"
                    skipped.append(Skipped(document.path, why))
                elif (owner, digest) == (origin, _digest(document)):
                    outcomes["unchanged"] += 1
                else:
                    outcomes["replaced" if digest else "added"] += 1
                    _write(connection, document, origin, self._redact(document.text))
            gone = [path for path, (owner, _) in kept.items() if owner == origin]
            for path in gone:
                _forget(connection, path)
            count = "SELECT count(*) FROM chunks JOIN documents ON path = document WHERE folder = ?"
            chunks = connection.execute(count, [origin]).fetchone()[0]
        return ImportedDocuments(
            folder=origin,
            added=outcomes["added"],
            replaced=outcomes["replaced"],
            unchanged=outcomes["unchanged"],
            removed=len(gone),
            chunks=chunks,
            skipped=tuple(skipped),
        )

    def search(self, text: str, limit: int) -> ChunksFound:
        """The chunks that hold any word of *text*, best first, with the part that matched."""
        with self._index.reading() as connection:
            return chunk_index.search(connection, text, limit)

    def chunks(self, id: str) -> tuple[Chunk, ...]:
        """That chunk, or every chunk of the document of that path, in order; empty for neither."""
        with self._index.reading() as connection:
            return chunk_index.chunks(connection, id)


def _kept(connection: sqlite3.Connection) -> dict[str, tuple[str, str]]:
    """The folder and the digest of every document, by path."""
    rows = connection.execute("SELECT path, folder, digest FROM documents")
    return {path: (folder, digest) for path, folder, digest in rows}


def _digest(document: Document) -> str:
    return hashlib.sha256(document.text.encode()).hexdigest()


def _write(connection: sqlite3.Connection, document: Document, folder: str, text: str) -> None:
    """Keep the *text* of the document, whose digest is that of what its file says."""
    _forget(connection, document.path)
    connection.execute(
        "INSERT INTO documents VALUES (?, ?, ?)", [document.path, folder, _digest(document)]
    )
    chunk_index.write(connection, replace(document, text=text))


def _forget(connection: sqlite3.Connection, path: str) -> None:
    chunk_index.forget(connection, path)
    connection.execute("DELETE FROM documents WHERE path = ?", [path])
