"""Many connections that post at given moments, and how long each waited for its answer.

The wait counts from the moment at which a post was due, not from when its connection was free: a
daemon that stops for a second makes everybody wait who comes in that second.
"""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

PATH = "/v1/alerts/alertmanager"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one post."""

    status: int
    """0: the connection broke."""
    took_s: float
    body: bytes


@dataclass(frozen=True, slots=True)
class Sent:
    """The answers to all posts, in the order of the posts."""

    answers: Sequence[Answer]
    seconds: float

    @property
    def refused(self) -> list[Answer]:
        """Those that are no 2xx."""
        return [one for one in self.answers if one.status // 100 != 2]

    @property
    def a_second(self) -> float:
        """Accepted posts a second."""
        return (len(self.answers) - len(self.refused)) / self.seconds

    def wait_ms(self, share: float) -> float:
        """The milliseconds within which that share of the posts was answered."""
        waits = sorted(one.took_s for one in self.answers)
        return 1000 * waits[max(0, math.ceil(share * len(waits)) - 1)]

    def incidents(self) -> list[str]:
        """The incident that each post of one alert was told."""
        return [
            str(json.loads(one.body)["incidents"][0]["id"])
            for one in self.answers
            if one.status == 200
        ]

    def __str__(self) -> str:
        waits = ", ".join(
            f"{name} {self.wait_ms(share):.0f}"
            for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0))
        )
        return (
            f"{len(self.answers)} posts in {self.seconds:.1f} s: {self.a_second:.0f} accepted/s, "
            f"ack ms {waits}; not 2xx: {len(self.refused)}"
        )


def send(
    url: str, bodies: Sequence[bytes], *, connections: int = 50, a_second: float = 0.0
) -> Sent:
    """Post all of them over so many connections; *a_second* 0: as fast as answers come."""
    return asyncio.run(_send(url, bodies, connections, a_second))


def encoded(body: Mapping[str, Any]) -> bytes:
    """A payload as it is sent."""
    return json.dumps(body, separators=(",", ":")).encode()


async def _send(url: str, bodies: Sequence[bytes], connections: int, a_second: float) -> Sent:
    numbers = count()
    answers: dict[int, Answer] = {}
    began = monotonic() + 0.1

    async def post() -> None:
        line = _Line(url)
        while (number := next(numbers)) < len(bodies):
            due = began + number / a_second if a_second else monotonic()
            await asyncio.sleep(max(0.0, due - monotonic()))
            status, body = await line.post(bodies[number])
            answers[number] = Answer(status, monotonic() - due, body)
        line.close()

    await asyncio.gather(*(post() for _ in range(connections)))
    seconds = monotonic() - began
    return Sent([answers[number] for number in range(len(bodies))], seconds)


class _Line:
    """One connection, opened again when it was closed."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = str(parts.hostname), int(parts.port or 80)
        self._head = (
            f"POST {PATH} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
            "Content-Type: application/json\r\nContent-Length: "
        )
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, body: bytes) -> tuple[int, bytes]:
        """The status and the body of the answer; status 0 when there was none."""
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection(self._host, self._port)
            reader, writer = self._streams
            writer.write(f"{self._head}{len(body)}\r\n\r\n".encode() + body)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            answer = await reader.readexactly(length)
        except (OSError, EOFError):
            self.close()
            return 0, b""
        if b"connection: close" in head:
            self.close()
        return int(head.split(b" ", 2)[1]), answer

    def close(self) -> None:
        """Let the connection go."""
        if self._streams:
            self._streams[1].close()
        self._streams = None
