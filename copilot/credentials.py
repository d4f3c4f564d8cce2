"""Secrets from the environment or from files, never from settings, and never shown.

In order: the variable NAME, the file that NAME_FILE names, the file NAME in
$CREDENTIALS_DIRECTORY (systemd). A placeholder that was never filled in does not count as a key.
"""

import hmac
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from copilot.errors import CredentialsError

LIMIT_BYTES = 16 << 10
PLACEHOLDER = re.compile(
    r"(?:sk-ant-)?"
    r"(?:<.*>|\$?\{.*\}|x{3,}|\.{3,}|\*{3,}|change[-_]?me|todo|none|null|placeholder"
    r"|(?:your|my|insert|put|enter|paste)[-_].*(?:key|token|secret|password|here).*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Secret:
    """A key. Printing it, formatting it or storing it shows only where it came from."""

    _value: str
    origin: str
    """The variable or the file."""
    warning: str = ""
    """What a person should mend, with the command that does; empty when nothing."""

    def reveal(self) -> str:
        """The key itself, for the one call that sends it."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret(*** from {self.origin})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash(self.origin)

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"the secret from {self.origin} must not be stored")


def secret(name: str, environ: Mapping[str, str], *, is_password: bool = False) -> Secret | None:
    """The secret called *name*, or None when none is set.

    A password is one line of any letters and may hold blanks; any other key is ASCII without.

    Raises CredentialsError when one is set but cannot be a key; the message never holds it.
    """
    if environ.get(name, "").strip():
        return _checked(environ[name], f"the variable {name}", is_password)
    if path := environ.get(f"{name}_FILE", "").strip():
        return _from_file(Path(path), f"{path} ({name}_FILE)", is_password)
    if folder := environ.get("CREDENTIALS_DIRECTORY", "").strip():
        path_there = Path(folder) / name
        if path_there.exists():
            return _from_file(path_there, f"{path_there} ($CREDENTIALS_DIRECTORY)", is_password)
    return None


def _from_file(path: Path, origin: str, is_password: bool) -> Secret | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CredentialsError(f"{origin}: cannot be read ({reason})") from None
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise CredentialsError(f"{origin}: is not a file; name a file that holds only the key")
        content = file.read(LIMIT_BYTES + 1) or b""
    if len(content) > LIMIT_BYTES or not content.strip():
        what = "is empty" if not content.strip() else "is far too large"
        raise CredentialsError(f"{origin}: {what}; it must hold the key and nothing else")
    warning = ""
    if mode & (stat.S_IROTH | stat.S_IWOTH):
        warning = f"{origin} can be read by everyone on this machine; run: chmod 600 {path}"
    return _checked(content.decode("utf-8", "replace"), origin, is_password, warning)


def _checked(text: str, origin: str, is_password: bool, warning: str = "") -> Secret | None:
    value = text.strip()
    is_word = is_password or (value.isascii() and " " not in value)
    if not is_word or not value.isprintable() or "\N{REPLACEMENT CHARACTER}" in value:
        raise CredentialsError(
            f"{origin}: holds a line break, a blank or another character that no key has; "
            "a key is one line"
        )
    return None if PLACEHOLDER.fullmatch(value) else Secret(value, origin, warning)
