"""A new workspace: settings, runbooks, a place for policies, and the notes repository.

Nothing that is there is ever overwritten: either every file can be made, or none is.
"""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from copilot.errors import UsageError

TEMPLATES = {
    "copilot.yaml": "copilot.yaml",
    ".gitignore": "gitignore",
    ".env.example": "env.example",
    "policies/README.md": "policies.md",
    "runbooks/README.md": "runbooks.md",
}
"""What a workspace begins with, and which of our files it is made of."""


def initialise(folder: Path) -> tuple[Path, ...]:
    """The files that were made in *folder*; the notes are to be created by the caller.

    Raises UsageError when one of them is there already, and then nothing was written.
    """
    wanted = {folder / name: content for name, content in workspace_files().items()}
    there = sorted(path for path in wanted if path.exists() or path.is_symlink())
    if there:
        names = ", ".join(str(path.relative_to(folder)) for path in there[:3])
        raise UsageError(
            f"{folder} has {names} already; nothing was written. Name another folder, or use what "
            f"is there: copilot --config {folder} doctor"
        )
    try:
        for path, content in wanted.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(content)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror}") from None
    return tuple(wanted)


def workspace_files() -> dict[str, str]:
    """Every file of a new workspace by its path, the built-in runbooks among them."""
    templates = files("copilot") / "workspace_files"
    made = {name: (templates / source).read_text("utf-8") for name, source in TEMPLATES.items()}
    return made | {
        f"runbooks/{folder.name}/SKILL.md": (folder / "SKILL.md").read_text("utf-8")
        for folder in runbooks()
    }


def runbooks() -> tuple[Traversable, ...]:
    """The folders of the built-in runbooks, by name."""
    found = (files("policies") / "runbooks").iterdir()
    return tuple(
        sorted((folder for folder in found if folder.is_dir()), key=lambda folder: folder.name)
    )
