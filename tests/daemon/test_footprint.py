"""Claims about what a daemon holds: as much after many investigations as after a few."""

import gc
import itertools
import os
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from copilot.daemon import serve
from tests.daemon.running import Investigator, RunningDaemon
from tests.doubles.messages_api import MessagesApi

HEAP_BYTES = 64 << 20
"""What glibc reserves for each heap beside the first, at a multiple of that address."""

GLIBC = pytest.mark.skipif(
    "CS_GNU_LIBC_VERSION" not in os.confstr_names, reason="only glibc keeps what is free in heaps"
)
LARGE_BLOCKS = """
import ctypes
import os
from copilot.daemon import heap
heap.keep_little(os.environ)
freed = bytearray(16 << 20)
del freed  # from now on glibc would take for small what is smaller than this
large = bytearray(1 << 20)
[(first, last)] = [
    (int(part, 16) for part in line.split()[0].split("-"))
    for line in open("/proc/self/maps")
    if line.rstrip().endswith("[heap]")
]
print(first <= ctypes.addressof(ctypes.c_char.from_buffer(large)) < last)
"""


def heaps(pid: int) -> int:
    """The heaps of a process beside the first: what is in use and the reserved rest, adjoining."""
    spans = []
    for line in (Path("/proc") / str(pid) / "maps").read_text().splitlines():
        place, rights, *_, inode = line.split()[:5]
        begin, end = (int(word, 16) for word in place.split("-"))
        spans += [(begin, end, rights)] if inode == "0" else []
    return sum(
        begin % HEAP_BYTES == 0
        and used == "rw-p"
        and rest == "---p"
        and limit - begin == HEAP_BYTES
        for (begin, end, used), (start, limit, rest) in itertools.pairwise(spans)
        if end == start
    )


@GLIBC
def test_the_threads_of_investigations_share_two_heaps(tmp_path: Path) -> None:
    with (
        MessagesApi(responder=Investigator(turns=3)) as api,
        RunningDaemon(tmp_path, api) as daemon,
    ):
        daemon.wait_for(daemon.send("wf_alpha_001"))
        assert daemon.process

        assert heaps(daemon.process.pid) == 1


def test_the_library_of_the_model_is_loaded_before_the_first_alert(tmp_path: Path) -> None:
    with MessagesApi() as api, RunningDaemon(tmp_path, api) as daemon:
        assert daemon.process
        mapped = (Path("/proc") / str(daemon.process.pid) / "maps").read_text()

    assert "/jiter/" in mapped  # the part of that library that is not Python


def test_garbage_is_not_looked_for_among_what_was_loaded_at_the_start() -> None:
    thresholds, before = gc.get_threshold(), len(gc.get_objects())
    try:
        serve.settle()

        assert len(gc.get_objects()) < before / 10
        assert gc.get_threshold()[0] > thresholds[0]
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)


class Ring:
    """Garbage that only a search finds, once nobody has it."""

    def __init__(self) -> None:
        self.itself = self


def test_what_becomes_garbage_later_is_found_soon_however_much_was_loaded() -> None:
    thresholds, kept = gc.get_threshold(), list[list[int]]()
    gc.unfreeze()
    try:
        serve.settle()
        gc.set_threshold(100, 5, 5)
        ring = Ring()
        found = weakref.ref(ring)
        kept += ([] for _ in range(5_000))  # by then it counts as old
        del ring
        kept += ([] for _ in range(5_000))

        assert found() is None
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)


@GLIBC
@pytest.mark.parametrize(
    ("environ", "is_in_heap"), [({}, "False"), ({"MALLOC_MMAP_THRESHOLD_": "2000000"}, "True")]
)
def test_a_large_block_lies_in_no_heap_unless_the_environment_says_so(
    environ: dict[str, str], is_in_heap: str
) -> None:
    told = subprocess.run(
        [sys.executable, "-c", LARGE_BLOCKS],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=True,
    )

    assert told.stdout.strip() == is_in_heap
