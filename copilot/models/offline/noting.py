"""What is written down with the report: findings and what was ruled out outlive the talk."""

from collections.abc import Iterator

from copilot.models.offline.wants import Want
from copilot.values import Json, JsonObject, list_at, text_at

FINDINGS = 4
RULED_OUT = 3


def note(report: JsonObject) -> Iterator[Want]:
    """The calls that record the cause, what followed, and what was ruled out."""
    for item in _claims(report)[:FINDINGS]:
        yield Want("record_finding", item)
    for ruled_out in list_at(report, "ruled_out")[:RULED_OUT]:
        text = f"{text_at(ruled_out, 'claim')}: {text_at(ruled_out, 'why')}"
        pieces = list_at(ruled_out, "evidence")
        yield Want("write_notes", {"section": "ruled_out", "text": text, "evidence": pieces})


def _claims(report: JsonObject) -> list[JsonObject]:
    claims: list[Json] = [report.get("cause"), *list_at(report, "chain")]
    return [item for item in claims if isinstance(item, dict) and item.get("evidence")]
