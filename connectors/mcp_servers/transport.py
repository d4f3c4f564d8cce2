"""A server's pipes as the two streams of messages that the vendor's client wants.

What the server says is counted: a message, or all of them since it was last asked, may take
`MAX_BYTES` for each question that is open. Beyond that it is ended, whatever else it would say.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.shared.message import SessionMessage

from connectors.mcp_servers.pipes import MAX_BYTES, Child

Incoming = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[Any]]


class Wire:
    """The messages to and from one program."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.why = ""
        """How it came to its end, once it did."""
        self.is_over = False
        """True from the moment when the ending begins: nothing may cut it short."""
        self.last_words = ""
        """What the program complained of last."""
        self._ended_itself = False
        self._say = say
        self._left = MAX_BYTES

    def complain(self, line: str) -> None:
        """Take a line that the program says outside of its messages."""
        self.last_words = line.strip() or self.last_words
        self._say(line)

    def allow(self, questions: int) -> None:
        """Let the server say as much from now on as answers that many questions."""
        self._left = MAX_BYTES * questions

    @asynccontextmanager
    async def streams(self, child: Child, stop: Callable[[], None]) -> AsyncIterator[Streams]:
        """The streams. *stop* is called when the program says no more; leaving ends it."""
        heard, incoming = anyio.create_memory_object_stream[Incoming](0)
        outgoing, said = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks, heard, incoming, outgoing, said:
            tasks.start_soon(self._read, child, heard, stop)
            tasks.start_soon(_write, child, said)
            try:
                yield incoming, outgoing
            finally:
                self.is_over = True
                with anyio.CancelScope(shield=True):
                    how = await child.end()
                if self._ended_itself:
                    self.why = self.why or how
                tasks.cancel_scope.cancel()

    async def _read(
        self, child: Child, heard: MemoryObjectSendStream[Incoming], stop: Callable[[], None]
    ) -> None:
        try:
            while line := await child.read_line():
                self._left -= len(line)
                if self._left < 0:
                    break
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    self.complain(line.decode("utf-8", "replace"))  # it prints where it must not
                    continue
                await heard.send(SessionMessage(message))
        except ValueError:  # of the line, which is too long to be read
            self._left = -1
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            return  # our own ending
        if self.is_over:
            return
        if self._left < 0:
            self.why = f"sent more than {MAX_BYTES >> 20} MiB at once; ask for less"
        self._ended_itself = True
        stop()


async def _write(child: Child, said: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async for message in said:
        text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            await child.write(f"{text}\n".encode())
        except OSError:
            return  # it ended: the reader tells
