"""Filters in words, for the text of an alert."""

from connectors.logbook import Filters


def said(filters: Filters) -> str:
    """What an entry must match, as a person would write it; `any entry` when nothing."""
    parts = [f"level {' or '.join(filters.levels)}"] if filters.levels else []
    parts += [f"{name}={value}" for name, value in filters.fields.items()]
    parts += [f"text {filters.text}"] if filters.text else []
    return ", ".join(parts) or "any entry"
