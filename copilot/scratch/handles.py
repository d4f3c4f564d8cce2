"""The names of offloaded results: `R0001`, `R0002`, … up to nine digits. Pure.

A reference to a line, `R0007:41`, is `copilot.values.Reference`.
"""

import re

HANDLE = re.compile(r"R(\d{4}|[1-9]\d{4,8})", re.ASCII)


def handle_of(number: int) -> str:
    """The handle of the result stored as the *number*th of its incident, from 1."""
    return f"R{number:04d}"


def number_of(handle: str) -> int:
    """The number in a handle; 0 when *handle* is not exactly one."""
    match = HANDLE.fullmatch(handle)
    return int(match[1]) if match else 0
