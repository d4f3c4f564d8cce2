"""How an investigation is written down: STATE.md as it goes, the report at its end.

Every write is a pure change of the file as it is at that moment, so an operator's edits survive,
and a change that was made before makes no commit.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from copilot.beliefs import with_effects, with_facts, with_report
from copilot.calls import effects
from copilot.context.meter import usage_csv
from copilot.journal import Event
from copilot.notes.repository import NotesRepository
from copilot.notes.state import State
from copilot.report.render import Cost, Page, as_json, as_markdown
from copilot.report.values import Report
from copilot.steps import Work
from copilot.values import JsonObject, canonical, list_at, text_at

EVERY_TURNS = 5
"""Without news STATE.md is still brought up to date after so many turns."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How an investigation ended. `commit` holds report.md, report.json, usage.csv, STATE.md."""

    incident: str
    report: Report
    page: Page
    commit: str


class Notebook:
    """The notes of one incident, as one investigation writes them."""

    def __init__(self, repository: NotesRepository, incident: str, notice: str = "") -> None:
        """*notice* is what a reader of the report must know first."""
        self._repository = repository
        self._incident = incident
        self._notice = notice

    def record(self, work: Work, turn: int, results: Sequence[Event]) -> None:
        """Bring STATE.md up to date when the turn brought news, or when it is due."""
        found = [item for item in effects(results) if "finding" in item or "note" in item]
        done = work.journal.last("commit")
        if not found and turn - (done.turn if done else -EVERY_TURNS) < EVERY_TURNS:
            return
        if done and done.turn >= turn:
            return
        events = work.journal.events

        def change(state: State) -> State:
            work.journal.check_ours()  # by now: writing may have waited for its turn
            return with_facts(with_effects(state, found), work.ledger, events, work.model.name)

        commit = self._repository.update(
            self._incident,
            change,
            subject=f"{self._incident}: {_news(found, turn)}",
            trailers=self._trailers(work, turn),
        )
        if commit:
            work.journal.append("commit", turn, {"commit": commit})

    def finish(self, work: Work) -> Ending:
        """Write the report with STATE.md and usage.csv in one commit; a second time, nothing."""
        handed_in = work.ledger.report or {}
        report = Report.model_validate_json(canonical(handed_in["report"]))
        page = self._page(work, report, handed_in)
        events = work.journal.events
        pending = [item for item in effects(events) if "finding" in item or "note" in item]
        ended = work.journal.last("ended")
        if ended:
            return Ending(self._incident, report, page, text_at(ended.data, "commit"))

        def change(state: State) -> State:
            work.journal.check_ours()
            state = with_facts(with_effects(state, pending), work.ledger, events, work.model.name)
            return with_report(state, report)

        scratch = work.case.scratch
        commit = self._repository.update(
            self._incident,
            change,
            subject=f"{self._incident}: report, {report.verdict}",
            trailers=self._trailers(work, work.ledger.turn),
            files={
                "report.md": as_markdown(page, scratch),
                "report.json": json.dumps(as_json(page, scratch), indent=1, ensure_ascii=False)
                + "\n",
                "usage.csv": usage_csv(events),
            },
        )
        work.journal.append("ended", work.ledger.turn, {"commit": commit or ""})
        return Ending(self._incident, report, page, commit or "")

    def _page(self, work: Work, report: Report, handed_in: JsonObject) -> Page:
        spent = work.ledger.spent
        return Page(
            incident=self._incident,
            title=work.case.alert.title or self._incident,
            report=report,
            unsupported=[str(item) for item in list_at(handed_in, "unsupported")],
            author=text_at(handed_in, "author"),
            limit=work.ledger.limit,
            cost=Cost(work.model.name, spent.turns, spent.tokens, spent.usd),
            notice=self._notice,
        )

    def _trailers(self, work: Work, turn: int) -> Mapping[str, str]:
        spent = work.ledger.spent
        return {
            "Incident": self._incident,
            "Turn": str(turn),
            "Model": work.model.name,
            "Tokens": str(spent.tokens),
            "Cost": "n/a" if spent.usd is None else f"{spent.usd:.4f}",
        }


def _news(found: Sequence[JsonObject], turn: int) -> str:
    """What the commit is about, in a few words."""
    if not found:
        return f"turn {turn}"
    first = found[0].get("finding") or found[0].get("note")
    text = text_at(first, "claim", "text").splitlines()[0]
    return f"{text[:60]}…" if len(text) > 60 else text
