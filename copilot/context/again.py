"""The answer to a call that was made before: whole when it left the view, else a pointer. Pure.

Whichever it is, it says so, and names the turn and the handle. The record is that of the first
answer, so that nothing is counted twice: no identifiers, no cost, no effect.
"""

import json
from collections.abc import Collection

from copilot.context.asked import Past
from copilot.context.placement import tokens_of
from copilot.tools.registry import Prepared
from copilot.values import JsonObject, compact, text_at

SHORT_TOKENS = 300
"""An answer up to this size is given again whole even while it stands in view: a pointer to it
would save next to nothing."""
POINTED = ("ok", "tool", "scope", "total", "total_is", "complete", "why_incomplete", "handle")
"""What a pointer to an answer in view repeats of its envelope."""
SAME = ("tool", "ok", "handle", "bytes", "total", "complete", "sha")
"""What the record of a repeated answer has in common with that of the first."""


def served_again(item: Prepared, past: Past, visible: Collection[str], room: float) -> JsonObject:
    """The earlier answer once more, marked as such; a pointer to it when that says as much."""
    first = past.event
    head: JsonObject = json.loads(text_at(first.data, "text"))
    said = text_at(first.data, "nudge")
    if said:
        head["hint"] = text_at(head, "hint").removeprefix(said).removeprefix("; ")
    note = f"the same call as in turn {first.turn}"
    if item.key != first.data["key"]:
        note += " but for seconds in its window"
    whole = compact({"repeat": f"{note}, served from scratch", **head})
    stands = bool(past.bodies & set(visible))
    text, placement = whole, text_at(first.data, "placement")
    if tokens_of(whole) > (SHORT_TOKENS if stands else room):
        placement = "repeat"
        why = (
            f"its answer stands above; read_scratch on {text_at(head, 'handle')} reads it again"
            if stands
            else "this turn has no room left for it; ask again in the next one"
        )
        pointer: JsonObject = {key: head[key] for key in POINTED if key in head}
        text = compact({"repeat": note, **pointer, "hint": why})
    return {
        "call": item.call.id,
        "key": item.key,
        "arguments": item.normal,
        **{key: first.data.get(key) for key in SAME},
        "placement": placement,
        "tokens": tokens_of(text),
        "text": text,
        "repeats": first.turn,
        "effect": {},
        "ends": False,
        "artifacts": [],
    }


def hinted(text: str, nudge: str) -> str:
    """The answer with the nudge at the beginning of its hint."""
    head: JsonObject = json.loads(text)
    hint = text_at(head, "hint")
    return compact({**head, "hint": f"{nudge}; {hint}" if hint else nudge})
