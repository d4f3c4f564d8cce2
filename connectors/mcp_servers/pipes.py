"""A program with pipes to it, in a process group of its own, ended with all that it started.

The vendor's own transport would do but for three things: it hands over HOME, USER and more of our
environment, it takes a line of any length, and it cannot pass on what the program complains of.
"""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress

from connectors.mcp_servers.values import Launch
from connectors.mcp_servers.watchdog import Watchdog
from copilot.errors import ConnectorError

MAX_BYTES = 8 << 20
"""The longest message that is taken from a server, and the longest line of its standard error."""
GRACE_S = 1.0
"""How long it may take to end by itself, and once more after SIGTERM."""
LOOK_S = 0.01


class Child:
    """A running program. All of it belongs to one event loop."""

    def __init__(
        self, process: Process, watchdog: Watchdog, listener: "asyncio.Task[None]"
    ) -> None:
        self._process = process
        self._watchdog = watchdog
        self._listener = listener

    @classmethod
    async def start(cls, launch: Launch, say: Callable[[str], None]) -> "Child":
        """The program of *launch*; *say* gets what it complains of. Raises ConnectorError."""
        try:
            watchdog = await Watchdog.start()
            try:
                process = await _started(launch)
            except BaseException:  # also when it is cancelled meanwhile
                await watchdog.stop()
                raise
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ConnectorError(
                f"{launch.command[0]} cannot be started ({reason}); look at mcp_servers in "
                "copilot.yaml"
            ) from None
        watchdog.watch(process.pid)
        return cls(process, watchdog, asyncio.create_task(_listen(process, say)))

    async def read_line(self) -> bytes:
        """The next line, empty at the end. Raises ValueError for one that is too long."""
        assert self._process.stdout
        return await self._process.stdout.readline()

    async def write(self, data: bytes) -> None:
        """Hand *data* over. Raises OSError when nobody reads there any more."""
        assert self._process.stdin
        self._process.stdin.write(data)
        await self._process.stdin.drain()

    async def end(self) -> str:
        """How it ended: by itself once its input is closed, else by a signal to its whole group."""
        assert self._process.stdin
        self._process.stdin.close()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                self._signal(number)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._gone(), GRACE_S)
                break
        self._signal(signal.SIGKILL)  # what it started and left behind
        await self._watchdog.stop()
        # A survivor can hold the pipes open: nothing public closes our ends of them.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._listener, GRACE_S)
        self._process._transport.close()  # type: ignore[attr-defined] # noqa: SLF001
        return _words(self._process.returncode)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _gone(self) -> None:
        # `wait` would also wait for the pipes, which what it started may hold open.
        while self._process.returncode is None:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(LOOK_S)


async def _started(launch: Launch) -> Process:
    return await asyncio.create_subprocess_exec(
        *launch.command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        limit=MAX_BYTES,
        env=dict(launch.environment()),
        cwd=launch.folder,
        start_new_session=True,
    )


async def _listen(process: Process, say: Callable[[str], None]) -> None:
    """Pass on what the program complains of, in whole lines, so that no secret is cut in two.

    It is read to the end, or the program would stop at a full pipe.
    """
    assert process.stderr
    while True:
        try:
            line = await process.stderr.readline()
        except ValueError:
            say(f"[a line of more than {MAX_BYTES >> 20} MiB]")
            continue
        if not line:
            return
        say(line.decode("utf-8", "replace"))


def _words(status: int | None) -> str:
    if status is None:
        return "does not end"
    if status < 0:
        return f"was ended by signal {-status}"
    return f"ended with exit status {status}"
