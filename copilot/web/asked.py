"""What a request asks for, checked: its query and its JSON."""

import json
import math
import re

from starlette.requests import Request

from copilot.errors import NotFoundError, UsageError
from copilot.values import JsonObject
from copilot.web.backend import Wanted

INCIDENT = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
WORD = re.compile(r"[a-z_]{1,32}")
MOST = 1000
ORDER = frozenset({"alert", "incident", "question", "model", "turns", "usd", "policy"})
"""What an order for an investigation may say."""


def wanted(request: Request) -> Wanted:
    """What the query selects. Raises UsageError for what it cannot mean."""
    query = request.query_params
    if unknown := set(query) - {"limit", "status", "incident"}:
        raise UsageError(f"{min(unknown)!r} selects nothing; use limit, status, incident")
    limit, status, incident = (query.get(key, "") for key in ("limit", "status", "incident"))
    if limit and not (limit.isascii() and limit.isdecimal() and 1 <= int(limit[:9]) <= MOST):
        raise UsageError(f"limit={limit} is no number from 1 to {MOST}")
    if status and not WORD.fullmatch(status):
        raise UsageError(f"status={status!r} is no status of an incident")
    if incident and not INCIDENT.fullmatch(incident):
        raise UsageError(f"incident={incident!r} is no id of an incident")
    return Wanted(int(limit or 100), status, incident)


def incident_in(request: Request) -> str:
    """The incident that the path names. Raises NotFoundError for what cannot be one."""
    incident = str(request.path_params["incident"])
    if not INCIDENT.fullmatch(incident):
        raise NotFoundError(f"there is no incident {incident!r}")
    return incident


async def object_in(request: Request) -> JsonObject:
    """The JSON object in the body; an empty one when there is no body. Raises UsageError."""
    body = await request.body()
    if not body:
        return {}
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise UsageError("the body is not JSON") from None
    if not isinstance(found, dict):
        raise UsageError("the body must be a JSON object")
    return found


def order_in(asked: JsonObject) -> JsonObject:
    """What a person wants investigated, and how, checked. Raises UsageError."""
    if unknown := set(asked) - ORDER:
        raise UsageError(f"{min(unknown)!r} is unknown; use {', '.join(sorted(ORDER))}")
    if ("alert" in asked) == ("incident" in asked):
        raise UsageError("give either an alert or an incident to investigate")
    if not isinstance(asked.get("alert", {}), dict):
        raise UsageError("'alert' must be a JSON object")
    if "incident" in asked and not INCIDENT.fullmatch(text_in(asked, "incident")):
        raise UsageError("'incident' must be the id of one")
    for key in ("question", "model", "policy"):
        text_in(asked, key)
    for key, kinds in (("turns", int), ("usd", int | float)):
        number = asked.get(key, 1)
        if isinstance(number, bool) or not isinstance(number, kinds) or not 0 < number < math.inf:
            raise UsageError(f"{key!r} must be a number above 0")
    return asked


def text_in(asked: JsonObject, key: str) -> str:
    """The text under *key*, empty when it is not there. Raises UsageError for anything else."""
    text = asked.get(key, "")
    if not isinstance(text, str):
        raise UsageError(f"{key!r} must be a text")
    return text
