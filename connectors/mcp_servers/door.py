"""The vendor's MCP client behind blocking calls: its loop runs in one thread of its own.

What the client offers besides is left out. Sampling, elicitation and roots are not answered, so
that no server can ask our model or a person for anything; results are not validated by the schema
of the server, whose patterns could take all the time there is.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, TypeVar, cast

import anyio
from mcp import Client, MCPError, types

from connectors.mcp_servers.pipes import Child
from connectors.mcp_servers.transport import Wire
from connectors.mcp_servers.values import Launch, RefusedError, RemoteTool, marked
from copilot.errors import ConnectorError
from copilot.values import Json, JsonObject

PAGES = 20
"""Of a listing; more than that is a server that never comes to an end."""
PROBE_S = 2.0
"""How long a server that let a call time out may take to show that it is alive."""
END_S = 6.0
"""How long its ending may take: longer than every signal in `pipes.py` together."""
T = TypeVar("T")


class Session:
    """A server that was started. When it ended, another session must be opened."""

    def __init__(
        self, launch: Launch, clean: Callable[[str], str], say: Callable[[str], None]
    ) -> None:
        """*clean* makes a text of the server fit to be shown; *say* logs what it complains of."""
        self._launch = launch
        self._clean = clean
        self._wire = Wire(say)
        self._begun, self._ready, self._ended = (threading.Event() for _ in range(3))
        self._questions = 0
        self._thread = threading.Thread(target=self._run, name=f"mcp-{launch.name}", daemon=True)

    def open(self) -> None:
        """Start the server and shake hands with it. Raises ConnectorError."""
        self._thread.start()
        seconds = self._launch.timeout_s
        if not self._ready.wait(seconds):
            self.close()
            raise self._error(f"did not answer within {seconds:g} s of its start")
        if self._ended.is_set():
            raise self._gone()

    @property
    def is_open(self) -> bool:
        """Whether it can be called."""
        return self._ready.is_set() and not self._ended.is_set()

    def tools(self) -> tuple[RemoteTool, ...]:
        """Every tool that the server has. Raises ConnectorError; the server is ended then."""
        seconds = self._launch.timeout_s
        try:
            return tuple(map(_tool, self._ask(self._listing(), seconds)))
        except RefusedError as error:
            problem = self._error(f"does not list its tools: {error}")
        except TimeoutError:
            problem = self._error(f"did not list its tools within {seconds:g} s")
        self.close()
        raise problem

    def call(self, tool: str, arguments: JsonObject) -> JsonObject:
        """The server's answer as JSON. Raises ConnectorError and RefusedError."""
        try:
            result = self._ask(self._answer(tool, arguments), self._launch.timeout_s)
        except TimeoutError:
            self._probe()
            raise self._error(
                f"did not answer {tool} within {self._launch.timeout_s:g} s"
            ) from None
        return cast("JsonObject", result.model_dump(mode="json", by_alias=True, exclude_none=True))

    def close(self) -> None:
        """End the server and all that it started."""
        if self._begun.wait(END_S) and not self._ended.is_set():
            with suppress(RuntimeError):  # the loop ended meanwhile
                self._loop.call_soon_threadsafe(self._stop)
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(END_S)

    def _stop(self) -> None:
        """Unwind, once: a second cancellation would cut the ending of the program short."""
        if not self._wire.is_over:
            self._wire.is_over = True
            self._task.cancel()

    def _probe(self) -> None:
        """End a server that is silent altogether, and not only slow with one call."""
        try:
            self._ask(self._listing(), PROBE_S)
        except (TimeoutError, ConnectorError, RefusedError):
            self.close()

    def _ask(self, question: Coroutine[Any, Any, T], seconds: float) -> T:
        """What the server answers to *question*. Raises TimeoutError besides the door's own."""
        if not self.is_open:
            question.close()
            raise self._gone()
        future = asyncio.run_coroutine_threadsafe(self._counted(question), self._loop)
        try:
            return future.result(seconds)
        except TimeoutError:
            future.cancel()  # which also tells the server
            raise
        except CancelledError:
            raise self._gone() from None
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED:
                raise self._gone() from None
            raise RefusedError(self._clean(error.error.message)) from None
        except (RuntimeError, ValueError, OSError, anyio.ClosedResourceError) as error:
            raise self._error(f"gave an answer that is not MCP ({type(error).__name__})") from None

    async def _counted(self, question: Coroutine[Any, Any, T]) -> T:
        self._questions += 1
        self._wire.allow(self._questions)
        try:
            return await question
        finally:
            self._questions -= 1

    async def _answer(self, tool: str, arguments: JsonObject) -> types.CallToolResult:
        params = types.CallToolRequestParams(name=tool, arguments=arguments)
        request = types.CallToolRequest(params=params)
        return await self._client.session.send_request(request, types.CallToolResult)

    async def _listing(self) -> list[types.Tool]:
        found: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(PAGES):
            page = await self._client.session.list_tools(
                params=types.PaginatedRequestParams(cursor=cursor)
            )
            found += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        return found

    def _gone(self) -> ConnectorError:
        self._ended.wait(END_S)
        why = self._wire.why
        if last := self._clean(self._wire.last_words):
            why += f"; it said last: {marked(last)}"
        return self._error(why)

    def _error(self, what: str) -> ConnectorError:
        return ConnectorError(f"{self._launch.name}: the MCP server {what}", retryable=True)

    def _run(self) -> None:
        try:
            asyncio.run(self._live())
        except asyncio.CancelledError:
            self._wire.why = self._wire.why or "was ended"
        except Exception as error:  # noqa: BLE001 - nobody looks into a thread: callers are told why
            self._wire.why = self._wire.why or f"failed: {self._clean(_reason(error))}"
        finally:
            self._begun.set()
            self._ended.set()
            self._ready.set()

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task
        self._task = task
        self._begun.set()
        child = await Child.start(self._launch, self._wire.complain)
        async with Client(self._wire.streams(child, self._stop), cache=None) as self._client:
            self._ready.set()
            await asyncio.Event().wait()  # until it is cancelled, by `close` or by the reader


def _tool(tool: types.Tool) -> RemoteTool:
    hints = tool.annotations
    return RemoteTool(
        name=tool.name,
        description=tool.description or tool.title or "",
        schema=cast("dict[str, Json]", tool.input_schema),
        reads_only=bool(hints and hints.read_only_hint),
    )


def _reason(error: BaseException) -> str:
    """The first fault inside *error*, in a few words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
