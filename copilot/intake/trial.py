"""What would become of a payload: taken through the door's rules, kept nowhere."""

from copilot.inbox.values import Arrival
from copilot.intake.parcel import Kind
from copilot.intake.reader import Reader
from copilot.values import JsonObject, object_at, text_at
from copilot.window import iso
from copilot.workspace import Workspace


def tried(workspace: Workspace, body: bytes, kind: Kind, map: str) -> list[JsonObject]:
    """Each alert in *body* as it would be kept. Raises UsageError saying why it is none."""
    reader = Reader(workspace.settings, workspace.redactor, now=workspace.now)
    return [_shown(one) for one in reader.read(body, kind, map=map)]


def _shown(one: Arrival) -> JsonObject:
    return {
        "title": text_at(one.alert, "title"),
        "text": text_at(one.alert, "text"),
        "status": one.status,
        "severity": one.severity,
        "identity": one.identity,
        "key": one.key,
        "group": one.group,
        "starts_at": iso(one.starts_at),
        "ends_at": iso(one.ends_at) if one.ends_at else None,
        "ignored": one.ignored,
        "labels": object_at(one.alert, "labels"),
    }
