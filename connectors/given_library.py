"""A library of a few documents that are given, such as the runbooks of a workspace.

Nothing is kept on disk: the index is made for one call and is gone after it, which for a hundred
documents takes a few milliseconds. So what is found is always what was given.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from connectors import chunk_index
from connectors.document_folder import Document
from connectors.library import Chunk, ChunksFound
from connectors.logbook import Count, Coverage


@dataclass(slots=True)
class GivenLibrary:
    """A library called *name* that holds *documents*."""

    name: str
    documents: Sequence[Document]

    def search(self, text: str, limit: int) -> ChunksFound:
        """The chunks that hold any word of *text*, best first, with the part that matched."""
        if not self.documents:
            return ChunksFound((), (), Count(0), Coverage(), is_empty=True)
        with self._index() as connection:
            return chunk_index.search(connection, text, limit)

    def chunks(self, id: str) -> tuple[Chunk, ...]:
        """That chunk, or every chunk of the document of that path, in order; empty for neither."""
        with self._index() as connection:
            return chunk_index.chunks(connection, id)

    @contextmanager
    def _index(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(chunk_index.SCHEMA)
            for document in self.documents:
                chunk_index.write(connection, document)
            yield connection
