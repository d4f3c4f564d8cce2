"""Settings from copilot.yaml, the environment and options. The only reader of the environment.

The first file found is taken whole, files are never merged: --config, $COPILOT_CONFIG,
./copilot.yaml, $XDG_CONFIG_HOME/copilot/copilot.yaml, /etc/copilot/copilot.yaml. Single values can
be set by COPILOT_SECTION__KEY and, above that, by options.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from copilot.errors import ConfigError
from copilot.settings import Settings, SettingsFile, settings_for
from copilot.strict_model import did_you_mean, validated
from copilot.strict_yaml import Document, Place, load, scalar
from copilot.values import Json, JsonObject

FILE = "copilot.yaml"
PREFIX = "COPILOT_"
SYSTEM_FOLDER = Path("/etc/copilot")
RESERVED = frozenset({"COPILOT_CONFIG"})


def load_settings(
    explicit: Path | None,
    environ: Mapping[str, str],
    cwd: Path,
    options: Mapping[str, Json] | None = None,
) -> Settings:
    """The settings that hold in *cwd*.

    *explicit* is the file or folder of --config; *options* are values of the command line by
    dotted key, as in `model.name`. Raises ConfigError with one line a problem.
    """
    file = find_file(explicit, environ, cwd)
    document = _document(file, environ, cwd, options or {})
    workspace = file.parent if file else cwd
    return settings_for(validated(document, SettingsFile), workspace.absolute(), file)


def origins(explicit: Path | None, environ: Mapping[str, str], cwd: Path) -> Callable[[str], str]:
    """What says a setting, asked by its dotted key: `file:line`, `$VARIABLE`, or `default`."""
    document = _document(find_file(explicit, environ, cwd), environ, cwd, {})

    def origin(key: str) -> str:
        place: Place = tuple(key.split("."))
        if place in document.origins:
            return document.origins[place]
        line = document.lines.get(place)
        return f"{document.name}:{line}" if line else "default"

    return origin


def find_file(explicit: Path | None, environ: Mapping[str, str], cwd: Path) -> Path | None:
    """The first settings file there is. Raises ConfigError when a named one is not there."""
    named = explicit or (Path(environ["COPILOT_CONFIG"]) if environ.get("COPILOT_CONFIG") else None)
    if named:
        path = cwd / named
        path = path / FILE if path.is_dir() else path
        if not path.is_file():
            by = "--config" if explicit else "$COPILOT_CONFIG"
            raise ConfigError(f"{path}: there is no such file ({by}); `copilot init` makes one")
        return path
    home = Path(environ.get("HOME") or "/nonexistent") / ".config"
    xdg = Path(environ.get("XDG_CONFIG_HOME") or home) / "copilot"
    return next(
        (folder / FILE for folder in (cwd, xdg, SYSTEM_FOLDER) if (folder / FILE).is_file()), None
    )


def editor_schema() -> JsonObject:
    """A JSON schema of copilot.yaml, by which editors complete and check it."""
    schema: JsonObject = SettingsFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": FILE}


def _document(
    file: Path | None, environ: Mapping[str, str], cwd: Path, options: Mapping[str, Json]
) -> Document:
    """What the file says, with variables and options over it. Raises ConfigError."""
    document = load(file, _shown(file, cwd)) if file else Document("defaults", {}, {(): 0})
    if not isinstance(document.data, dict):
        raise ConfigError(document.problem((), "must be keys with values, as in `policy: default`"))
    return _overridden(document, dict(document.data), _said(environ, options))


def _shown(file: Path, cwd: Path) -> str:
    return str(file.relative_to(cwd) if file.is_relative_to(cwd) else file)


def _said(
    environ: Mapping[str, str], options: Mapping[str, Json]
) -> Iterator[tuple[Place, Json, str]]:
    """What the environment and the command line set: place, value, and who said so."""
    for name in sorted(environ):
        place = tuple(name.removeprefix(PREFIX).lower().split("__"))
        ours = name.startswith(PREFIX) and name not in RESERVED
        # Other products use COPILOT_ too; only a word of ours or two underscores make it ours.
        if ours and (len(place) > 1 or place[0] in SettingsFile.model_fields):
            yield place, scalar(environ[name]), f"${name}"
    for key, value in options.items():
        yield tuple(key.split(".")), value, "on the command line"


def _overridden(
    document: Document, data: JsonObject, said: Iterator[tuple[Place, Json, str]]
) -> Document:
    lines, origins = dict(document.lines), dict(document.origins)
    for place, value, origin in said:
        if str(place[0]) not in SettingsFile.model_fields:
            raise ConfigError(
                f"{origin}: no section {place[0]!r}. "
                f"{did_you_mean(str(place[0]), SettingsFile.model_fields)}"
            )
        inner = data
        for part in place[:-1]:
            below = inner.get(str(part))
            inner[str(part)] = inner = dict(below) if isinstance(below, dict) else {}
        inner[str(place[-1])] = value
        for depth in range(1, len(place) + 1):
            lines.setdefault(place[:depth], 0)
        origins[place] = origin
    return replace(document, data=data, lines=lines, origins=origins)
