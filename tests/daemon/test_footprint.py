"""Claims about what a daemon holds: as much after many investigations as after a few."""

import gc
import itertools
import os
from pathlib import Path

import pytest

from copilot.daemon import serve
from tests.daemon.running import Investigator, RunningDaemon
from tests.doubles.messages_api import MessagesApi

HEAP_BYTES = 64 << 20
"""What glibc reserves for each heap beside the first, at a multiple of that address."""


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


@pytest.mark.skipif(
    "CS_GNU_LIBC_VERSION" not in os.confstr_names, reason="only glibc makes heaps for threads"
)
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
