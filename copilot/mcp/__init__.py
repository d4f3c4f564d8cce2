"""MCP servers as connectors: their tools as tools of ours.

Everything that such a server says is a stranger's word; connectors/mcp_servers/ talks to it.
"""
