"""Where an OpenSearch is and how it is spoken to; which indices it may be asked for. No I/O."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

EpochUnit = Literal["s", "ms", "us", "ns"]


@dataclass(frozen=True, slots=True)
class Basic:
    """A user and a password."""

    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Bearer:
    """A token: of OpenSearch itself, or of the Grafana in front of it."""

    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Signed:
    """AWS Signature Version 4. `service` is `es` for domains, `aoss` for serverless collections."""

    region: str
    service: str
    key_id: str
    key: str = field(repr=False)
    session_token: str = field(default="", repr=False)


Login = Basic | Bearer | Signed | None


@dataclass(frozen=True, slots=True)
class Patience:
    """How long what may take, in seconds, and how often it is tried."""

    connect_s: float = 5.0
    answer_s: float = 30.0
    """For one whole answer. The server is told to stop a little earlier."""
    tries: int = 3

    @property
    def server_time(self) -> str:
        """The time limit of the server itself, with its unit: a bare number is refused there."""
        return f"{max(1, int(self.answer_s * 2 / 3))}s"

    @property
    def cancel_time(self) -> str:
        """When the server ends what is still running, which its own limit does not always do."""
        return f"{max(2, int(self.answer_s * 5 / 6))}s"


@dataclass(frozen=True, slots=True)
class Told:
    """What a person said of the entries, because no mapping says it. Empty: read the mapping."""

    time: str = ""
    time_unit: EpochUnit | None = None
    """For a time that is kept as a plain number."""
    message: str = ""
    level: str = ""
    source: str = ""
    line: str = ""
    keywords: tuple[str, ...] = ()
    """Only behind a proxy that shows no mapping: the fields that filters may use."""
    searched: tuple[str, ...] = ()
    """Fields that a text is looked for in besides the message."""


@dataclass(frozen=True, slots=True)
class Site:
    """One OpenSearch, and the indices of it that make up one logbook."""

    url: str
    indices: tuple[str, ...]
    login: Login = None
    msearch_only: bool = False
    """True behind a Grafana data-source proxy, which lets nothing through but `_msearch`."""
    ca_file: Path | None = None
    client_certificate: Path | None = None
    client_key: Path | None = None
    patience: Patience = Patience()
    told: Told = Told()

    @property
    def path(self) -> str:
        """The indices as they stand in a path."""
        return ",".join(self.indices)


def permitted(index: str, known: Sequence[str] | frozenset[str], patterns: Sequence[str]) -> bool:
    """True when an entry of that index belongs to the logbook.

    *known* are the indices that the configured names stood for when the server was last asked.
    """
    return index in known or any(
        fnmatchcase(index, name) or fnmatchcase(index, f".ds-{name}-*") for name in patterns
    )


def headers_of(login: Login) -> Mapping[str, str]:
    """The headers of a login that is the same for every request."""
    match login:
        case Basic():
            pair = f"{login.user}:{login.password}".encode()
            return {"authorization": "Basic " + b64encode(pair).decode()}
        case Bearer():
            return {"authorization": f"Bearer {login.token}"}
        case _:
            return {}
