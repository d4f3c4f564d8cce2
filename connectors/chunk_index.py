"""Documents cut into chunks under a full-text index, over one SQLite connection.

Whoever opens the connection decides whether the index lies in a file or lives for one search.
"""

import sqlite3

from connectors.document_folder import Document
from connectors.document_pieces import markdown_pieces, plain_pieces
from connectors.full_text import TOKENIZER, match_any, quoted_words, storable
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
EMPTY = "nothing was imported into this library yet"


def write(connection: sqlite3.Connection, document: Document) -> None:
    """Keep the chunks of the document in place of those that its path had."""
    forget(connection, document.path)
    cut = markdown_pieces if document.is_markdown else plain_pieces
    for number, piece in enumerate(cut(document.text), 1):
        row = connection.execute(
            "INSERT INTO chunks (id, document, line) VALUES (?, ?, ?)",
            [f"{document.path}#{number}", document.path, piece.line],
        ).lastrowid
        title = storable(" › ".join(piece.headings)) or document.path
        connection.execute(
            "INSERT INTO words (rowid, document, title, text) VALUES (?, ?, ?, ?)",
            [row, document.path, title, piece.text],
        )


def forget(connection: sqlite3.Connection, path: str) -> None:
    """Keep no chunk of that document any more."""
    connection.execute(
        "DELETE FROM words WHERE rowid IN (SELECT row FROM chunks WHERE document = ?)", [path]
    )
    connection.execute("DELETE FROM chunks WHERE document = ?", [path])


def search(connection: sqlite3.Connection, text: str, limit: int) -> ChunksFound:
    """The chunks that hold any word of *text*, best first, with the part that matched."""
    words = quoted_words(text)
    if not words:
        note = "the text names no word to look for"
        return ChunksFound((), (), Count(0), Coverage(notes=(note,)))
    rows = connection.execute(
        f"SELECT {COLUMNS}, {SNIPPET} FROM {TABLES} WHERE words MATCH ?"
        f" ORDER BY {RANK}, chunks.row LIMIT ?",
        [match_any(words), max(limit, 0)],
    ).fetchall()
    total = connection.execute(
        "SELECT count(*) FROM words WHERE words MATCH ?", [match_any(words)]
    ).fetchone()[0]
    is_empty = not connection.execute("SELECT 1 FROM chunks LIMIT 1").fetchone()
    return ChunksFound(
        chunks=tuple(Chunk(*row[:-1]) for row in rows),
        snippets=tuple(row[-1] for row in rows),
        total=Count(total),
        coverage=Coverage(EMPTY if is_empty else ""),
        is_empty=is_empty,
    )


def chunks(connection: sqlite3.Connection, id: str) -> tuple[Chunk, ...]:
    """That chunk, or every chunk of the document of that path, in order; empty for neither."""
    for column in ("id", "document"):
        rows = connection.execute(
            f"SELECT {COLUMNS} FROM {TABLES} WHERE chunks.{column} = ? ORDER BY chunks.row",
            [storable(id)],
        ).fetchall()
        if rows:
            return tuple(Chunk(*row) for row in rows)
    return ()
