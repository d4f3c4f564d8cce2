"""Policies by name: those of the workspace first, then the built-in ones. Reads one file."""

from importlib.resources import as_file, files
from pathlib import Path

from copilot.errors import ConfigError
from copilot.strict_model import validated
from copilot.strict_yaml import load
from policies.schema import Policy

SUFFIX = ".yaml"


def load_policy(name_or_path: str, extra_dir: Path | None = None) -> Policy:
    """The policy called that, or in that file when it ends in `.yaml`.

    A policy in *extra_dir* hides the built-in one of its name. Raises ConfigError with file, line
    and what is allowed.
    """
    if name_or_path.endswith(SUFFIX):
        return _from_file(Path(name_or_path))
    names = policy_names(extra_dir)
    if name_or_path not in names:
        raise ConfigError(f"policy: there is no {name_or_path!r}. There are: {', '.join(names)}")
    own = extra_dir / f"{name_or_path}{SUFFIX}" if extra_dir else None
    if own and own.is_file():
        return _from_file(own)
    with as_file(files("policies") / f"{name_or_path}{SUFFIX}") as built_in:
        return _from_file(built_in)


def policy_names(extra_dir: Path | None = None) -> tuple[str, ...]:
    """The policies that can be named, sorted."""
    built_in = {entry.name for entry in files("policies").iterdir()}
    own = {path.name for path in extra_dir.iterdir()} if extra_dir and extra_dir.is_dir() else set()
    return tuple(
        sorted(name.removesuffix(SUFFIX) for name in built_in | own if name.endswith(SUFFIX))
    )


def _from_file(path: Path) -> Policy:
    document = load(path)
    policy = validated(document, Policy)
    if policy.name != path.stem:
        raise ConfigError(
            document.problem(
                ("name",), f"{policy.name!r} must be {path.stem!r}, as the file's name"
            )
        )
    return policy
