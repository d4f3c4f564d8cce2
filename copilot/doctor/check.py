"""What one look came to."""

from dataclasses import dataclass
from typing import Literal

Tier = Literal["local", "reach", "model"]
State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `fix` is empty exactly when its state is ok."""

    tier: Tier
    name: str
    state: State
    found: str
    fix: str = ""


def ok(name: str, found: str) -> Check:
    """Something of this machine that is well."""
    return Check("local", name, "ok", found)


def warn(name: str, found: str, fix: str) -> Check:
    """Something of this machine that should be looked at."""
    return Check("local", name, "warn", found, fix)


def fail(name: str, found: str, fix: str) -> Check:
    """Something of this machine that must be mended."""
    return Check("local", name, "fail", found, fix)
