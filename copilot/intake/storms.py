"""Storms: many troubles of one group at once are one incident, whose alert lists its members.

Every member stays an alert of its own with its own key, so that repeats and ends are told apart;
only the incident is shared.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from copilot.identity import identity
from copilot.inbox.values import SEVERITIES, Arrival
from copilot.intake import fields
from copilot.intake.bounds import TEXT_CHARACTERS
from copilot.values import JsonObject, object_at, text_at

LISTED = 50
"""Members with a line of their own."""
VALUES = 5
"""Values of a label that are counted by name."""


def together(
    arrivals: Sequence[Arrival], labels: Mapping[str, str], identity_labels: Sequence[str]
) -> list[Arrival]:
    """The arrivals as alerts of one incident, the one with the list first.

    *labels* are the group's; without any, those that all members share. Ignored ones stay apart.
    """
    members = [one for one in arrivals if not one.ignored]
    members.sort(key=lambda one: one.status != "firing")  # what is over opens no incident
    named = [_labels(one) for one in members]
    shared = dict(labels) or _shared(named)
    first = members[0]
    title = fields.title(f"Many alerts at once: {fields.words(shared) or first.source}")
    same = identity(shared, title, identity_labels)
    severities = [one.severity for one in members if one.status == "firing"] or [first.severity]
    alert: JsonObject = {
        **first.alert,
        "title": title,
        "text": fields.cut("\n".join(_lines(members, named, shared)), TEXT_CHARACTERS),
        "labels": dict(shared),
    }
    head = replace(first, alert=alert, severity=min(severities, key=SEVERITIES.index))
    ignored = [one for one in arrivals if one.ignored]
    return [*(replace(one, identity=same) for one in (head, *members[1:])), *ignored]


def _lines(
    members: Sequence[Arrival], named: Sequence[Mapping[str, str]], shared: Mapping[str, str]
) -> list[str]:
    """How many there are, by label, and then the members themselves."""
    firing = sum(one.status == "firing" for one in members)
    troubles = len({one.identity for one in members})
    over = len(members) - firing
    lines = [
        f"{len(members)} alerts of one group came at once, of {troubles} different troubles.",
        f"{firing} are firing, {over} are resolved.",
    ]
    if text := text_at(members[0].alert, "text"):
        lines.append(f"The first says: {text}")
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for labels in named:
        for name in labels.keys() - shared.keys():
            counted[name][labels[name]] += 1
    for name, values in sorted(counted.items()):
        usual = [f"{value} ({times})" for value, times in values.most_common(VALUES) if times > 1]
        if usual:
            lines.append(f"{name}: {', '.join(usual)}{', …' if len(values) > len(usual) else ''}")
    lines += fields.differences(named[:LISTED], shared)
    if len(members) > LISTED:
        lines.append(f"… and {len(members) - LISTED} more")
    return lines


def _labels(arrival: Arrival) -> dict[str, str]:
    return {name: str(value) for name, value in object_at(arrival.alert, "labels").items()}


def _shared(named: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The labels that are the same in all members."""
    first = named[0]
    return {
        name: value
        for name, value in first.items()
        if all(labels.get(name) == value for labels in named)
    }
