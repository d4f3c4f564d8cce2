"""A report held against what is known of its scenario."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.scenarios_truth import Scenario
from copilot.notebook import Ending
from copilot.values import JsonObject, list_at, object_at, text_at

DULL = frozenset(
    ("with", "from", "that", "this", "into", "itself", "data", "alert", "error", "errors", "cause")
)


@dataclass(frozen=True, slots=True)
class Result:
    """What one investigation came to."""

    id: str
    cited: int
    wanted: int
    first_cited: bool
    missed: tuple[str, ...]
    traps_named: tuple[str, ...]
    verdict: str
    status: str
    cause: str
    turns: int
    tokens: int
    seconds: float
    searches: int
    left_out: tuple[str, ...]
    places: tuple[str, ...] = field(default=())


def judged(
    scenario: Scenario, ending: Ending, report: JsonObject, seconds: float, searches: int
) -> Result:
    """What the investigation came to. *searches* is how often it looked into the logs."""
    cause = object_at(report, "cause")
    cited = list(_cited(report))
    dismissed = ending.report.verdict == "no_action" and not searches
    hits = [_is_cited(wanted, cited, scenario) or dismissed for wanted in scenario.must_cite]
    told = f"{text_at(cause, 'claim')} {ending.report.summary}" if cause else ""
    return Result(
        id=scenario.id,
        cited=sum(hits),
        wanted=len(hits),
        first_cited=hits[0],
        missed=tuple(
            f"{name.rsplit('/', 1)[-1]}:{line} {text}"
            for (name, line, text), hit in zip(scenario.must_cite, hits, strict=True)
            if not hit
        ),
        traps_named=tuple(trap for trap in scenario.traps if _named(trap, told)),
        verdict=ending.report.verdict,
        status=text_at(cause, "status"),
        cause=text_at(cause, "claim") or ending.report.summary,
        turns=ending.page.cost.turns,
        tokens=ending.page.cost.tokens,
        seconds=round(seconds, 2),
        searches=searches,
        left_out=tuple(str(item) for item in list_at(report, "left_out")),
        places=tuple(f"{source}:{line}" for source, line, _ in cited),
    )


def _cited(report: JsonObject) -> Iterator[tuple[str, int, int | None]]:
    """Source, line and record of every line that the claims cite."""
    claims = [object_at(report, "cause"), *list_at(report, "chain"), *list_at(report, "evidence")]
    claims += list_at(report, "ruled_out")
    for claim in claims:
        for item in list_at(claim, "evidence"):
            if isinstance(item, dict):
                line, record = item.get("line"), item.get("record")
                yield (
                    text_at(item, "source"),
                    line if isinstance(line, int) else 0,
                    record if isinstance(record, int) else None,
                )


def _is_cited(
    wanted: tuple[str, int | None, str],
    cited: Sequence[tuple[str, int, int | None]],
    scenario: Scenario,
) -> bool:
    name, number, _ = wanted
    if scenario.by_record:
        return any(source == name and record == number for source, _, record in cited)
    return any(source == name and number in (None, line) for source, line, _ in cited)


def _named(trap: str, told: str) -> bool:
    """True when two thirds of the trap's telling words stand in what was told as the cause."""
    words = {word for word in re.findall(r"[a-z0-9]{4,}", trap.lower()) if word not in DULL}
    said = {word.strip(".:-'") for word in re.findall(r"[\w.:'-]+", told.lower())}
    return bool(words) and 3 * len(words & said) >= 2 * len(words)
