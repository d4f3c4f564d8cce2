"""A SQLite connection that can read one table and nothing else, and not for long.

An authorizer allows reading `rows` and a list of functions; limits on length, depth and time stop
the rest. `LIKE` and `REGEXP` run on RE2: SQLite's own LIKE can be made to run for minutes inside
one instruction, where no time limit reaches it.
"""

import re
import sqlite3

from copilot import safe_regex
from copilot.errors import PatternError
from copilot.scratch.seeking import Seeker

CHECKED_EVERY = 200
"""SQLite instructions between two looks at the clock."""
TABLES = frozenset({"rows", "json_each", "json_tree"})
FUNCTIONS = (
    "-> ->> abs avg coalesce count date datetime dense_rank first_value group_concat ifnull iif "
    "json json_array json_array_length json_each json_extract json_group_array json_group_object "
    "json_object json_tree json_type json_valid julianday lag last_value lead length like lower "
    "max min nth_value ntile nullif rank regexp round row_number sign strftime substr substring "
    "sum time total typeof unixepoch upper"
)
"""Not among them: printf, replace, instr, trim, zeroblob and whatever else can be made to take
long, or large, inside one instruction."""


def lock(database: sqlite3.Connection, seeker: Seeker) -> list[str]:
    """Allow nothing but reading `rows`, until *seeker* is late.

    Comes back with the list into which each refusal will be put, in words for the model.
    """
    refusals: list[str] = []
    functions = frozenset(FUNCTIONS.split())

    def allows(action: int, name: str | None, detail: str | None, *_: str | None) -> int:
        allowed = (
            action == sqlite3.SQLITE_SELECT
            or (action == sqlite3.SQLITE_READ and (name or "").lower() in TABLES)
            or (action == sqlite3.SQLITE_FUNCTION and (detail or "").lower() in functions)
        )
        if not allowed:
            refusals.append(_refused_action(action, name, detail))
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    for table in ("json_each", "json_tree"):
        # Used once before the lock, a table-valued function needs no more than to be read.
        database.execute(f"SELECT 1 FROM {table}('[]')").fetchall()
    _match_by_re2(database, seeker, refusals)
    database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    database.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 60)
    database.setlimit(sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 5)
    database.set_progress_handler(lambda: int(seeker.is_late()), CHECKED_EVERY)
    database.set_authorizer(allows)
    return refusals


def _match_by_re2(database: sqlite3.Connection, seeker: Seeker, refusals: list[str]) -> None:
    """Put RE2 behind REGEXP and LIKE."""
    patterns: dict[str, safe_regex.Pattern] = {}

    def regexp(source: object, text: object) -> bool | None:
        if source is None or text is None:
            return None
        try:
            if str(source) not in patterns:
                patterns[str(source)] = safe_regex.compile(str(source))
        except PatternError as error:
            refusals.append(str(error))
            raise
        return seeker.span(patterns[str(source)], str(text)) is not None

    def like(pattern: object, text: object, escape: str = "") -> bool | None:
        return None if pattern is None else regexp(_as_regex(str(pattern), escape), text)

    database.create_function("regexp", 2, regexp, deterministic=True)
    database.create_function("like", 2, like, deterministic=True)
    database.create_function("like", 3, like, deterministic=True)


def _as_regex(pattern: str, escape: str) -> str:
    """A LIKE pattern in RE2: % is any run, _ any character, case of letters does not count."""
    parts = ["(?is)\\A"]
    characters = iter(pattern)
    for character in characters:
        if escape and character == escape:
            parts.append(re.escape(next(characters, "")))
        else:
            parts.append({"%": ".*", "_": "."}.get(character) or re.escape(character))
    return "".join([*parts, "\\z"])


def _refused_action(action: int, name: str | None, detail: str | None) -> str:
    match action:
        case sqlite3.SQLITE_FUNCTION:
            return f"the function {detail} is refused; allowed: {FUNCTIONS}"
        case sqlite3.SQLITE_READ:
            return f"the table {name} is refused; the only table is rows"
        case sqlite3.SQLITE_RECURSIVE:
            return "WITH RECURSIVE is refused"
        case _:
            return "only one SELECT over the table rows is allowed"
