"""What is on tape can be read by a person, and replayed whatever unpacks it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).parent / "cassettes"


def answers(tape: Path) -> list[dict[str, Any]]:
    """Return the recorded answers of one cassette."""
    recorded = yaml.safe_load(tape.read_text())
    return [turn["response"] for turn in recorded["interactions"]]


@pytest.mark.bad_input("B092", "B093")
@pytest.mark.parametrize("tape", sorted(FOLDER.rglob("*.yaml")), ids=lambda tape: tape.stem)
def test_bodies_are_kept_unpacked_and_no_header_says_otherwise(tape: Path) -> None:
    for answer in answers(tape):
        names = {name.lower() for name in answer["headers"]}
        body = answer["body"]["string"]
        assert isinstance(body, str) or body.isascii()
        assert not names & {"content-encoding", "transfer-encoding"}
        length = answer["headers"].get("Content-Length") or answer["headers"].get("content-length")
        assert length is None or int(length[0]) == len(
            body.encode() if isinstance(body, str) else body
        )
