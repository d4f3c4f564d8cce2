"""MCP servers: programs beside us whose tools are offered like ours, once an operator names them.

Only `door.py` and `transport.py` know the vendor's client, and only `pipes.py` the processes;
towards us all of it is plain calls that block for a bounded time.
"""

from connectors.mcp_servers.server import CHANGED, McpServer
from connectors.mcp_servers.values import Launch, RemoteTool, Reply, marked

__all__ = ["CHANGED", "Launch", "McpServer", "RemoteTool", "Reply", "marked"]
