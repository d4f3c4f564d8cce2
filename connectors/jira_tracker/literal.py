r"""Any text as one JQL literal, or none at all.

Everything is quoted, so no word is reserved and no value ends early; in quotes only `\` and `"`
have a meaning, and both are escaped (the backslash first). Control characters are refused: a line
break ends a literal, and no ticket holds the others. Source: the grammar in Atlassian's
documentation of JQL ("Special characters", "Reserved words").
"""

import re

from copilot.errors import UsageError

UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def literal(value: str) -> str:
    """The JQL literal for *value*. Raises UsageError for control characters."""
    if UNFIT.search(value):
        raise UsageError(f"{value!r} holds a control character; leave it out")
    return f'"{_escaped(value)}"'


def any_of(values: tuple[str, ...]) -> str:
    """The JQL list for *values*, as in `("A", "B")`. Raises UsageError."""
    if not all(value.strip() for value in values):
        raise UsageError("an empty value matches nothing; leave it out")
    return f"({', '.join(literal(value) for value in values)})"


def phrase(words: str) -> str:
    """The JQL literal for a text search that takes *words* as they stand, one after another.

    A text search has a syntax of its own inside the literal: quoted there, it has no operators.
    """
    return literal(f'"{_escaped(words)}"')


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
