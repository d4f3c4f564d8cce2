"""MCP servers as connectors: what the settings say of them, and their tools as tools of ours.

Everything that such a server says is a stranger's word; connectors/mcp_servers/ talks to it.
"""
