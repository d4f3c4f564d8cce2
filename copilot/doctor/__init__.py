"""Is everything in place? Each check says what it found and, where something is wrong, one way out.

Changes nothing (an index, a folder, a key that a look would make is not looked into), but that it
keeps what MCP servers say of their tools.
"""

from copilot.doctor.check import Check
from copilot.doctor.examination import examine

__all__ = ["Check", "examine"]
