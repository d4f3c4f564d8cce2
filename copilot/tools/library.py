"""The tools over documents and runbooks: ids and snippets first, a chunk on demand."""

from collections.abc import Sequence
from itertools import zip_longest

from pydantic import Field

from connectors.library import Chunk, ChunksFound, Library
from connectors.logbook import Count, Coverage
from copilot.errors import ConnectorError
from copilot.settings import RUNBOOKS
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
    chosen = _chosen(case, arguments.library)
    answers = {one.name: _looked(one, arguments, is_only=len(chosen) == 1) for one in chosen}
    # A library that nobody filled yet hides nothing of what the others hold.
    filled = {name: one for name, one in answers.items() if not one.is_empty} or answers
    empty = [f"{name} holds no document" for name in answers if name not in filled]
    found = [*filled.values()]
    merged = _merged(found)
    rows = merged[: arguments.limit]
    twice = sum(len(one.chunks) for one in found) - len(merged)
    total = sum(one.total.value for one in found) - twice
    why = [
        f"{name}: {one.coverage.why_incomplete}"
        for name, one in filled.items()
        if one.coverage.why_incomplete
    ]
    if not why and len(rows) < total:
        why = [f"limit: {len(rows)} of {total} returned"]
    notes = [note for one in found for note in one.coverage.notes]
    return Outcome(
        scope={"library": ", ".join(filled), "text": arguments.text},
        rows=tuple(rows),
        total=Count(total),
        why_incomplete="; ".join(why),
        hint="; ".join(dict.fromkeys([*notes, *empty])),
    )


def _looked(library: Library, arguments: SearchDocuments, *, is_only: bool) -> ChunksFound:
    """What the library found. One of several that fails hides nothing that the others have."""
    try:
        return library.search(arguments.text, arguments.limit)
    except ConnectorError as error:
        if is_only:
            raise
        return ChunksFound((), (), Count(0), Coverage(str(error)))


def _merged(found: Sequence[ChunksFound]) -> list[JsonObject]:
    """The best of each library, then the second best of each, …: ranks of two do not compare.

    A document that was imported into one library and is in another as well comes once.
    """
    ranked = [zip(one.chunks, one.snippets, strict=True) for one in found]
    rows: dict[str, JsonObject] = {}
    for place in zip_longest(*ranked):
        for chunk, snippet in filter(None, place):
            rows.setdefault(chunk.id, _row(chunk, snippet))
    return list(rows.values())


def _read(arguments: ReadDocument, case: Case) -> Outcome:
    chosen = _chosen(case, arguments.library)
    for library in chosen:
        if chunks := library.chunks(arguments.id):
            return Outcome(
                scope={"library": library.name, "id": arguments.id},
                rows=tuple(_row(chunk, chunk.text) for chunk in chunks),
            )
    names = ", ".join(library.name for library in chosen)
    return Outcome(
        ok=False,
        scope={"library": names, "id": arguments.id},
        hint=f"there is no chunk {arguments.id!r} in {names}; search_documents gives the ids",
        stored=False,
    )


def _chosen(case: Case, name: str) -> list[Library]:
    """The library called *name*, or all of them, runbooks first. Raises LookupError."""
    if name or not case.libraries:
        return [pick(case.libraries, name, "library")]
    return [case.libraries[one] for one in sorted(case.libraries, key=lambda one: one != RUNBOOKS)]


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
    Tool("read_document", "A chunk, or a document, whole.", ReadDocument, _read),
)
