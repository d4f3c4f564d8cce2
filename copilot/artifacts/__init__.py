"""Identifiers worth keeping verbatim, found by code so that no summary can lose or round them.

A text is cut into tokens, and each distinct token is judged once, by its shape; a few patterns
need the words around it (`exit code 137`, `6073036 kB`). Knows how names in operations look, not
any one system. Ordinary prose has almost none of them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from copilot.artifacts import shapes
from copilot.artifacts.contexts import in_context

LIMIT_VALUE = 400
"""Characters; a longer token is data, not a name."""
REMEMBERED = 1 << 12
"""Judged tokens that are kept: logs say the same words over and over, and most of them soon."""
TOKEN = re.compile(r"[^\s\"'`<>(){}\[\],;=|\\^]+")
EDGES = ".:!?*&%-/@#+~$"
URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{1,11}://[^\s\"'`<>|\\^{}\[\]]+")


@dataclass(frozen=True, slots=True)
class Artifact:
    """An identifier as it stood in the text, and what it is."""

    kind: str
    """ticket, workflow, job, site, dataset, path, url, host, ip, pod, service, hash, library,
    exception, `exit code`, `error code`, `http status`, signal, quantity, variable or time."""
    value: str


def find_artifacts(text: str) -> list[Artifact]:
    """Every identifier in *text* once, in the order of first appearance."""
    found: dict[Artifact, int] = {}
    for position, artifact in chain(_tokens(text), _urls(text), _in_context(text)):
        if position < found.get(artifact, len(text) + 1):
            found[artifact] = position
    return sorted(found, key=lambda one: found[one])


def _tokens(text: str) -> Iterator[tuple[int, Artifact]]:
    """The tokens that are names by themselves, with the position where each is first seen."""
    first: dict[str, int] = {}
    for match in TOKEN.finditer(text):
        token = match.group()
        if len(token) <= LIMIT_VALUE and token not in first:
            first[token] = match.start()
    for token, position in first.items():
        for artifact in _judged(token):
            yield position, artifact


def _urls(text: str) -> Iterator[tuple[int, Artifact]]:
    for match in URL.finditer(text) if "://" in text else ():
        address = match.group().rstrip(EDGES + ")")
        if len(address) <= LIMIT_VALUE:
            yield match.start(), Artifact("url", address)
            server = address.partition("://")[2].partition("/")[0].rpartition("@")[2]
            if kind := shapes.place(server):
                yield match.start(), Artifact(kind, server)


def _in_context(text: str) -> Iterator[tuple[int, Artifact]]:
    for position, kind, value in in_context(text):
        yield position, Artifact(kind, value)


@lru_cache(maxsize=REMEMBERED)
def _judged(token: str) -> tuple[Artifact, ...]:
    """What *token* is, and what stands in it; mostly nothing."""
    if token.islower() and token.isalpha():
        return ()
    name = token.strip(EDGES) if token[0] not in "/~." else token.rstrip(EDGES)
    if not 3 <= len(name) <= LIMIT_VALUE or "://" in token:
        return ()
    kind = shapes.kind(name)
    if kind == "path":
        return (Artifact(kind, name), *(Artifact(*found) for found in shapes.inside(name)))
    if kind:
        return (Artifact(kind, name),)
    sign = next((sign for sign in "/@:" if sign in name), "")  # a port stays with its host
    parts = name.split(sign) if sign else []
    return tuple(chain.from_iterable(_judged(part) for part in parts if part))
