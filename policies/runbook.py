"""Runbooks: Agent Skills in `<name>/SKILL.md`, picked by the alert.

The folder of a workspace holds all of its runbooks; where there is no such folder, ours hold.
`metadata.alertnames` lists patterns of alert names, `metadata.labels` patterns as `name=value`; one
that fits is enough. A label `runbook` or an annotation `runbook_url` names one outright.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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
WILD = re.compile(r"\[[^]]*\]|[*?]")
NAME = "alertname="
NOT_OF_NAMES = re.compile(r"[^a-z0-9-]+")


class FrontMatter(Strict):
    """What stands above the text of a runbook: all keys of the Agent Skills standard, no other."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
    description: Annotated[str, Field(min_length=1, max_length=1024)]
    license: str = ""
    compatibility: Annotated[str, Field(max_length=500)] = ""
    allowed_tools: Annotated[str, Field(alias="allowed-tools")] = ""
    """Read and left alone: what an investigator may call is the workspace's decision."""
    metadata: Mapping[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Runbook:
    """A runbook that is right; `text` is the whole file."""

    name: str
    description: str
    alertnames: tuple[str, ...]
    labels: tuple[str, ...]
    text: str
    folder: Traversable = field(compare=False, repr=False)

    @property
    def path(self) -> str:
        """Where it lies in the folder of runbooks; also its id for `read_document`."""
        return f"{self.name}/{FILE}"

    def fit(self, labels: Mapping[str, str], annotations: Mapping[str, str]) -> "Fit":
        """What in an alert with these labels and annotations it fits."""
        said = (("runbook", labels), ("runbook_url", annotations))
        named = tuple(
            f"{key} names it"
            for key, texts in said
            if self.name in NOT_OF_NAMES.split(texts.get(key, "").lower())
        )
        by_name = _best(
            (f"{NAME}{labels.get('alertname', '')}",), map(NAME.__add__, self.alertnames)
        )
        pairs = sorted({pair for name, value in labels.items() for pair in _pairs(name, value)})
        return Fit(named, by_name, _best(pairs, self.labels))


@dataclass(frozen=True, slots=True)
class Fit:
    """What of an alert a runbook fits, and how well."""

    named: tuple[str, ...]
    """How the alert names it outright."""
    by_name: tuple[str, ...]
    """The pattern that the alert's name fits, the one that says most."""
    by_label: tuple[str, ...]
    """The same for each of the other labels that fit."""

    @property
    def why(self) -> tuple[str, ...]:
        """All of it; empty where nothing fits."""
        return (*self.named, *self.by_name, *self.by_label)

    @property
    def rank(self) -> tuple[int, ...]:
        """Less for a better fit: named outright, more labels, labels before the name, more said.

        The name is shared by many alerts, so that what another label says is closer to this one.
        """
        found = (*self.by_name, *self.by_label)
        letters = sum(map(_letters, found))
        return -bool(self.named), -len(found), -len(self.by_label), -letters


@dataclass(frozen=True, slots=True)
class Shelf:
    """The runbooks of a workspace by name, and what is wrong with those that were left out."""

    runbooks: tuple[Runbook, ...]
    problems: tuple[str, ...] = ()
    """Each as `file:line: key: what`."""

    def check(self) -> None:
        """Raise ConfigError with every problem, when there is one."""
        if self.problems:
            raise ConfigError("\n".join(self.problems))

    def fitting(
        self, labels: Mapping[str, str], annotations: Mapping[str, str]
    ) -> tuple[Runbook, ...]:
        """Those that fit an alert, the best fit first; of equal ones by name."""
        fits = [(one.fit(labels, annotations), one) for one in self.runbooks]
        fits.sort(key=lambda pair: (*pair[0].rank, pair[1].name))
        return tuple(one for fit, one in fits if fit.why)


def read_shelf(folder: Path) -> Shelf:
    """The runbooks in *folder*, else ours; whatever is wrong is left out and told."""
    found: list[Runbook] = []
    problems: list[str] = []
    try:
        for place in _places(folder if folder.is_dir() else files("policies") / "runbooks"):
            try:
                found.append(read_runbook(place))
            except ConfigError as error:
                problems += str(error).splitlines()
    except OSError as error:
        problems.append(f"{error.filename}: cannot be read ({error.strerror})")
    return Shelf(tuple(found), tuple(problems))


def read_runbook(folder: Traversable) -> Runbook:
    """The runbook in *folder*. Raises ConfigError with file and line."""
    name = str(folder / FILE)
    try:
        with (folder / FILE).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ConfigError(f"{name}:1: longer than {MOST_BYTES:,} bytes; split it")
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{name}:1: this is not UTF-8; save the file as UTF-8") from None
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
    alertnames, labels = (_items(said.metadata.get(key, "")) for key in ("alertnames", "labels"))
    if wrong := next((item for item in labels if "=" not in item), ""):
        what = f"{wrong!r} must be name=value; both may hold *"
        raise ConfigError(document.problem(("metadata", "labels"), what))
    return Runbook(said.name, said.description, alertnames, labels, text, folder)


def _places(root: Traversable) -> Iterator[Traversable]:
    """The folders with a runbook in them, by name."""
    inner = sorted(root.iterdir(), key=lambda entry: entry.name)
    yield from (entry for entry in inner if entry.is_dir() and (entry / FILE).is_file())


def _pairs(name: str, value: str) -> Iterator[str]:
    """A label as patterns meet it; the labels of a ticket, one label of ours, also one by one."""
    yield f"{name}={value}"
    if name == "labels":
        yield from (f"{name}={word}" for word in value.split())


def _best(pairs: Iterable[str], patterns: Iterable[str]) -> tuple[str, ...]:
    """Of each pair that a pattern fits, the pattern that says most; none twice."""
    by_letters = sorted(patterns, key=_letters, reverse=True)
    found = (next((one for one in by_letters if fnmatchcase(pair, one)), "") for pair in pairs)
    return tuple(dict.fromkeys(filter(None, found)))


def _letters(pattern: str) -> int:
    """How much a pattern says: an exact one more than one with a `*` in it."""
    return len(WILD.sub("", pattern))


def _items(text: str) -> tuple[str, ...]:
    return tuple(item for item in LIST.split(text) if item)
