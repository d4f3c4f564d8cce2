"""The outside world: logbooks, trackers and libraries.

Knows nothing of models, tokens, incidents or policies. Connectors do not import each other.
"""
