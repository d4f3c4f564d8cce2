"""The process around a daemon: its log, its signals, its exit code."""

import gc
import os
import resource
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress

from copilot import __version__, traces
from copilot.daemon import doorplate, heap
from copilot.errors import ConfigError, EngineHeldError
from copilot.loading import load
from copilot.logs import set_up
from copilot.workspace import Workspace

FEW_FILES = 64
MANY_FILES = 8192
TURN_S = 0.0005
"""A thread has the interpreter for so long while others want it. A sender's answer passes through
several threads, and at Python's 5 ms each would wait behind investigations that compute."""
GARBAGE_AFTER = 10_000
"""So many new objects bring the next look for garbage among the young; Python's 700 are soon
reached when many senders come, and nearly all of what they leave needs no looking for."""


def serve(open_workspace: Callable[[], Workspace], environ: Mapping[str, str]) -> int:
    """Serve until SIGTERM, then leave the process. Raises CopilotError when it cannot start."""
    sys.setswitchinterval(TURN_S)
    heap.keep_little(environ)
    _allow_files()
    os.umask(0o077)  # whatever it makes is its own, however it was started
    workspace = open_workspace()
    settings = workspace.settings
    held = None if settings.daemon.database else doorplate.find(settings.state)
    if held:  # told at once: the daemon's own libraries take a second to load
        raise EngineHeldError(
            f"{settings.state} is in use by another daemon (process {held.pid}, "
            f"{held.url}); stop that one first, or give this one a workspace of its own"
        )
    load("copilot.daemon.daemon")
    from copilot.daemon.daemon import Daemon
    from copilot.daemon.signals import Signals

    set_up(sys.stderr, workspace.redactor)
    traces.export(environ, __version__)
    signals = Signals()
    signals.listen()
    daemon = Daemon(open_workspace, environ, signals)
    daemon.start()
    settle()
    daemon.run()
    daemon.leave()
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(0)  # threads wait at the gate: their runs go on at the next start


def settle() -> None:
    """Look for garbage less often, and not among what was loaded: that stays for good.

    Python would look through all of it every few seconds and stop every thread for a quarter of a
    second meanwhile, so that one sender in ten waited for that. It looks through the old when a
    quarter as many are new as it counted the last time, so it counts anew what is left: nothing.
    """
    gc.collect()
    gc.freeze()
    gc.collect()
    gc.set_threshold(GARBAGE_AFTER, *gc.get_threshold()[1:])


def _allow_files() -> None:
    """Take as many open files as we may; raise ConfigError when those are too few to work with."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MANY_FILES if hard == resource.RLIM_INFINITY else min(hard, MANY_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # forbidden by a strict unit, which has its own limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    if hard != resource.RLIM_INFINITY and hard < FEW_FILES:
        raise ConfigError(
            f"this process may have {hard} open files and the daemon needs {FEW_FILES}; "
            "raise it: ulimit -n, or LimitNOFILE= in the unit"
        )
