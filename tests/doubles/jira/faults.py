"""What can be made to go wrong on a path: a status, headers, a body, a delay, a broken connection."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Fault:
    """One answer in place of the right one. With status None the right one follows the delay."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    delay_s: float = 0.0
    drips_s: float = 0.0
    """Seconds between single bytes of the body."""
    resets: bool = False
    """The connection breaks instead of an answer."""


def from_recording(recorded: Mapping[str, Any], **more: str) -> Fault:
    """The fault in a recorded answer: its status, headers and body, which may be JSON or text."""
    body = recorded["body"]
    text = body if isinstance(body, str) else json.dumps(body)
    headers = {
        name: value
        for name, value in recorded["headers"].items()
        if name.lower() != "transfer-encoding"
    }
    return Fault(recorded["status"], {**headers, **more}, text.encode())
