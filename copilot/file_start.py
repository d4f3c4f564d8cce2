"""The first bytes of an open file, in no more room than they need."""

import os

LEAST_BYTES = 4096
"""Asked for at once also of a file that says it is empty and is being written."""


def file_start(file: int, count: int) -> bytes:
    """At most *count* bytes of a regular file that was just opened.

    `read(count)` would first take *count* bytes of room, however small the file. Where *count* is a
    limit of megabytes and the files are many and small, that tears the heap: what is kept comes to
    lie behind the holes, and the process never gives them back.
    """
    most = max(os.fstat(file).st_size + 1, LEAST_BYTES)
    parts = []
    while count and (part := os.read(file, min(count, most))):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
