"""The documents below a folder, and why each other file was left out. No link is ever followed."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from copilot.errors import ImportRefusedError

LARGEST_FILE = 4 * 1024 * 1024
MARKDOWN = {".md", ".markdown"}
PLAIN = {".txt"}


@dataclass(frozen=True, slots=True)
class Document:
    """A readable file: its path below the folder, and its text with Unix line ends."""

    path: str
    is_markdown: bool
    text: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was left out, or not read as it is, and why."""

    path: str
    why: str


def documents_below(folder: Path) -> Iterator[Document | Skipped]:
    """Every document below *folder*, by path, and what was skipped. Hidden files are not looked at.

    Raises ImportRefusedError when *folder* cannot be read.
    """
    if not folder.is_dir():
        raise ImportRefusedError(f"cannot import documents: {folder} is not a folder")
    paths, unreadable = _walk(folder)
    if unreadable and unreadable[0][0] == folder:
        raise ImportRefusedError(f"cannot read the folder {folder}: {unreadable[0][1]}")
    for path in sorted(paths):
        yield _document(path, _name(path, folder))
    for path, why in unreadable:
        yield Skipped(_name(path, folder), why)


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix().encode("utf-8", "replace").decode()


def _walk(folder: Path) -> tuple[list[Path], list[tuple[Path, str]]]:
    """Every file below the folder, and the folders that could not be read."""
    files: list[Path] = []
    unreadable: list[tuple[Path, str]] = []
    pending = [folder]
    while pending:
        current = pending.pop()
        try:
            with os.scandir(current) as entries:
                for entry in entries:
                    if not entry.name.startswith("."):
                        found = pending if entry.is_dir(follow_symlinks=False) else files
                        found.append(Path(entry.path))
        except OSError as error:
            unreadable.append((current, error.strerror or "cannot be read"))
    return files, unreadable


def _document(path: Path, name: str) -> Document | Skipped:
    suffix = path.suffix.lower()
    if path.is_symlink():
        return Skipped(name, "a link, which is never followed")
    if suffix not in MARKDOWN | PLAIN:
        return Skipped(name, "not Markdown or text (.md, .markdown, .txt)")
    data = _bytes(path)
    if isinstance(data, str):
        return Skipped(name, data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # what old pages are written in; it cannot fail
    return Document(name, suffix in MARKDOWN, text.replace("\r\n", "\n"))


def _bytes(path: Path) -> bytes | str:
    """What the file holds, or why it is not read."""
    try:
        # What is checked is what was opened: between a check and an opening, a path can change.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return "not a plain file"
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        return error.strerror or "cannot be read"
    if len(data) > LARGEST_FILE:
        return f"over {LARGEST_FILE >> 20} MiB"
    return "binary" if b"\0" in data else data
