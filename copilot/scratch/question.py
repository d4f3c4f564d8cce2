"""The typed way to ask a stored result: conditions, groups and an order instead of SQL. Pure.

Column names are checked against those that there are, values are bound, so nothing that is asked
can be anything but a question about the rows.
"""

import re
from dataclasses import dataclass
from typing import Literal

from copilot.errors import ScratchError
from copilot.scratch.query import Bounds, Table, quoted, run
from copilot.scratch.store import Scratch
from copilot.values import Json

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "contains", "matches", "in", "is_empty"]
AGGREGATE = re.compile(r"(min|max|sum|avg|distinct)\((.+)\)")


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that must hold. `in` takes a list; `is_empty` takes true or false."""

    column: str
    operator: Operator
    value: Json


@dataclass(frozen=True, slots=True)
class Question:
    """What to show of which rows.

    `select` names columns, and count, min(x), max(x), sum(x), avg(x) and distinct(x) of them.
    `order_by` names one of those; a minus in front turns the order round. Groups come with their
    count and first line unless `select` says otherwise, the largest first.
    """

    select: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    group_by: tuple[str, ...] = ()
    order_by: str = ""


def ask(scratch: Scratch, handle: str, question: Question, bounds: Bounds) -> Table:
    """The answer from that result. Raises ScratchError naming the columns that there are."""
    return run(scratch, handle, lambda columns: statement(question, columns), bounds)


def statement(question: Question, columns: tuple[str, ...]) -> tuple[str, tuple[Json, ...]]:
    """The question as one SELECT with its values."""
    names = {column.lower(): column for column in columns}
    chosen = question.select or (("count", *question.group_by) if question.group_by else columns)
    shown = [_expression(name, names) for name in chosen]
    if question.group_by and not question.select:
        # SQLite takes the other columns from the row that has the minimum.
        shown += ["ref AS first_ref", "min(rowid) AS first_line"]
    values: list[Json] = []
    conditions = [_condition(condition, names, values) for condition in question.where]
    sql = f"SELECT {', '.join(shown)} FROM rows"
    if conditions:
        sql += f" WHERE {' AND '.join(conditions)}"
    if question.group_by:
        sql += f" GROUP BY {', '.join(_column(name, names) for name in question.group_by)}"
    order = question.order_by or ("-count" if question.group_by else "")
    if order:
        direction = "DESC" if order.startswith("-") else "ASC"
        sql += f" ORDER BY {_expression(order.removeprefix('-'), names)} {direction}"
    return sql, tuple(values)


def _expression(name: str, names: dict[str, str]) -> str:
    if name == "count" and name not in names:
        return "count(*)"
    if match := AGGREGATE.fullmatch(name):
        function, inner = match[1], _column(match[2], names)
        return f"count(DISTINCT {inner})" if function == "distinct" else f"{function}({inner})"
    return _column(name, names)


def _column(name: str, names: dict[str, str]) -> str:
    if name.lower() not in names:
        raise ScratchError(
            f"there is no column {name[:60]!r}; there are: {', '.join(names.values())}"
        )
    return quoted(names[name.lower()])


def _condition(condition: Condition, names: dict[str, str], values: list[Json]) -> str:
    """The condition in SQL; its values are added to *values*."""
    column = _column(condition.column, names)
    match condition.operator:
        case "is_empty":
            return f"coalesce({column}, '') {'=' if condition.value else '!='} ''"
        case "in":
            items = condition.value if isinstance(condition.value, list) else [condition.value]
            values.extend(items)
            return f"{column} IN ({', '.join('?' * len(items))})"
        case "contains":
            plain = re.sub(r"([%_~])", r"~\1", str(condition.value))
            values.append(f"%{plain}%")
            return f"{column} LIKE ? ESCAPE '~'"
        case "matches":
            values.append(str(condition.value))
            return f"{column} REGEXP ?"
        case "=" | "!=" | "<" | "<=" | ">" | ">=":
            values.append(condition.value)
            return f"{column} {condition.operator} ?"
