"""What copilot.yaml may say of an MCP server: how it is started, and which tools are offered."""

import re
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Self

from pydantic import Field, model_validator

from copilot.settings.kinds import Length
from copilot.strict_model import Strict

ServerName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,19}$")]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
ToolOfServer = Annotated[str, Field(pattern=r"^[A-Za-z0-9_./-]{1,128}$")]
NAME_CHARACTERS = 64
"""What the model's service allows for the name of a tool."""
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")


class McpServerSettings(Strict):
    """A program that offers tools over its standard input and output. No secret is written here."""

    name: ServerName
    """The first part of the name of each of its tools."""
    command: Annotated[tuple[str, ...], Field(min_length=1, max_length=50)]
    """The program and its arguments, started without a shell in the workspace's folder."""
    env: Mapping[Variable, Variable] = Field(default_factory=dict)
    """What the program finds in its environment beside PATH: its variable, and the variable of ours
    (or the file that NAME_FILE names) from which the value comes."""
    allow: tuple[ToolOfServer, ...] = ()
    """Tools that are offered if the server says of them that they only read."""
    trusted: tuple[ToolOfServer, ...] = ()
    """Tools that are offered whatever the server says. Name one only if you know that it changes
    nothing."""
    timeout: Length = timedelta(seconds=30)
    """For the start, and for each call."""

    @model_validator(mode="after")
    def _offers_something(self) -> Self:
        tools = (*self.allow, *self.trusted)
        if not tools:
            raise ValueError("name at least one tool in `allow` or in `trusted`")
        counts = Counter(offered_name(self.name, tool) for tool in tools)
        if twice := sorted(name for name, count in counts.items() if count > 1):
            raise ValueError(f"two tools would be called {', '.join(twice)}; take one out")
        if long := sorted(name for name in counts if len(name) > NAME_CHARACTERS):
            raise ValueError(
                f"{long[0]} has more than {NAME_CHARACTERS} characters; give the server a shorter "
                "name, or take that tool out"
            )
        if not timedelta(0) < self.timeout <= timedelta(minutes=10):
            raise ValueError("timeout must be more than 0 and at most 10m")
        return self

    def offered(self) -> tuple[str, ...]:
        """The names by which the model would call its tools."""
        return tuple(offered_name(self.name, tool) for tool in (*self.allow, *self.trusted))


def offered_name(server: str, tool: str) -> str:
    """The name by which the model calls that tool of that server."""
    return f"{server}_{NOT_IN_NAMES.sub('_', tool)}"
