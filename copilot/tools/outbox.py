"""The tool that proposes a comment for a ticket. It writes to the outbox and nowhere else.

Nothing that a model can call approves a draft: that is a command that a person types.
"""

from pydantic import Field

from copilot.errors import UsageError
from copilot.outbox import comment_text
from copilot.tools.arguments import Arguments
from copilot.tools.base import Case, Outcome, Tool, pick

SHOWN = 600


class ProposeTicketComment(Arguments):
    """Arguments of `propose_ticket_comment`."""

    key: str = Field(min_length=2, max_length=100)
    text: str = Field(min_length=1, max_length=6000)
    tracker: str = ""


def _propose(arguments: ProposeTicketComment, case: Case) -> Outcome:
    if case.outbox is None or not case.outbox.places:
        raise UsageError("no tracker may be written to here; put it into the report")
    names = {name: name for name in case.outbox.places}
    tracker: str = pick(names, arguments.tracker, "tracker")
    draft = case.outbox.propose(case.incident, tracker, arguments.key, arguments.text)
    preview = comment_text(draft)
    return Outcome(
        scope={"tracker": tracker, "key": draft.key},
        facts={"outbox": draft.id, "status": draft.status, "preview": preview[:SHOWN]},
        hint="nothing is on the ticket unless a person approves; go on, do not wait for it",
        stored=False,
    )


TOOLS = (
    Tool(
        "propose_ticket_comment",
        "Draft a comment for a ticket; a person decides whether it is posted.",
        ProposeTicketComment,
        _propose,
        repeatable=False,
        shows=False,
    ),
)
