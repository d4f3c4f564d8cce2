"""What each day cost over all incidents, as a table and as one JSON document."""

from datetime import UTC, timedelta

from copilot.cli.session import Session
from copilot.cli.usage_tables import sums, total_json
from copilot.context.totals import Total
from copilot.spending import Day, SpendingError, by_day, spent_in
from copilot.values import JsonObject


def print_days(session: Session, count: int, *, as_json: bool) -> None:
    """Print the last *count* UTC days, today included, over all incidents."""
    screen = session.screen
    since = session.now().astimezone(UTC).date() - timedelta(days=count - 1)
    parts = []
    folder = session.workspace.settings.state / "journals"
    for journal in sorted(folder.glob("*/[0-9]*.jsonl")):
        try:
            parts.append((journal, spent_in(journal, since)))
        except SpendingError as error:
            screen.say((str(error), "warn"))
    days = by_day(parts)
    whole = sum((day.total for day in days), Total())
    if as_json:
        screen.document(
            {
                "schema": "copilot.usage_days/1",
                "since": since.isoformat(),
                "days": [_day_json(day) for day in days],
                "total": total_json(whole),
            }
        )
        return
    screen.say(f"from {since} on, UTC")
    screen.table(
        ("DAY", "INVESTIGATIONS", "REQUESTS", "INPUT", "READ", "WRITTEN", "OUTPUT", "USD"),
        [
            (str(day.day), str(day.investigations), str(day.total.requests), *sums(day.total))
            for day in days
        ]
        + [("all", "", str(whole.requests), *sums(whole))],
    )


def _day_json(day: Day) -> JsonObject:
    return {
        "day": str(day.day),
        "investigations": day.investigations,
        **total_json(day.total),
    }
