"""One real OpenSearch node for a test session; see `node.py`."""
