"""A transport that sends what is written in one turn of the loop as one piece."""

import asyncio
from typing import Any


class Gathered(asyncio.Transport):
    """In front of *transport*: head and body of an answer leave in one system call.

    At each such call the thread of the event loop loses its turn to whoever computes meanwhile.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._pieces: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send it before the loop waits again."""
        if not self._pieces:
            self._loop.call_soon(self._flush)
        self._pieces.append(bytes(data))

    def close(self) -> None:
        """Send what was written, then close."""
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Close at once; what was written is lost."""
        self._pieces.clear()
        self._transport.abort()

    def is_closing(self) -> bool:
        """Whether it is closed or about to be."""
        return self._transport.is_closing()

    def pause_reading(self) -> None:
        """Read no more."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        self._transport.resume_reading()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What the transport knows of its socket."""
        return self._transport.get_extra_info(name, default)

    def _flush(self) -> None:
        if self._pieces:
            together = b"".join(self._pieces)
            self._pieces.clear()
            self._transport.write(together)
