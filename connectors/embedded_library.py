"""Documents and runbooks of a folder, in one SQLite file with a full-text index.

A search gives ids and snippets; the text of a chunk is asked for by its id, `<document>#<n>`.
"""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from connectors.document_folder import Document, Skipped, documents_below
from connectors.document_pieces import markdown_pieces, plain_pieces
from connectors.full_text import TOKENIZER, match_any, quoted_words, storable
from connectors.index_file import IndexFile
from connectors.library import Chunk, ChunksFound
from connectors.logbook import Count, Coverage

VERSION = 1
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS documents (
    path TEXT PRIMARY KEY, folder TEXT NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chunks (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL,
    line INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS chunks_of ON chunks (document);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
    document, title, text, tokenize = '{TOKENIZER}')
"""
TABLES = "words JOIN chunks ON chunks.row = words.rowid"
COLUMNS = "chunks.id, chunks.document, words.title, chunks.line, words.text"
RANK = "bm25(words, 2.0, 4.0, 1.0)"
SNIPPET = "snippet(words, 2, '', '', ' … ', 32)"


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
        self._index = IndexFile(path, SCHEMA, VERSION)

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
        words = quoted_words(text)
        if not words:
            note = "the text names no word to look for"
            return ChunksFound((), (), Count(0), Coverage(notes=(note,)))
        with self._index.reading() as connection:
            rows = connection.execute(
                f"SELECT {COLUMNS}, {SNIPPET} FROM {TABLES} WHERE words MATCH ?"
                f" ORDER BY {RANK}, chunks.row LIMIT ?",
                [match_any(words), max(limit, 0)],
            ).fetchall()
            total = connection.execute(
                "SELECT count(*) FROM words WHERE words MATCH ?", [match_any(words)]
            ).fetchone()[0]
            is_empty = not connection.execute("SELECT 1 FROM documents LIMIT 1").fetchone()
        return ChunksFound(
            chunks=tuple(Chunk(*row[:-1]) for row in rows),
            snippets=tuple(row[-1] for row in rows),
            total=Count(total),
            coverage=Coverage("nothing was imported into this library yet" if is_empty else ""),
        )

    def chunk(self, id: str) -> Chunk | None:
        """That chunk, or None."""
        with self._index.reading() as connection:
            row = connection.execute(
                f"SELECT {COLUMNS} FROM {TABLES} WHERE chunks.id = ?", [storable(id)]
            ).fetchone()
        return Chunk(*row) if row else None


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
    cut = markdown_pieces if document.is_markdown else plain_pieces
    for number, piece in enumerate(cut(text), 1):
        row = connection.execute(
            "INSERT INTO chunks (id, document, line) VALUES (?, ?, ?)",
            [f"{document.path}#{number}", document.path, piece.line],
        ).lastrowid
        title = storable(" › ".join(piece.headings)) or document.path
        connection.execute(
            "INSERT INTO words (rowid, document, title, text) VALUES (?, ?, ?, ?)",
            [row, document.path, title, piece.text],
        )


def _forget(connection: sqlite3.Connection, path: str) -> None:
    connection.execute(
        "DELETE FROM words WHERE rowid IN (SELECT row FROM chunks WHERE document = ?)", [path]
    )
    connection.execute("DELETE FROM chunks WHERE document = ?", [path])
    connection.execute("DELETE FROM documents WHERE path = ?", [path])
