"""Runbooks: Agent Skills in `<name>/SKILL.md`, ours and those of a workspace, picked by the alert.

`metadata.alertnames` lists patterns of alert names, `metadata.labels` patterns as `name=value`; one
that fits is enough. A label `runbook` or an annotation `runbook_url` names one outright.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from copilot.errors import ConfigError
from copilot.strict_model import Strict, validated
from copilot.strict_yaml import parse

FILE = "SKILL.md"
MOST_BYTES = 64 << 10
EDGE = re.compile(r"---[ \t]*")
LIST = re.compile(r"[,\s]+")


class FrontMatter(Strict):
    """What stands above the text of a runbook."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
    description: Annotated[str, Field(min_length=1, max_length=1024)]
    license: str = ""
    metadata: Mapping[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Runbook:
    """A runbook that is right; `text` is the whole file."""

    name: str
    description: str
    alertnames: tuple[str, ...]
    labels: tuple[str, ...]
    text: str

    def fits(self, labels: Mapping[str, str], annotations: Mapping[str, str]) -> bool:
        """Whether an alert with these labels and annotations is what the runbook is about."""
        named = f"{labels.get('runbook', '')} {annotations.get('runbook_url', '')}".casefold()
        if self.name in re.split(r"[^a-z0-9-]+", named):
            return True
        alertname = labels.get("alertname", "")
        pairs = [f"{name}={value}" for name, value in labels.items()]
        return any(fnmatchcase(alertname, pattern) for pattern in self.alertnames) or any(
            fnmatchcase(pair, pattern) for pattern in self.labels for pair in pairs
        )


def load_runbooks(folder: Path | None = None) -> tuple[Runbook, ...]:
    """The built-in runbooks and those of *folder*, which hide ours of the same name; by name.

    Raises ConfigError with every problem as `file:line: key: what`.
    """
    found: dict[str, Runbook] = {}
    problems = []
    for place in _places(folder):
        try:
            found[place.name] = read_runbook(place)
        except ConfigError as error:
            problems.append(str(error))
    if problems:
        raise ConfigError("\n".join(problems))
    return tuple(found[name] for name in sorted(found))


def fitting(
    runbooks: Sequence[Runbook], labels: Mapping[str, str], annotations: Mapping[str, str]
) -> tuple[Runbook, ...]:
    """Those of the runbooks that fit an alert, in their order."""
    return tuple(one for one in runbooks if one.fits(labels, annotations))


def read_runbook(folder: Traversable) -> Runbook:
    """The runbook in *folder*. Raises ConfigError with file and line."""
    name = str(folder / FILE)
    try:
        text = (folder / FILE).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{name}:1: this is not UTF-8; save the file as UTF-8") from None
    if len(text) > MOST_BYTES:
        raise ConfigError(f"{name}:1: longer than {MOST_BYTES:,} characters; split it")
    lines = text.split("\n")
    ends = (number for number, line in enumerate(lines) if number and EDGE.fullmatch(line))
    end = next(ends, 0) if EDGE.fullmatch(lines[0]) else 0
    if not end:
        raise ConfigError(f"{name}:1: begin with a front matter: `---`, name, description, `---`")
    # An empty first line instead of the `---`, so that problems name the lines of the file.
    document = parse("\n".join(["", *lines[1:end]]), name)
    said = validated(document, FrontMatter)
    if said.name != folder.name:
        what = f"{said.name!r} must be {folder.name!r}, as the folder's name"
        raise ConfigError(document.problem(("name",), what))
    if not "".join(lines[end + 1 :]).strip():
        raise ConfigError(f"{name}:{end + 1}: nothing follows the front matter; say what to do")
    lists = [_items(said.metadata.get(key, "")) for key in ("alertnames", "labels")]
    if wrong := next((item for item in lists[1] if "=" not in item), ""):
        what = f"{wrong!r} must be name=value; both may hold *"
        raise ConfigError(document.problem(("metadata", "labels"), what))
    return Runbook(said.name, said.description, lists[0], lists[1], text)


def _places(folder: Path | None) -> Iterator[Traversable]:
    """The folders with a runbook in them, ours first."""
    for root in (files("policies") / "runbooks", folder):
        if root is not None and root.is_dir():
            inner = sorted(root.iterdir(), key=lambda entry: entry.name)
            yield from (entry for entry in inner if entry.is_dir() and (entry / FILE).is_file())


def _items(text: str) -> tuple[str, ...]:
    return tuple(item for item in LIST.split(text) if item)
