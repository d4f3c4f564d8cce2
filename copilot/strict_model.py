"""A strict document as a pydantic value, or every problem in it with file, line and way out."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from copilot.errors import ConfigError
from copilot.strict_yaml import Document, Place

WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "a text (put it in quotes)",
    "path_type": "a path",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a block of keys",
    "model_type": "a block of keys",
    "none_required": "empty",
}
SHOWN_CHARACTERS = 60


class Strict(BaseModel):
    """What every part of a settings or policy file is: nothing unknown, converted or changed."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, use_attribute_docstrings=True
    )


M = TypeVar("M", bound=BaseModel)


def validated(document: Document, model: type[M]) -> M:
    """The document as a *model*. Raises ConfigError with one line a problem."""
    try:
        # By way of JSON: there, and only there, strict pydantic takes a list for a tuple.
        return model.model_validate_json(json.dumps(document.data))
    except ValidationError as error:
        raise ConfigError("\n".join(problems(error, document, model))) from None


def problems(error: ValidationError, document: Document, model: type[BaseModel]) -> list[str]:
    """Each thing that is wrong as `file:line: dotted.key: what, and what is allowed`, by line."""
    details = error.errors(include_url=False)
    found = []
    for place, group in groupby(details, key=lambda detail: _place(detail, document)):
        what = _what(list(group), place, model)
        found.append((document.lines.get(place, 0), document.problem(place, what)))
    return [text for _, text in sorted(found, key=lambda item: item[0])]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`Did you mean x?` where something is close to *word*, then what there is."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    hint = f"Did you mean {close[0]}? " if close else ""
    return f"{hint}Allowed: {', '.join(names)}"


def _place(detail: ErrorDetails, document: Document) -> Place:
    """Where in the file the problem is: pydantic's own words for unions and keys are left out."""
    place: Place = ()
    for part in detail["loc"]:
        if (*place, part) in document.lines:
            place = (*place, part)
    if detail["type"] == "union_tag_invalid":
        return (*place, detail["ctx"]["discriminator"].rstrip("()"))
    return (*place, detail["loc"][-1]) if detail["type"] == "missing" else place


def _what(details: list[ErrorDetails], place: Place, model: type[BaseModel]) -> str:
    """What is wrong at one place. Several details are the branches of a union: any would do."""
    first = details[0]
    kind, given = first["type"], first.get("ctx", {}).get("tag", first["input"])
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        return f"unknown key. {did_you_mean(str(place[-1]), _keys(model, place[:-1]))}"
    if kind == "literal_error" and first["loc"][-1] == "[key]":
        return f"unknown name. {did_you_mean(str(given), _literals(first))}"
    wanted = [_wanted(detail) for detail in details]
    if all(wanted):
        return f"{_shown(given)} is not {' or '.join(dict.fromkeys(wanted))}"
    if kind == "value_error":
        return str(first["ctx"]["error"])
    return f"{first['msg'].removeprefix('Input ').removeprefix('String ')}, not {_shown(given)}"


def _wanted(detail: ErrorDetails) -> str:
    """What belongs there, in words; empty when the kind of value was right."""
    if detail["type"] in {"literal_error", "union_tag_invalid"}:
        return " or ".join(_literals(detail))
    return WANTED.get(detail["type"], "")


def _literals(detail: ErrorDetails) -> list[str]:
    ctx = detail["ctx"]
    return re.findall(r"'([^']*)'", ctx.get("expected") or ctx["expected_tags"])


def _shown(given: object) -> str:
    """The value as it was written, short; blocks and lists only by their kind."""
    match given:
        case None:
            return "nothing"
        case dict():
            return "a block of keys"
        case list():
            return "a list"
        case str():
            cut = f"{given[:SHOWN_CHARACTERS]}…" if len(given) > SHOWN_CHARACTERS else given
            return repr(cut)
        case _:
            return json.dumps(given)


def _keys(model: type[BaseModel], place: Place) -> Iterable[str]:
    """The keys that *model* allows at *place*."""
    annotations: list[Any] = [model]
    for part in place:
        annotations = [inner for known in annotations for inner in _inside(known, part)]
    return {key for known in annotations for found in _models(known) for key in found.model_fields}


def _inside(annotation: Any, part: str | int) -> Iterator[Any]:
    """The annotations of what is under *part* in a value of *annotation*."""
    for found in _models(annotation):
        if part in found.model_fields:
            yield found.model_fields[str(part)].annotation
    for option in (annotation, *get_args(annotation)):
        if get_origin(option) in {dict, Mapping}:
            yield get_args(option)[1]
        elif get_origin(option) is tuple and isinstance(part, int):
            yield get_args(option)[0]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    for option in (annotation, *get_args(annotation)):
        if isinstance(option, type) and issubclass(option, BaseModel):
            yield option
        elif option is not annotation and get_origin(option) in {Annotated, Union, UnionType}:
            yield from _models(option)
