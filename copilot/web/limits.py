"""How much of one sender's time, bytes and connections the daemon bears with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds, bytes and counts. A test makes them small."""

    body_bytes: int = 1 << 20
    path_bytes: int = 2048
    headers: int = 100
    header_bytes: int = 16 << 10
    connections: int = 100
    header_s: float = 5.0
    """From the opening of a connection, or the last answer, to the end of a request's head."""
    body_s: float = 10.0
    answer_s: float = 10.0
    """For what the daemon does with a request; it is as long as senders wait."""
    linger_s: float = 0.5
    """How long a refused sender may go on sending, so that it reads the refusal."""
    threads: int = 4
    """For reading large bodies at the same time; to wait for the disk takes none."""
