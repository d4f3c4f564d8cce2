"""`copilot documents`: import documents; find and show them."""

from pathlib import Path

import click

from copilot.cli.options import as_json, ids_only
from copilot.cli.session import Session, pass_session, pick
from copilot.cli.shown import counted
from copilot.errors import NotFoundError
from copilot.safe_text import safe_text

library_option = click.option(
    "--library", default="", help="Which library, where there are several."
)


@click.group("documents")
def command() -> None:
    """Import documents; find and show them. Runbooks need no import: `copilot runbooks`."""


@command.command("import")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@library_option
@pass_session
def import_(session: Session, folder: Path, library: str) -> None:
    """Import the Markdown and text files below DIR, in place of what it gave before."""
    found = pick(session.workspace.libraries, library, "library").import_folder(
        session.cwd / folder
    )
    session.screen.table(
        ("ADDED", "REPLACED", "UNCHANGED", "REMOVED", "CHUNKS", "FOLDER"),
        [
            (
                str(found.added),
                str(found.replaced),
                str(found.unchanged),
                str(found.removed),
                str(found.chunks),
                found.folder,
            )
        ],
    )
    for item in found.skipped:
        session.screen.say(f"skipped: {item.path}: {item.why}")


@command.command("search")
@click.argument("text", nargs=-1, required=True, metavar="TEXT...")
@library_option
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True)
@ids_only
@as_json
@pass_session
def search(
    session: Session,
    text: tuple[str, ...],
    library: str,
    limit: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Find the chunks that hold any word of TEXT, best first."""
    found = pick(session.workspace.libraries, library, "library").search(" ".join(text), limit)
    pairs = list(zip(found.chunks, found.snippets, strict=True))
    if as_json:
        session.screen.document(
            {
                "schema": "copilot.chunks/1",
                "total": found.total.value,
                "chunks": [
                    {
                        "id": chunk.id,
                        "document": chunk.document,
                        "line": chunk.line,
                        "title": session.masked(chunk.title),
                        "snippet": session.masked(snippet),
                    }
                    for chunk, snippet in pairs
                ],
            }
        )
        return
    if quiet:
        for chunk, _ in pairs:
            session.screen.line(chunk.id)
        return
    session.screen.table(
        ("ID", "LINE", "SNIPPET"),
        [(chunk.id, str(chunk.line), session.masked(snippet)) for chunk, snippet in pairs],
    )
    session.screen.say(f"{len(pairs)} of {counted(found.total.value, 'chunk')}")
    for note in found.coverage.notes:
        session.screen.say(f"note: {note}")


@command.command("show")
@click.argument("id")
@library_option
@pass_session
def show(session: Session, id: str, library: str) -> None:
    """Show the chunk ID, such as `dns/SKILL.md#2`, or a whole document, `dns/SKILL.md`."""
    chunks = pick(session.workspace.libraries, library, "library").chunks(id)
    if not chunks:
        raise NotFoundError(
            f"no such chunk: {safe_text(id, limit=80)!r}; `copilot documents search TEXT` finds "
            "those that there are"
        )
    for chunk in chunks:
        session.screen.line((session.masked(chunk.title), "title"))
        session.screen.line((f"{chunk.document}:{chunk.line}", "dim"))
        session.screen.line()
        session.screen.page(session.masked(chunk.text))
