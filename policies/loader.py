"""Policies by name: those of the workspace first, then the built-in ones. Reads their files."""

from importlib.resources import as_file, files
from pathlib import Path

from copilot.errors import ConfigError
from copilot.strict_model import validated
from copilot.strict_yaml import Document, load
from copilot.values import Json, text_at
from policies.schema import Policy

SUFFIX = ".yaml"


def load_policy(name_or_path: str, extra_dir: Path | None = None) -> Policy:
    """The policy called that, or in that file when it ends in `.yaml`.

    A policy in *extra_dir* hides the built-in one of its name. Raises ConfigError with file, line
    and what is allowed.
    """
    document = _document(name_or_path, extra_dir)
    policy = validated(_whole(document, extra_dir), Policy)
    stem = Path(name_or_path).name.removesuffix(SUFFIX)
    if policy.name != stem:
        raise ConfigError(
            document.problem(("name",), f"{policy.name!r} must be {stem!r}, as the file's name")
        )
    return policy


def policy_names(extra_dir: Path | None = None) -> tuple[str, ...]:
    """The policies that can be named, sorted."""
    built_in = {entry.name for entry in files("policies").iterdir()}
    own = {path.name for path in extra_dir.iterdir()} if extra_dir and extra_dir.is_dir() else set()
    return tuple(
        sorted(name.removesuffix(SUFFIX) for name in built_in | own if name.endswith(SUFFIX))
    )


def _document(name_or_path: str, extra_dir: Path | None) -> Document:
    if name_or_path.endswith(SUFFIX):
        return load(Path(name_or_path))
    names = policy_names(extra_dir)
    if name_or_path not in names:
        raise ConfigError(f"policy: there is no {name_or_path!r}. There are: {', '.join(names)}")
    own = extra_dir / f"{name_or_path}{SUFFIX}" if extra_dir else None
    return load(own) if own and own.is_file() else _built_in(name_or_path)


def _built_in(name: str) -> Document:
    with as_file(files("policies") / f"{name}{SUFFIX}") as path:
        return load(path)


def _whole(document: Document, extra_dir: Path | None) -> Document:
    """The document with what it does not say taken from the policy that it is like, and so on."""
    whole = document
    read = {document.name}
    while like := text_at(document.data, "like"):
        base = _base(document, like, extra_dir, read)
        read.add(base.name)
        whole, document = _merged(whole, base), base
    return whole


def _base(document: Document, like: str, extra_dir: Path | None, read: set[str]) -> Document:
    """The document called *like*, never one of those *read*: it could not come to an end."""
    names = policy_names(extra_dir)
    if like not in names:
        raise ConfigError(
            document.problem(("like",), f"no policy {like!r}. There are: {', '.join(names)}")
        )
    found = _document(like, extra_dir)
    if found.name in read and like in policy_names():
        found = _built_in(like)  # a policy of the workspace may be like the one that it hides
    if found.name in read:
        raise ConfigError(document.problem(("like",), f"{like!r} leads back to itself"))
    return found


def _merged(own: Document, base: Document) -> Document:
    """*own* over *base*, block by block; each value still knows the file and line it is from."""
    foreign = {place: f"{base.name}:{line}" for place, line in base.lines.items()}
    return Document(
        own.name,
        _over(own.data, base.data),
        {**base.lines, **own.lines},
        {place: origin for place, origin in foreign.items() if place not in own.lines}
        | dict(own.origins),
    )


def _over(own: Json, base: Json) -> Json:
    """The value *own*, and in blocks also what only *base* says."""
    if not (isinstance(own, dict) and isinstance(base, dict)):
        return own
    return base | {
        key: _over(value, base[key]) if key in base else value for key, value in own.items()
    }
