"""The operations copilot: an alert becomes a report whose every claim can be checked.

Start reading at `investigation.py`. Importing this package reads, writes and prints nothing.
"""

__version__ = "0.1.0"
