"""A call that the investigator wants to make."""

from dataclasses import dataclass

from copilot.values import JsonObject, canonical


@dataclass(frozen=True, slots=True)
class Want:
    """One tool call, before it has an id. Equal calls are equal values."""

    tool: str
    input: JsonObject

    def __hash__(self) -> int:
        return hash((self.tool, canonical(self.input)))
