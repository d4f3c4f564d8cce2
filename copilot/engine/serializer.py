"""What the engine stores, as JSON: readable, safe to load, whole after any upgrade.

The vendor's own way is pickle, which runs what whoever can write the database puts there. Errors
are stored too, by name and text: the code that raised one may be gone when it is read.
"""

import json
from typing import Any

from dbos import Serializer

from copilot.errors import CopilotError
from copilot.values import text_at

MARK = "__error__"
LONGEST = 2000
"""Characters of an error's message that are kept."""


class RecordedError(CopilotError):
    """An error read back from the record. `kind` is the name of the class that was raised."""

    def __init__(self, message: str, *, kind: str, retryable: bool) -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable


class JsonSerializer(Serializer):
    """JSON both ways; an error becomes its name, its text and whether to try again."""

    def name(self) -> str:
        """How rows written by this are marked."""
        return "copilot_json"

    def serialize(self, data: Any) -> str:
        """Return *data* as JSON. Raises TypeError for what is not JSON and no error."""
        if isinstance(data, RecordedError):
            kept = {"kind": data.kind, "message": str(data), "retryable": data.retryable}
            return json.dumps({MARK: kept})
        if isinstance(data, Exception):
            kept = {
                "kind": type(data).__name__,
                "message": str(data)[:LONGEST],
                "retryable": isinstance(data, CopilotError) and data.retryable,
            }
            return json.dumps({MARK: kept})
        return json.dumps(data, separators=(",", ":"))

    def deserialize(self, serialized_data: str) -> Any:
        """Return what was stored: tuples as lists, any error as a RecordedError."""
        data = json.loads(serialized_data)
        if isinstance(data, dict) and data.keys() == {MARK}:
            kept = data[MARK]
            return RecordedError(
                text_at(kept, "message"),
                kind=text_at(kept, "kind"),
                retryable=bool(kept.get("retryable")),
            )
        return data
