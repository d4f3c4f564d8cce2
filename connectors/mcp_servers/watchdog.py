"""What ends a program with all that it started once our process is gone, whatever took us away.

After a `kill -9` nobody of us is left to send a signal, and a program may ignore that its input
closed. So a shell waits beside each program for one pipe to close, which the kernel does for us.
"""

from asyncio.subprocess import DEVNULL, PIPE, Process, create_subprocess_exec
from contextlib import suppress
from typing import Self

WAIT_THEN_KILL = 'read -r group && { read -r never || kill -s KILL -- "-$group"; }'
"""It ends at once where it was told of no group: then nothing was started."""


class Watchdog:
    """A shell that waits for our end. It belongs to the event loop that started it."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @classmethod
    async def start(cls) -> Self:
        """One that watches over nothing yet. Raises OSError."""
        return cls(
            await create_subprocess_exec(
                "/bin/sh",
                "-c",
                WAIT_THEN_KILL,
                stdin=PIPE,
                stdout=DEVNULL,
                stderr=DEVNULL,
                env={},
                start_new_session=True,  # so that Ctrl-C does not reach it
            )
        )

    def watch(self, group: int) -> None:
        """End that process group from now on, should we be gone."""
        assert self._process.stdin
        self._process.stdin.write(f"{group}\n".encode())

    async def stop(self) -> None:
        """Watch no more: the group has ended, and its number may soon be another's."""
        assert self._process.stdin
        with suppress(ProcessLookupError):
            self._process.kill()
        self._process.stdin.close()
        await self._process.wait()
