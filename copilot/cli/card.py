"""The verdict card: what to do, why, on which lines, what was ruled out and what was not looked at.

Made of the report as data, so that a report just written and one read from the notes look the same.
"""

from collections.abc import Iterator, Sequence

from copilot.cli.ui import Screen, Style
from copilot.safe_text import one_line
from copilot.values import Json, JsonObject, list_at, object_at, text_at

OFFLINE = "offline"
VERDICTS: dict[str, tuple[str, Style]] = {
    "action_needed": ("ACTION NEEDED", "bad"),
    "action_suggested": ("ACTION SUGGESTED", "warn"),
    "no_action": ("NO ACTION", "good"),
    "inconclusive": ("INCONCLUSIVE", "warn"),
}
CAUSE_EVIDENCE = 4
"""Lines of evidence shown under the cause; the report has them all."""
LIST_ITEMS = 5
"""Items shown of each list."""


def investigator(model: str) -> str:
    """Who investigates, in words that cannot be mistaken."""
    if model == OFFLINE:
        return "offline rules, not a language model"
    return f"the language model {model}"


def print_card(screen: Screen, report: JsonObject) -> None:
    """Print the card of a report as `report.json` holds it."""
    shown, style = VERDICTS.get(text_at(report, "verdict"), ("NO VERDICT", "warn"))
    cause = object_at(report, "cause")
    level = f"  cause {text_at(cause, 'status')}" if cause else ""
    screen.line((one_line(text_at(report, "title")), "title"))
    screen.line((shown, style), (level, "dim"))
    if notice := text_at(report, "notice"):
        screen.line((one_line(notice), "warn"))
    screen.line()
    screen.line(text_at(report, "summary"))
    if cause:
        _head(screen, "Cause")
        _claim(screen, cause, CAUSE_EVIDENCE)
    for title, key in (("What happened, in order", "chain"), ("Other facts", "evidence")):
        for claim in _under(screen, title, list_at(report, key)):
            _claim(screen, claim, 1)
    for item in _under(screen, "Ruled out", list_at(report, "ruled_out")):
        screen.line(f"{text_at(item, 'claim')}: {text_at(item, 'why')}", indent=2, mark="- ")
        _evidence(screen, list_at(item, "evidence"), 1)
    lists = (
        ("Not checked", "not_checked"),
        ("Next steps, none of them taken", "next_steps"),
        ("Left out for lack of support", "left_out"),
    )
    for title, key in lists:
        for item in _under(screen, title, list_at(report, key)):
            screen.line(str(item), indent=2, mark="- ")
    _footer(screen, report)


def _head(screen: Screen, title: str) -> None:
    screen.line()
    screen.line((title, "title"))


def _under(screen: Screen, title: str, items: Sequence[Json]) -> Iterator[Json]:
    """The items below their title, which is left out where there are none."""
    if items:
        _head(screen, title)
    yield from items[:LIST_ITEMS]
    if len(items) > LIST_ITEMS:
        screen.line((f"and {len(items) - LIST_ITEMS} more in the report", "dim"), indent=2)


def _claim(screen: Screen, claim: Json, evidence: int) -> None:
    status = text_at(claim, "status")
    screen.line(f"{text_at(claim, 'claim')} ", (f"({status})", "dim"), indent=2, mark="- ")
    _evidence(screen, list_at(object_at({"claim": claim}, "claim"), "evidence"), evidence)


def _evidence(screen: Screen, pieces: Sequence[Json], shown: int) -> None:
    """The first pieces: where to look, then what stands there."""
    for piece in pieces[:shown]:
        reference = text_at(piece, "reference")
        gone = text_at(piece, "unresolved")
        searched = text_at(piece, "searched")
        if gone or searched:
            said = f"can no longer be shown ({gone})" if gone else f"{searched}, nothing found"
            screen.line((f"{reference}: {said}", "dim"), indent=4)
            continue
        source, line, record = (text_at(piece, key) for key in ("source", "line", "record"))
        place = f"{source}:{line}" if line not in ("", "0") else source
        where = f"{place}[{record}]" if record else place
        when = text_at(piece, "time")
        screen.line((where, "title"), (f"  {reference}  {when}".rstrip(), "dim"), indent=4)
        screen.line(text_at(piece, "text"), indent=6)
    if len(pieces) > shown:
        screen.line((f"and {len(pieces) - shown} more in the report", "dim"), indent=4)


def _footer(screen: Screen, report: JsonObject) -> None:
    usd = text_at(report, "usd")
    turns, tokens = (_count(report, key) for key in ("turns", "tokens"))
    price = f"${usd}" if usd else "price not known"
    screen.line()
    screen.line(f"Investigator: {investigator(text_at(report, 'model'))}")
    screen.line(f"Cost: {turns} turns, {tokens:,} tokens, {price}")
    limit = text_at(report, "limit")
    if limit:
        screen.line((f"Ended by a limit: {limit}", "warn"))
    if text_at(report, "author") == "code":
        screen.line(("Written by code from the notes, not by the investigator", "warn"))


def _count(report: JsonObject, key: str) -> int:
    """The number there; 0 where a person has put something else."""
    found = report.get(key)
    return found if isinstance(found, int) else 0
