"""Recorded investigations are compacted, each way, and nothing that the truth lists is lost.

The cases are conversations of others with the facts that a summary must keep. Each is played
through the real view and ledger: what tools printed are results, what the assistant concluded are
its notes. Of the truth, a fact counts that occurs in the conversation at all.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from copilot.artifacts import find_artifacts
from copilot.context.restate import visible
from copilot.models.support import Support
from copilot.upkeep import compact_view
from tests.doubles.messages_api import Json
from tests.properties.rig import Rig, identifiers

CASES = (
    "002_buried_exception",
    "003_cascading_failure",
    "004_multiple_root_causes",
    "005_configuration_change",
)
SUMMARIES: dict[str, Any] = {
    "keeps two thirds": lambda text: ", ".join(
        value for number, value in enumerate(identifiers(text)) if number % 3
    ),
    "keeps nothing": lambda _: "It was looked at, and it goes on.",
}
NUMBER = re.compile(r"\d[\d.,:]*\d")
WELL = "cache-07.example.org answers within its time"
RULED_OUT = "The host cache-07.example.org was looked at and is not the cause."


@pytest.mark.parametrize("summary", SUMMARIES)
@pytest.mark.parametrize("kind", ["on_demand", "client", "state"])
@pytest.mark.parametrize("case", CASES)
def test_identifiers_numbers_and_what_was_ruled_out_are_read_after_a_compaction(
    shared_data: Path, tmp_path: Path, case: str, kind: Any, summary: str
) -> None:
    rig = played(shared_data, tmp_path, case)
    rig.summary = SUMMARIES[summary]
    wanted = facts(shared_data, case)

    compact_view(rig.work, rig.number, kind)

    assert rig.work.journal.last("compact") is not None
    read = visible(rig.work.view.as_read())
    assert wanted
    assert [value for value in wanted if value not in read] == []
    assert RULED_OUT in read


def played(data: Path, folder: Path, case: str) -> Rig:
    """The case, turn by turn: each statement of the assistant is a note beside the next result."""
    rig = Rig(folder, support=Support(on_demand=True))
    answers = conversation(data, case)
    rig.printed[0] = WELL
    rig.turn(reply(0, "The work begins.", printed=True))
    rig.turn(reply(0, RULED_OUT, "ruled_out"))
    note = "The work goes on."
    for number, (text, said) in enumerate(answers, start=1):
        rig.printed[number] = text
        rig.turn(reply(number, note, printed=True))
        note = said
    rig.turn(reply(0, note))
    for _ in range(2):  # the newest turns stay as they are; what matters must be older
        rig.turn(reply(0, "The work goes on."))
    return rig


def reply(
    number: int, note: str, section: str = "open_questions", *, printed: bool = False
) -> Json:
    """A turn that takes a note and, when *printed*, asks for what was printed as that number."""
    evidence: Any = [{"reference": "R0001:1", "quote": WELL}] if section == "ruled_out" else []
    noted: Json = {"section": section, "text": note[:2000], "evidence": evidence}
    uses: list[tuple[str, Json]] = [("write_notes", noted)]
    if printed:
        uses.append(("printed", {"number": number}))
    content = [{"type": "tool_use", "name": name, "input": given} for name, given in uses]
    return {"content": content, "stop_reason": "tool_use"}


def conversation(data: Path, case: str) -> list[tuple[str, str]]:
    """Each thing that a tool printed, with what the assistant said next."""
    path = data / "holmesgpt" / "compaction" / case / "conversation_history.json"
    found: list[tuple[str, str]] = []
    for message in json.loads(path.read_text("utf-8")):
        if message["role"] == "tool":
            found.append((message["content"], "."))
        elif message["role"] == "assistant" and found and message.get("content"):
            found[-1] = (found[-1][0], message["content"])
    return found


def facts(data: Path, case: str) -> list[str]:
    """The identifiers and numbers that the truth lists and the conversation holds verbatim."""
    truth = yaml.safe_load(
        (data / "truth" / "holmesgpt" / f"compaction_{case}.yaml").read_text("utf-8")
    )["expected_output"]
    held = "\n".join(f"{text}\n{said}" for text, said in conversation(data, case))
    listed = [item.value for item in find_artifacts(truth)] + NUMBER.findall(truth)
    return [value for value in listed if re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", held)]
