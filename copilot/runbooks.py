"""The runbooks at work: which of them an alert gets, and all of them as a library to search."""

import re
from collections.abc import Callable, Mapping

from connectors.document_folder import Document
from connectors.given_library import GivenLibrary
from copilot.notes.repository import NotesRepository
from copilot.settings import RUNBOOKS
from copilot.values import Alert
from policies.runbook import Shelf

MOST_ANNOUNCED = 3
"""Runbooks that a first message names; a search finds the others."""
ALERT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{2,79}")


def announced(
    shelf: Shelf, alert: Alert, redact: Callable[[str], str]
) -> tuple[tuple[str, str], ...]:
    """The path and the description of each runbook that the first message names for *alert*."""
    fitting = shelf.fitting(alert_labels(alert), alert.annotations)
    return tuple((one.path, redact(one.description)) for one in fitting[:MOST_ANNOUNCED])


def alert_labels(alert: Alert) -> Mapping[str, str]:
    """The labels by which runbooks are picked. A title such as `Name: what is wrong` names it."""
    name, colon, _ = alert.title.partition(":")
    is_name = colon and ALERT_NAME.fullmatch(name)
    return {**({"alertname": name} if is_name else {}), **alert.labels}


def carried(notes: NotesRepository) -> frozenset[str]:
    """The names of the labels that the alerts of this workspace's incidents had."""
    return frozenset(name for front in notes.incidents().incidents for name in front.labels)


def library_of(shelf: Shelf) -> GivenLibrary:
    """The runbooks as a library: tools over documents find them, and their lines can be cited."""
    documents = [Document(one.path, is_markdown=True, text=one.text) for one in shelf.runbooks]
    return GivenLibrary(RUNBOOKS, documents)
