"""A rule-based investigator behind the interface of a language model. No network, no state.

It sees what a model would see, the request, and nothing else; the same request gets the same bytes
back. Its answers have the shape of the Messages API, so the loop cannot tell the difference.
"""

import hashlib
import json
from collections.abc import Sequence

from copilot.models.model import Json, Request, Response
from copilot.models.offline.memo import memo
from copilot.models.offline.noting import note
from copilot.models.offline.plan import Step, next_step
from copilot.models.offline.reporting import draft
from copilot.models.offline.transcript import call_id
from copilot.models.offline.view import View, read_view
from copilot.models.offline.wants import Want
from copilot.values import JsonObject, compact, list_at, text_at

NAME = "offline"
BYTES_PER_TOKEN = 4
MAX_SUBMISSIONS = 3


class OfflineModel:
    """Investigates by rules: statistics, comparison, first errors, doubts, report."""

    @property
    def name(self) -> str:
        """`offline`, as in `--model offline`."""
        return NAME

    def respond(self, request: Request) -> Response:
        """The next calls, or the report. A pure function of *request*."""
        view = read_view(request)
        turn = view.transcript.turns + 1
        step = next_step(view)
        if step:
            blocks = _calls(step, turn, memo(view))
            return _response(request, blocks, "tool_use")
        report = _mended(draft(view), view)
        if (
            view.transcript.may_call
            and len(view.transcript.of_tool("submit_report")) < MAX_SUBMISSIONS
        ):
            first = not view.transcript.of_step("report")
            noted = [want for want in note(report) if first and want.tool in view.tools]
            wants = (*noted, Want("submit_report", report))
            last = Step("report", "What is to outlive this, and the report.", wants)
            blocks = _calls(last, turn, memo(view))
            return _response(request, blocks, "tool_use")
        return _response(request, [{"type": "text", "text": compact(report)}], "end_turn")

    def count_tokens(self, request: Request) -> int | None:
        """An estimate: nobody has to pay for these tokens."""
        return request.size // BYTES_PER_TOKEN


def _calls(step: Step, turn: int, kept: str) -> list[Json]:
    words = f"{step.why}\n{kept}".strip()
    blocks: list[Json] = [{"type": "text", "text": words}]
    blocks += [
        _use(call_id(turn, step.name, number), want.tool, want.input)
        for number, want in enumerate(step.wants, start=1)
    ]
    return blocks


def _use(id: str, name: str, input: JsonObject) -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def _mended(report: JsonObject, view: View) -> JsonObject:
    """The report without the claims that the gate refused; a refused cause becomes likely."""
    problems = [
        str(text)
        for item in view.transcript.of_tool("submit_report")
        for text in list_at(item.answer.facts, "problems")
    ]
    if not problems:
        return report

    def refused(claim: object) -> bool:
        words = text_at(claim, "claim") if isinstance(claim, dict) else ""
        return any(problem.startswith(words[:60]) for problem in problems if words)

    mended = dict(report)
    for key in ("chain", "evidence", "ruled_out"):
        if key in mended:
            mended[key] = [item for item in list_at(report, key) if not refused(item)]
    cause = mended.get("cause")
    if isinstance(cause, dict) and refused(cause):
        mended["cause"] = {**cause, "status": "likely", "evidence": list_at(cause, "evidence")[:1]}
    return mended


def _response(request: Request, blocks: Sequence[Json], stop_reason: str) -> Response:
    output = len(json.dumps(list(blocks), ensure_ascii=False).encode("utf-8", "replace"))
    digest = hashlib.sha256(request.encoded()).hexdigest()
    return Response(
        {
            "id": f"msg_offline_{digest[:20]}",
            "type": "message",
            "role": "assistant",
            "model": NAME,
            "content": list(blocks),
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": {
                "input_tokens": request.size // BYTES_PER_TOKEN,
                "output_tokens": output // BYTES_PER_TOKEN,
            },
        }
    )
