"""The MCP server that each entry of the settings names. None of them is started here."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from connectors.mcp_servers import Launch, McpServer
from copilot.credentials import secret
from copilot.errors import ConnectorError, CredentialsError
from copilot.settings.mcp import McpServerSettings


def open_servers(
    entries: Sequence[McpServerSettings],
    environ: Mapping[str, str],
    folder: Path,
    redact: Callable[[str], str],
) -> dict[str, McpServer]:
    """The servers by name. A missing variable is told by the first call that needs it."""
    return {
        entry.name: McpServer(
            Launch(
                name=entry.name,
                command=entry.command,
                folder=folder,
                environment=_environment(entry, environ),
                timeout_s=entry.timeout.total_seconds(),
            ),
            redact=redact,
        )
        for entry in entries
    }


def close_servers(servers: Collection[McpServer]) -> None:
    """End them all at once, with all that they started."""
    if servers:
        with ThreadPoolExecutor(len(servers), thread_name_prefix="mcp-end") as pool:
            list(pool.map(McpServer.close, servers))


def _environment(
    entry: McpServerSettings, environ: Mapping[str, str]
) -> Callable[[], Mapping[str, str]]:
    """PATH and what the settings name, and nothing else of ours: no key of the model above all."""

    def look() -> Mapping[str, str]:
        found = {"PATH": environ.get("PATH", "/usr/bin:/bin")}
        for variable, ours in entry.env.items():
            found[variable] = environ.get(ours) or _secret(entry.name, ours, environ)
        return found

    return look


def _secret(server: str, variable: str, environ: Mapping[str, str]) -> str:
    try:
        found = secret(variable, environ)
    except CredentialsError as error:
        raise ConnectorError(f"{server}: {error}") from None
    if found is None:
        raise ConnectorError(
            f"{server}: {variable} is not set; set it, or name its file in {variable}_FILE"
        )
    return found.reveal()
