"""Is this folder fit to hold notes? Says in words what is wrong and what to do about it."""

import os
from pathlib import Path

from copilot.errors import NotesError

ALLOWED = frozenset({"README.md", ".gitkeep"})
"""What a workspace may have in its notes folder before they begin."""


def check_empty(root: Path) -> None:
    """Raise NotesError when a new repository cannot be made at *root*."""
    try:
        found = sorted({path.name for path in root.iterdir()} - ALLOWED)
    except FileNotFoundError:
        return
    except OSError as error:
        raise NotesError(f"cannot use {root} for the notes: {error.strerror}") from None
    if {"HEAD", "objects", "refs"} <= set(found):
        raise NotesError(
            f"{root} is a bare repository; notes need a work tree, name another folder"
        )
    if found:
        raise NotesError(
            f"{root} is not empty ({found[0]}, …) and is no git repository; "
            "name an empty folder for the notes"
        )


def check_usable(root: Path) -> None:
    """Raise NotesError when *root* is not a repository that we may write."""
    git_folder = root / ".git"
    try:
        owner = git_folder.lstat().st_uid
    except FileNotFoundError:
        check_empty(root)
        raise NotesError(f"there are no notes in {root} yet; run `copilot init` first") from None
    except OSError as error:
        raise NotesError(f"cannot use {root} for the notes: {error.strerror}") from None
    if not git_folder.is_dir() or git_folder.is_symlink():
        raise NotesError(
            f"{root} is a submodule or a linked work tree; notes need a repository of their own"
        )
    if owner != os.geteuid():
        raise NotesError(
            f"the notes in {root} belong to user {owner}, we run as user {os.geteuid()}; "
            f"run as that user, or `chown -R {os.geteuid()} {root}`"
        )
