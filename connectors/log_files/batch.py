"""Several files into a logbook: which ones, under which names, and what became of each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from connectors.log_files.record import Record

CHUNK = 20_000
CHUNK_CHARACTERS = 16 << 20


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did with one file. `lines` are its physical lines; none was dropped.

    `flagged` counts oddities by kind, such as `invalid_utf8`, `nul`, `cut_line`, `no_zone`.
    """

    source: str
    entries: int
    lines: int
    untimed: int
    carried: int
    flagged: Mapping[str, int]
    unchanged: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that was not imported, and why."""

    source: str
    reason: str


def files_of(paths: Sequence[Path]) -> Iterator[Path]:
    """The files of *paths*, those in folders by name; links and hidden files there are left out."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for inner in sorted(path.rglob("*")):
            hidden = any(part.startswith(".") for part in inner.relative_to(path).parts)
            if inner.is_file() and not inner.is_symlink() and not hidden:
                yield inner


def source_name(path: Path, root: Path) -> str:
    """The name of a source. Bytes of a file name that are no UTF-8 read as `?`."""
    absolute, base = path.absolute(), root.absolute()
    name = absolute.relative_to(base).as_posix() if absolute.is_relative_to(base) else path.name
    return name.encode("utf-8", "replace").decode()


def chunks_of(
    records: Iterable[Record], count: int = CHUNK, characters: int = CHUNK_CHARACTERS
) -> Iterator[list[Record]]:
    """The records in lists that are neither too long nor too large to hold."""
    chunk: list[Record] = []
    size = 0
    for record in records:
        chunk.append(record)
        size += len(record.message)
        if len(chunk) >= count or size >= characters:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
