"""Offloaded results of a workspace: one folder an incident, one file a result, named by handle.

The model names handles (`R0007`) and references (`R0007:41`), never paths. Nothing read back is
larger than the budget it was asked with. `store.py` writes, `reading.py`, `searching.py` and
`query.py` read, `sweeping.py` makes room, `folder.py` is the only one that opens files.
"""
