"""The tools over documents and runbooks: ids and snippets first, a chunk on demand."""

from pydantic import Field

from connectors.library import Chunk
from copilot.tools.arguments import Arguments
from copilot.tools.base import Case, Outcome, Tool, pick
from copilot.values import JsonObject


class SearchDocuments(Arguments):
    """Arguments of `search_documents`."""

    text: str = Field(min_length=2, max_length=1000)
    library: str = ""
    limit: int = Field(5, ge=1, le=20)


class ReadDocument(Arguments):
    """Arguments of `read_document`."""

    id: str = Field(min_length=1, max_length=500, description="A chunk id from search_documents")
    library: str = ""


def _search(arguments: SearchDocuments, case: Case) -> Outcome:
    library = pick(case.libraries, arguments.library, "library")
    found = library.search(arguments.text, arguments.limit)
    return Outcome(
        scope={"library": library.name, "text": arguments.text},
        rows=tuple(
            _row(chunk, snippet)
            for chunk, snippet in zip(found.chunks, found.snippets, strict=True)
        ),
        total=found.total,
        why_incomplete=found.coverage.why_incomplete
        or (
            f"limit: {len(found.chunks)} of {found.total.value} returned"
            if len(found.chunks) < found.total.value
            else ""
        ),
        hint="; ".join(found.coverage.notes),
    )


def _read(arguments: ReadDocument, case: Case) -> Outcome:
    library = pick(case.libraries, arguments.library, "library")
    chunk = library.chunk(arguments.id)
    if chunk is None:
        return Outcome(
            ok=False,
            scope={"library": library.name, "id": arguments.id},
            hint=f"there is no chunk {arguments.id!r}; search_documents gives the ids",
            stored=False,
        )
    return Outcome(scope={"library": library.name, "id": chunk.id}, rows=(_row(chunk, chunk.text),))


def _row(chunk: Chunk, text: str) -> JsonObject:
    return {
        "id": chunk.id,
        "title": chunk.title,
        "source": chunk.document,
        "line": chunk.line,
        "message": text,
    }


TOOLS = (
    Tool(
        "search_documents",
        "Runbooks and documents that match: chunk ids with snippets.",
        SearchDocuments,
        _search,
    ),
    Tool("read_document", "One chunk of a document, whole.", ReadDocument, _read),
)
