"""Where a poll got to: one small JSON file a poll, replaced whole and synced."""

import json
import logging
from pathlib import Path

from copilot.errors import CopilotError
from copilot.notes.folder import sync_folder, write_synced
from copilot.values import JsonObject

LOG = logging.getLogger(__name__)
VERSION = 1


class CursorFile:
    """The cursor of the poll *name* in *folder*."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.json"

    def read(self) -> JsonObject:
        """The saved cursor; an empty one when there is none, or none that can be read.

        A lost cursor costs a repeat, which the inbox knows by its keys: it is said and survived.
        """
        try:
            saved = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            LOG.warning("cursor is unreadable path=%s why=%s", self.path, error)
            return {}
        if not isinstance(saved, dict) or saved.get("version") != VERSION:
            LOG.warning("cursor is of another version path=%s", self.path)
            return {}
        cursor = saved.get("cursor")
        return cursor if isinstance(cursor, dict) else {}

    def write(self, cursor: JsonObject) -> None:
        """Replace the saved cursor; returns once the disk has it. Raises CopilotError."""
        folder, ready = self.path.parent, self.path.with_name(f".{self.path.name}.new")
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            text = json.dumps({"version": VERSION, "cursor": cursor}, ensure_ascii=True)
            write_synced(ready, text.encode())
            ready.replace(self.path)
            sync_folder(folder)
        except OSError as error:
            raise CopilotError(
                f"cannot save where the poll got to in {self.path}: {error.strerror}; "
                "it asks the same again until this is mended"
            ) from None
