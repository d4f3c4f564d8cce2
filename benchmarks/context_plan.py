"""What the scripted investigator wants to do, turn by turn, and what it must read at last.

The plan is of the world only: it knows of no policy, no lever and no handle. Of the 25 artifacts 4
are in the alert, 8 are cited in findings (the four exact values among them), 4 are written into
notes, and 9 were the argument of a call.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.context_world import (
    ALERT_TICKET,
    DATASET,
    ENTRIES,
    NEEDED,
    RULED_OUT,
    SITE,
    TICKET_WITH_RULE,
    TOPICS,
    WORKFLOW,
    Exact,
    entry_time,
    host,
    ticket_key,
)
from copilot.window import iso

Call = tuple[str, dict[str, Any]]
FIRST_HITS = (1324, 2210)
"""Entries that are the first hits of a search, and cited."""
OPEN = ("/store/group/ops/dropbox/rules.json", "60321")
NOTES = {
    "ruled_out": (
        f"The downtime of {RULED_OUT[0]} announced in {RULED_OUT[1]} is not the cause: it ended "
        "before the first failure."
    ),
    "open_questions": (
        f"Does {OPEN[0]} still carry the old rule, and is that why the wrapper ends with exit code "
        f"{OPEN[1]}?"
    ),
}
ARGUED_TICKETS = tuple(f"OPS-{number}" for number in (4122, 4131, 4144, 4127, 4138))
ARGUED_HOSTS = (host(11), host(23), host(35))
SAYS = (
    "The counts do not separate the two causes; I read the lines themselves, oldest first.",
    "That fits the ticket, but one line is no proof. I check the same words elsewhere.",
    "Nothing here contradicts the first idea. I follow the next link of the chain.",
    "Loud, and probably a consequence. I look for what stopped around the same time.",
    "The times agree within a minute; I want the exact identifier before I go on.",
    "Two hosts show it and one does not. A document or a ticket should say why.",
    "The rate is flat before and after: noise. I go to the next candidate.",
    "",
    "",
    "",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One turn: what is said, what is called, and which exact value it meets or needs."""

    says: str
    calls: tuple[Call, ...]
    meets: Exact | None = None
    needs: Exact | None = None
    cites: int = 0
    """The entry that stands first in the answer and is recorded as a finding."""


def artifacts() -> list[str]:
    """The 25 that must be read by the model when it writes its report."""
    alert = [WORKFLOW, SITE, DATASET, ALERT_TICKET]
    cited = [item.value for item in NEEDED]
    for number in FIRST_HITS:
        cited += [host(number), job(number)]
    argued = [TICKET_WITH_RULE, *ARGUED_TICKETS, *ARGUED_HOSTS]
    return [*alert, *cited, *RULED_OUT, *OPEN, *argued]


def job(number: int) -> str:
    """The job id in that entry."""
    return str(81000000 + number * 37)


def plan(turns: int) -> list[Step]:
    """The steps before the report: 39 that tell the story, and more of the same up to *turns*."""
    story = list(_story())
    more = [_more(number) for number in range(len(story), turns - 1)]
    return [*story, *more]


def _story() -> Iterator[Step]:
    tell = _tellers()
    whole = {"since": iso(entry_time(0)), "until": iso(entry_time(ENTRIES))}
    late = {"since": iso(entry_time(ENTRIES // 2)), "until": iso(entry_time(ENTRIES))}
    early = {"baseline_since": iso(entry_time(0)), "baseline_until": iso(entry_time(ENTRIES // 2))}
    yield Step(next(tell), (("logbook_overview", whole),))
    yield Step(next(tell), (("logbook_patterns", late | early),))
    yield Step(next(tell), (_search(TOPICS[0], 0),), meets=NEEDED[0])
    yield Step(next(tell), (("search_tickets", {"text": "checksum mismatch"}),))
    yield Step(next(tell), (_ticket(ARGUED_TICKETS[0]),))
    yield Step(
        next(tell), (_search(TOPICS[FIRST_HITS[0] % 22], FIRST_HITS[0]),), cites=FIRST_HITS[0]
    )
    yield Step(next(tell), (_search(ARGUED_HOSTS[0], 0),))
    yield Step(next(tell), (_search(TOPICS[6], 440),))
    yield Step(next(tell), (_ticket(TICKET_WITH_RULE),), meets=NEEDED[1])
    yield Step(next(tell), (_search(TOPICS[8], 880), _note("ruled_out")))
    yield Step(next(tell), (("search_documents", {"text": "buffer limit transfer"}),))
    yield Step(next(tell), (_document("runbook-2.md#21"),), meets=NEEDED[2])
    yield Step(next(tell), (_search(TOPICS[9], 1320),))
    yield Step(next(tell), (_search(f'"{NEEDED[0].value}"', 0),), needs=NEEDED[0])
    yield Step(next(tell), (_ticket(ARGUED_TICKETS[1]),))
    yield Step(
        next(tell), (_search(TOPICS[FIRST_HITS[1] % 22], FIRST_HITS[1]),), cites=FIRST_HITS[1]
    )
    yield Step(next(tell), (_ticket(ARGUED_TICKETS[2]),))
    yield Step(next(tell), (_search(ARGUED_HOSTS[1], 0),))
    yield Step(next(tell), (_document("runbook-1.md#36"),))
    yield Step(next(tell), (_search(TOPICS[3], 0),), meets=NEEDED[3])
    yield Step(next(tell), (_ticket(ARGUED_TICKETS[3]),))
    yield Step(next(tell), (_search(NEEDED[1].value, 0),), needs=NEEDED[1])
    records = {"text": "channel settled", "sources": ["transfers.json"], "limit": 200}
    yield Step(next(tell), (("search_logbook", records),))
    yield Step(next(tell), (_search(TOPICS[11], 1760),))
    yield Step(
        next(tell), (("logbook_context", {"source": "pilot.log", "line": 200, "before": 9}),)
    )
    yield Step(next(tell), (_search(TOPICS[13], 2200),))
    yield Step(next(tell), (_ticket(ARGUED_TICKETS[4]),))
    yield Step(next(tell), (_search(TOPICS[15], 440),))
    yield Step(next(tell), (("search_documents", {"text": "wrapper exit report procedure"}),))
    yield Step(next(tell), (_document("runbook-4.md#30"),))
    yield Step(next(tell), (_search(NEEDED[2].value, 0),), needs=NEEDED[2])
    yield Step(next(tell), (_search(TOPICS[16], 880),))
    table = {"handle": "R0003", "columns": ["component", "count"], "group_by": ["component"]}
    yield Step(next(tell), (("query_scratch", table),))
    yield Step(next(tell), (_search(TOPICS[17], 1320), _note("open_questions")))
    yield Step(next(tell), (_ticket("OPS-4151"),))
    yield Step(next(tell), (_search(TOPICS[19], 1760),))
    yield Step(next(tell), (_search(ARGUED_HOSTS[2], 0),))
    yield Step(next(tell), (_search(NEEDED[3].value, 0),), needs=NEEDED[3])
    yield Step(next(tell), (_search(TOPICS[20], 2200),))


def _more(number: int) -> Step:
    """One more turn of a long investigation, with a call that was not made before."""
    says = SAYS[number % len(SAYS)]
    window = number // len(TOPICS) * 66
    if number % 7 == 0:
        return Step(says, (_ticket(ticket_key(number), number // 7 // 60),))
    if number % 11 == 0:
        return Step(says, (_document(f"runbook-{number % 6}.md#{3 + number // 11 % 36}"),))
    topic = number % len(TOPICS)
    first = window + (topic - window) % len(TOPICS)
    return Step(says, (_search(TOPICS[topic], first),), cites=first if number % 20 == 0 else 0)


def _tellers() -> Iterator[str]:
    number = 0
    while True:
        yield SAYS[number % len(SAYS)]
        number += 1


def _search(text: str, first: int) -> Call:
    """Forty hits from that entry on, oldest first."""
    since = {"since": iso(entry_time(first))} if first else {}
    return "search_logbook", {"text": text, **since, "order": "oldest"}


def _ticket(key: str, round_: int = 0) -> Call:
    parts = (["comments"], ["comments", "changes"], ["comments", "links"])[round_ % 3]
    return "get_ticket", {"key": key, "parts": parts}


def _document(id: str) -> Call:
    return "read_document", {"id": id}


def _note(section: str) -> Call:
    return "write_notes", {"section": section, "text": NOTES[section]}
