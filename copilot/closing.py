"""The last turn: a report from the model's text without tools, or else one that code can write.

There is always a report. What a model claims here passes the same gate as submit_report; claims
without support are left out and named.
"""

import json
import re

from pydantic import ValidationError

from copilot.context.validate import InvalidRequestError
from copilot.errors import ModelError
from copilot.models.model import verdict
from copilot.report.gate import kept
from copilot.report.values import Claim, Evidence, Report
from copilot.steps import Work, model_step
from copilot.tools.notes import grounds
from copilot.values import text_at

ASKS_NOBODY = frozenset({"model"})
"""Limits after which the model is not asked again."""


def last_words(work: Work) -> None:
    """Record the report that ends *work*: the model's last answer, or what the state holds."""
    limit = work.journal.last("limit")
    if limit is None or work.ledger.report:
        return
    report = None
    if text_at(limit.data, "limit") not in ASKS_NOBODY:
        report = _from_model(work, limit.turn + 1)
    author = "model" if report else "code"
    report, unsupported = kept(report or from_state(work), grounds(work.case))
    work.journal.append(
        "report",
        limit.turn + 1,
        {
            "report": report.model_dump(mode="json"),
            "unsupported": list(unsupported),
            "author": author,
        },
    )


def _from_model(work: Work, turn: int) -> Report | None:
    """The report in the model's last answer; None when there is none that can be read."""
    try:
        response = model_step(work, turn)
    except (ModelError, InvalidRequestError):
        return None
    if verdict(response) not in ("done", "tools"):
        return None
    drafts = [json.dumps(call.input) for call in response.tool_calls]
    drafts += re.findall(r"\{.*\}", response.text, re.DOTALL)
    for draft in drafts:
        try:
            return Report.model_validate_json(draft)
        except ValidationError:
            continue
    return None


def from_state(work: Work) -> Report:
    """The report of what was recorded: findings with their lines, nothing that was not."""
    state = work.case.state()
    limit = work.journal.last("limit")
    why = text_at(limit.data, "why") if limit else ""
    claims = tuple(
        Claim(
            claim=item.claim[:1500],
            status=item.status,
            evidence=tuple(
                Evidence(reference=e.reference[:40], quote=e.quote[:500])
                for e in item.citations[:24]
            ),
        )
        for item in state.findings[:12]  # an operator may have written any of these
        if item.claim
    )
    return Report(
        verdict="inconclusive",
        summary=f"Stopped before a conclusion: {why[:800]}. Below is what was recorded until then.",
        evidence=claims,
        not_checked=tuple(item.text for item in state.open_questions[:12]),
        next_steps=("Investigate again with a larger budget; the notes and scratch are kept.",),
    )
