"""The kinds of value in copilot.yaml: names, lengths of time, paths, addresses, patterns."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema

from copilot import safe_regex
from copilot.addresses import checked_proxy, checked_url
from copilot.errors import PatternError, UsageError
from copilot.window import parse_duration


def _below(path: Path) -> Path:
    """The path as it is; a relative one must not leave the workspace."""
    if not path.is_absolute() and (".." in path.parts or path.parts[:1] == ("~",)):
        raise ValueError(
            f"{str(path)!r} leaves the workspace; write a path below it, or an absolute one"
        )
    return path


def _length(given: object) -> object:
    if not isinstance(given, str):
        return given
    try:
        return parse_duration(given)
    except UsageError as error:
        raise ValueError(str(error)) from None


def _pattern(text: str) -> str:
    try:
        safe_regex.compile(text)
    except PatternError as error:
        raise ValueError(str(error)) from None
    return text


Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
WorkspacePath = Annotated[Path, AfterValidator(_below)]
Length = Annotated[
    timedelta,
    BeforeValidator(_length),
    PlainSerializer(lambda length: f"{int(length.total_seconds())}s", return_type=str),
    WithJsonSchema({"type": "string", "examples": ["90s", "15m", "2h30m", "30d"]}),
]
Url = Annotated[str, AfterValidator(checked_url)]
ProxyUrl = Annotated[str, AfterValidator(checked_proxy)]
Pattern = Annotated[str, AfterValidator(_pattern)]
PolicyName = Annotated[str, Field(pattern=r"^([a-z][a-z0-9-]{0,39}|.+\.yaml)$")]
