"""How the C library keeps what is free: little of it, so that a daemon of weeks does not grow.

Elsewhere than on glibc nothing is changed, and what the environment says of glibc decides.
"""

import ctypes
from collections.abc import Mapping

ARENA_MAX, MMAP_THRESHOLD = -8, -3
"""glibc's names, from malloc.h: the most heaps, and from which size a block is no part of one."""
HEAPS = 2
LARGE_BYTES = 128 << 10


def keep_little(environ: Mapping[str, str]) -> None:
    """Let all threads share two heaps, and let none of these hold a large block.

    glibc makes eight heaps a core, and each keeps what was free in it when its threads ended. It
    also moves large blocks into the heaps once it has seen one freed; what small things then come
    to lie behind them, the heap cannot shrink below. Either way the process would grow for weeks
    though it holds no more than before.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt and "MALLOC_ARENA_MAX" not in environ:
        mallopt(ARENA_MAX, HEAPS)
    if mallopt and "MALLOC_MMAP_THRESHOLD_" not in environ:
        mallopt(MMAP_THRESHOLD, LARGE_BYTES)
