"""What is written down before the report: findings and what was ruled out outlive the talk."""

from collections.abc import Iterator

from copilot.models.offline.reporting import draft, findings
from copilot.models.offline.view import View
from copilot.models.offline.wants import Want
from copilot.values import list_at, text_at

FINDINGS = 4
RULED_OUT = 3


def note(view: View) -> Iterator[Want]:
    """The calls that record findings, causes ruled out and the next step."""
    report = draft(view)
    for item in list(findings(view))[:FINDINGS]:
        yield Want("record_finding", item)
    for item in list_at(report, "ruled_out")[:RULED_OUT]:
        if isinstance(item, dict):
            text = f"{text_at(item, 'claim')}: {text_at(item, 'why')}"
            pieces = list_at(item, "evidence")
            yield Want("write_notes", {"section": "ruled_out", "text": text, "evidence": pieces})
