"""One request to OpenSearch and what came back, before anything is made of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from copilot.values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Ask:
    """One request. `doing` says what for, in the words of an error message.

    `body` is sent as JSON; a list of them line by line, as bulk and msearch want it.
    """

    method: str
    path: str
    doing: str
    body: JsonObject | list[JsonObject] | None = None
    params: Mapping[str, str] = field(default_factory=dict)

    def encoded(self) -> bytes:
        """The body as it is sent."""
        if self.body is None:
            return b""
        if isinstance(self.body, list):
            return b"".join(_line(item) + b"\n" for item in self.body)
        return _line(self.body)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, whatever its status. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)

    def document(self) -> Json:
        """The body as JSON; None when it is none. Raises RecursionError when it is nested too deep.

        An index that maps nothing takes a document of thousands of levels.
        """
        try:
            value: Json = json.loads(self.body)
        except ValueError:
            return None
        return value


class NoReply(Exception):
    """No whole answer came; it never reaches a person as it is. `timed_out`: it took too long.

    `too_large`: it was cut off.
    """

    def __init__(
        self, why: str, *, again: bool = True, timed_out: bool = False, too_large: bool = False
    ) -> None:
        super().__init__(why)
        self.again = again
        """True when the same request may well succeed a little later."""
        self.timed_out = timed_out
        self.too_large = too_large


def _line(value: JsonObject) -> bytes:
    # ASCII: a lone surrogate, which UTF-8 cannot hold, travels as its escape
    return json.dumps(value, separators=(",", ":")).encode("ascii")
