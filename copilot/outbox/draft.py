"""A comment that waits for a person, and the words that it has on the ticket. Pure."""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Literal

from pydantic import TypeAdapter

from copilot.values import canonical, digest

Status = Literal["draft", "approved", "posted", "rejected", "failed"]
Done = Literal["made", "edited", "unchanged"]

ID = re.compile(r"[0-9a-f]{12}", re.ASCII)
KEY = re.compile(r"[A-Z][A-Z0-9_]{0,99}-[0-9]{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Draft:
    """One proposed comment. `approved` means that it may be on the ticket already.

    So an approval that was killed is asked for again, which looks for the comment first.
    """

    id: str
    incident: str
    tracker: str
    key: str
    text: str
    """As the model wrote it, redacted."""
    status: Status
    proposed: datetime
    decided: datetime | None = None
    by: str = ""
    """Who approved or rejected it."""
    posted: datetime | None = None
    comment: str = ""
    """The comment's id on the ticket."""
    why: str = ""
    """Why it failed, or what the person who rejected it said."""

    @property
    def project(self) -> str:
        """The key of the ticket's project."""
        return self.key.rpartition("-")[0]


@dataclass(frozen=True, slots=True)
class Posted:
    """The comment's id, and what was done to it."""

    comment: str
    done: Done


def draft_id(incident: str, tracker: str, key: str, text: str) -> str:
    """The same id for the same proposal, so that one made twice after a kill is one draft."""
    return digest(canonical([incident, tracker, key, text]))[:12]


def comment_text(draft: Draft) -> str:
    """What the comment says: whose words they are comes first, whatever the words are."""
    return (
        f"Written by the operations copilot, a program with a language model, on incident "
        f"{draft.incident}. A person let it be posted; its claims are the copilot's.\n\n"
        f"{draft.text.strip()}"
    )


def mark_of(incident: str) -> str:
    """The comment's last line: it tells the one comment of that incident on a ticket."""
    return f"operations copilot, incident {incident}"


def written(draft: Draft) -> bytes:
    """The draft as its file holds it."""
    return _form().dump_json(draft, indent=1) + b"\n"


def read(content: bytes) -> Draft:
    """The draft in a file. Raises ValueError for what none of ours has written."""
    draft = _form().validate_json(content, strict=True)
    if not ID.fullmatch(draft.id) or not KEY.fullmatch(draft.key):
        raise ValueError("its id or its ticket is none")
    return draft


@cache
def _form() -> TypeAdapter[Draft]:
    return TypeAdapter(Draft)
