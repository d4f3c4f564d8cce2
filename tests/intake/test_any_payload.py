"""Whatever arrives is taken or refused in one line; nothing breaks the intake."""

import json
from typing import get_args

from hypothesis import example, given
from hypothesis import strategies as st

from copilot.errors import UsageError
from copilot.intake.generic import built_in
from copilot.intake.parcel import Kind
from copilot.values import Json

from .box import Box, door

NAMES = st.sampled_from(
    ["version", "alerts", "labels", "annotations", "status", "startsAt", "endsAt", "fingerprint",
     "groupKey", "groupLabels", "truncatedAlerts", "orgId", "ruleName", "state", "title", "text",
     "summary", "description", "key", "fields", "subject", "context", "raw", "source", "created",
     "event", "data", "issue", "incident", "alert", "name", "message", "Message", "severity",
     "priority", "tags", "type", "value", "started_at", "alertname", "workflow", "trigger"]
)  # fmt: skip
WORDS = st.sampled_from(
    ["4", "firing", "resolved", "incident", "doc", "critical", "0001-01-01T00:00:00Z",
     "9999-12-31T23:59:59-14:00", "2026-11-30T08:00:00+99:99", "99999999999999999999", "1e400",
     "\ud800", "\x00\x1b[2J", "a:b,c", "x" * 3000, "\u202e", "-1", "nan"]
)  # fmt: skip
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(NAMES | st.text(max_size=4), inner, max_size=6)
    ),
    max_leaves=25,
)
ALERTS = st.fixed_dictionaries(
    {"labels": st.dictionaries(NAMES, WORDS, min_size=1, max_size=4)},
    optional={"startsAt": WORDS, "endsAt": WORDS, "status": WORDS, "fingerprint": VALUES},
)
GROUPS = st.fixed_dictionaries(
    {"version": st.just("4"), "alerts": st.lists(ALERTS, max_size=15)},
    optional={"groupKey": VALUES, "groupLabels": VALUES, "truncatedAlerts": VALUES, "x": VALUES},
)


BOX = Box()
DOOR = door(BOX)


def refusal(body: bytes, kind: Kind, name: str = "") -> str:
    """Take the body; return why it was refused, or an empty text."""
    BOX.kept.clear()
    try:
        taken = DOOR.take(body, kind, map=name)
    except UsageError as refused:
        return str(refused) if not BOX.kept else "kept\n"
    return "" if len(taken) == len(BOX.kept) else "lost\n"


@given(payload=VALUES | GROUPS, kind=st.sampled_from(get_args(Kind)))
def test_any_json_is_taken_or_refused_in_one_line(payload: Json, kind: Kind) -> None:
    assert "\n" not in refusal(json.dumps(payload).encode(), kind)


@given(payload=VALUES, name=st.sampled_from(sorted(built_in())))
@example(payload={"Message": {"AlarmName": ["x"]}}, name="cloudwatch")
def test_any_json_is_taken_or_refused_by_every_map(payload: Json, name: str) -> None:
    assert "\n" not in refusal(json.dumps(payload).encode(), "generic", name)


@given(body=st.binary(max_size=200))
def test_any_bytes_are_taken_or_refused(body: bytes) -> None:
    assert "\n" not in refusal(body, "any")
