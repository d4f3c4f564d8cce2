"""What every library offers: documents and runbooks, found by chunk. Values and the protocol."""

from dataclasses import dataclass
from typing import Protocol

from connectors.logbook import Count, Coverage


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a document under one heading. `line` is its first line in the file, from 1."""

    id: str
    document: str
    """The path below the imported folder."""
    title: str
    """The headings that lead to the chunk, joined by ` › `."""
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class ChunksFound:
    """The best chunks first, with the part of each that matched."""

    chunks: tuple[Chunk, ...]
    snippets: tuple[str, ...]
    total: Count
    coverage: Coverage
    is_empty: bool = False
    """True when the library holds no document at all."""


class Library(Protocol):
    """A source of documents. Every method raises ConnectorError when it could not look."""

    name: str

    def search(self, text: str, limit: int) -> ChunksFound:
        """The chunks that match any word of *text*, best first."""

    def chunks(self, id: str) -> tuple[Chunk, ...]:
        """That chunk, or every chunk of the document of that path, in order; empty for neither."""
