"""The prompt cache: the rules of its breakpoints, and a simulation that reads and writes it."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.doubles.messages_api.refusal import Json, Refusal, extra
from tests.doubles.messages_api.tokens import (
    MESSAGE_OVERHEAD,
    blocks_of,
    canonical,
    count,
    readable,
    system_blocks,
)

MOST_BREAKPOINTS = 4
LOOKBACK = 20
SECONDS = {"5m": 300.0, "1h": 3600.0}


@dataclass(frozen=True, slots=True)
class Segment:
    """One block of the prompt as the cache sees it."""

    key: bytes
    tokens: int
    ttl: str | None


@dataclass(frozen=True, slots=True)
class Counts:
    """Where the prompt's tokens came from and went to."""

    fresh: int
    read: int = 0
    write_5m: int = 0
    write_1h: int = 0

    def usage(self, output: int, kind: str | None = None) -> Json:
        """The usage object of one sampling."""
        usage = {
            "input_tokens": self.fresh,
            "cache_creation_input_tokens": self.write_5m + self.write_1h,
            "cache_read_input_tokens": self.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.write_5m,
                "ephemeral_1h_input_tokens": self.write_1h,
            },
            "output_tokens": output,
        }
        return {"type": kind, **usage} if kind else usage


@dataclass(slots=True)
class Cache:
    """Prefixes that were written at a breakpoint, until they expire. `now` is in seconds."""

    now: Callable[[], float]
    _entries: dict[bytes, tuple[float, str]] = field(default_factory=dict)
    """Prefix -> (when it expires, its TTL)."""

    def use(self, body: Json, minimum: int) -> Counts:
        """Read the longest known prefix, write at the breakpoints, and count both."""
        segments = list(_segments(body))
        hashes, sizes = _prefixes(str(body["model"]), segments)
        marks = [i for i, segment in enumerate(segments) if segment.ttl and sizes[i] >= minimum]
        now = self.now()
        hit = max((place for mark in marks for place in self._known(hashes, mark, now)), default=-1)
        if hit >= 0:  # a read refreshes what it read
            _, ttl = self._entries[hashes[hit]]
            self._entries[hashes[hit]] = (now + SECONDS[ttl], ttl)
        written = {"5m": 0, "1h": 0}
        done = sizes[hit] if hit >= 0 else 0
        for mark in marks:
            ttl = segments[mark].ttl or "5m"
            self._entries[hashes[mark]] = (now + SECONDS[ttl], ttl)
            if mark > hit:
                written[ttl] += sizes[mark] - done
                done = sizes[mark]
        total = sizes[-1] if sizes else 0
        read = sizes[hit] if hit >= 0 else 0
        return Counts(total - done, read, written["5m"], written["1h"])

    def _known(self, hashes: list[bytes], mark: int, now: float) -> Iterator[int]:
        """Yield the places within the lookback of a breakpoint whose prefix is still cached."""
        for place in range(mark, max(-1, mark - LOOKBACK), -1):
            if self._entries.get(hashes[place], (0.0, ""))[0] > now:
                yield place


def check_breakpoints(body: Json) -> None:
    """Refuse more than four breakpoints, a longer TTL after a shorter one, an unknown TTL."""
    marks = [mark for _, mark in _marks(body)]
    automatic = body.get("cache_control")
    for mark in [*marks, *([automatic] if automatic else [])]:
        if mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in SECONDS:
            raise Refusal("cache_control: Input should be ephemeral with a ttl of '5m' or '1h'")
        for name in sorted(set(mark) - {"type", "ttl"}):
            raise extra(f"cache_control.{name}")
    found = len(marks) + bool(automatic)
    if found > MOST_BREAKPOINTS:
        raise Refusal(
            f"A maximum of {MOST_BREAKPOINTS} blocks with cache_control may be provided. "
            f"Found {found}."
        )
    shorter = False
    for path, mark in _marks(body):
        if mark.get("ttl") == "1h" and shorter:
            raise Refusal(
                f"{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a "
                "ttl='5m' cache_control block. Note that blocks are processed in the following "
                "order: `tools`, `system`, `messages`."
            )
        shorter = shorter or mark.get("ttl", "5m") == "5m"


def _marks(body: Json) -> Iterator[tuple[str, Json]]:
    """Yield every explicit breakpoint with its path, in the order of the cache."""
    paths = [(f"tools.{i}", tool) for i, tool in enumerate(body.get("tools") or [])]
    paths += [(f"system.{i}", block) for i, block in enumerate(system_blocks(body))]
    for index, message in enumerate(body["messages"]):
        for place, block in enumerate(blocks_of(message)):
            path = f"messages.{index}.content.{place}"
            paths.append((path, block))
            inner = block.get("content")
            if isinstance(inner, list):
                paths += [(f"{path}.content.{i}", part) for i, part in enumerate(inner)]
    for path, block in paths:
        if block.get("cache_control"):
            yield path, block["cache_control"]


def _segments(body: Json) -> Iterator[Segment]:
    automatic = body.get("cache_control")
    fixed = [*(body.get("tools") or []), *system_blocks(body)]
    for number, block in enumerate(fixed):
        last = number == len(fixed) - 1 and not body["messages"]
        yield Segment(
            canonical(readable(block)), count(block), _ttl(block, automatic if last else None)
        )
    # A change of these keeps tools and system cached, and loses the messages.
    settings = canonical([body.get("tool_choice"), body.get("thinking"), body.get("output_config")])
    for index, message in enumerate(body["messages"]):
        blocks = blocks_of(message)
        for place, block in enumerate(blocks):
            is_last = index == len(body["messages"]) - 1 and place == len(blocks) - 1
            yield Segment(
                settings + message["role"].encode() + canonical(readable(block)),
                count(block) + (MESSAGE_OVERHEAD if place == 0 else 0),
                _ttl(block, automatic if is_last else None),
            )


def _ttl(block: Json, automatic: Json | None) -> str | None:
    mark = block.get("cache_control") or automatic
    return str(mark.get("ttl", "5m")) if mark else None


def _prefixes(model: str, segments: list[Segment]) -> tuple[list[bytes], list[int]]:
    """The hash and the size of the prompt up to and with each segment."""
    hashes, sizes, last, size = [], [], model.encode(), 0
    for segment in segments:
        last = hashlib.sha256(last + segment.key).digest()
        size += segment.tokens
        hashes.append(last)
        sizes.append(size)
    return hashes, sizes
