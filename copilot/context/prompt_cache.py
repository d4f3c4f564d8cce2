"""The service's prompt cache, simulated: what of a request it would read, write and pay in full.

Rules as documented: tools, then system, then messages; written only at cache marks, and only where
the beginning is long enough; found at a mark or up to 20 blocks before it. What was written is
taken to live on: who asks again within its lifetime keeps it.
"""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from copilot.models.model import Json, Request
from copilot.models.usage import Usage
from copilot.values import canonical, compact

LOOKBACK = 20
USUAL_MINIMUM = 1024
"""Tokens; the shortest beginning that is cached, where a model's own is not known."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the prompt. `ttl` is that of its cache mark, empty without one."""

    key: bytes
    bytes: int
    ttl: str


class PromptCache:
    """Every beginning that was written so far, of one model."""

    def __init__(self, minimum: int = USUAL_MINIMUM) -> None:
        self._minimum = minimum
        self._known: set[bytes] = set()

    def use(self, blocks: Sequence[Block], per_byte: float) -> Usage:
        """The tokens of a request made of *blocks*: read, written, and neither. No output."""
        sizes, digests = _beginnings(blocks, per_byte)
        marks = [
            place
            for place, block in enumerate(blocks)
            if block.ttl and sizes[place] >= self._minimum
        ]
        hit = max((place for mark in marks for place in self._found(digests, mark)), default=-1)
        read = done = sizes[hit] if hit >= 0 else 0
        written = {"5m": 0, "1h": 0}
        for mark in marks:
            self._known.add(digests[mark])
            if mark > hit:
                written[blocks[mark].ttl] += sizes[mark] - done
                done = sizes[mark]
        total = sizes[-1] if sizes else 0
        return Usage(
            input=total - done,
            cache_read=read,
            cache_write=written["5m"] + written["1h"],
            cache_write_1h=written["1h"],
        )

    def _found(self, digests: Sequence[bytes], mark: int) -> Iterator[int]:
        """The known beginnings that the service finds from *mark*."""
        for place in range(mark, max(-1, mark - LOOKBACK), -1):
            if digests[place] in self._known:
                yield place


def blocks_of(request: Request, cleared: Collection[str] = ()) -> list[Block]:
    """The request as the cache sees it, the results of the calls *cleared* emptied by the service.

    Sizes are those that the view counts, so that both add up to the same; what the service puts in
    place of a cleared result is short and not documented, and counts as nothing.
    """
    found = [_block("tools", tool) for tool in request.tools]
    for block in request.system:
        text = str(block["text"]).encode("utf-8", "replace")
        found.append(Block(b"system\n" + text, len(text), _ttl(block)))
    # A change of these keeps tools and system cached and loses the messages.
    settings = canonical([request.tool_choice, request.extra.get("thinking")])
    for message in request.messages:
        before = f"{settings}{message['role']}"
        for block in message["content"]:
            if block.get("tool_use_id") in cleared:
                emptied = _block(before, block | {"content": ""})
                found.append(Block(emptied.key, 0, emptied.ttl))
            else:
                found.append(_block(before, block))
    return found


def _block(before: str, block: Json) -> Block:
    """The block below *before*, without its cache mark, which is never read and may move."""
    plain = {key: value for key, value in block.items() if key != "cache_control"}
    text = compact(plain).encode("utf-8", "replace")
    return Block(before.encode() + b"\n" + text, len(text), _ttl(block))


def _ttl(block: Json) -> str:
    mark = block.get("cache_control")
    return str(mark.get("ttl", "5m")) if mark else ""


def _beginnings(blocks: Sequence[Block], per_byte: float) -> tuple[list[int], list[bytes]]:
    """Tokens and digest of the prompt up to and with each block."""
    sizes, digests, digest, size = [], [], b"", 0
    for block in blocks:
        digest = hashlib.sha256(digest + block.key).digest()
        size += block.bytes
        digests.append(digest)
        sizes.append(round(size * per_byte))
    return sizes, digests
