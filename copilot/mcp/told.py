"""What each MCP server said of its tools when it was last started, for what starts no server.

A command that only counts or shows reads it here. An investigation asks the servers themselves, and
has what they said in its journal.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident

from copilot.mcp.tools import Offer
from copilot.settings.mcp import McpServerSettings
from copilot.values import JsonObject, canonical, digest


@dataclass(frozen=True, slots=True)
class Told:
    """The tools that servers offered, one file for each server."""

    folder: Path

    def keep(self, entry: McpServerSettings, offer: Offer) -> None:
        """Keep what a server offers; nothing new is nothing written. Raises OSError."""
        tools = [tool.definition() for tool in offer.tools]
        if not offer.is_told or self.of(entry) == tools:
            return
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self.folder / f"{entry.name}.{os.getpid()}-{get_ident()}"
        kept: JsonObject = {"entry": _mark(entry), "tools": [*tools]}
        draft.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        draft.replace(self._file(entry))

    def of(self, entry: McpServerSettings) -> Sequence[JsonObject] | None:
        """The definitions of what it offered, or None: never asked, or with other settings."""
        try:
            kept = json.loads(self._file(entry).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        known = isinstance(kept, dict) and kept.get("entry") == _mark(entry)
        return kept["tools"] if known else None

    def _file(self, entry: McpServerSettings) -> Path:
        return self.folder / f"{entry.name}.json"


def _mark(entry: McpServerSettings) -> str:
    """Another text for other settings."""
    return digest(canonical(entry.model_dump(mode="json")))
