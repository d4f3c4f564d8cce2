"""Loading of large libraries, without a search for garbage among what stays for good.

While thousands of modules load, Python looks through all of them again and again and finds nothing,
for a fifth to a third of the time. What was loaded is set aside, so that the later searches, which
stop every thread, pass over it as well.
"""

import gc
import sys
from importlib import import_module


def load(module: str) -> None:
    """Return when that module is loaded; only the first time does anything."""
    if module in sys.modules:
        return
    was_on = gc.isenabled()
    gc.disable()
    try:
        import_module(module)
    finally:
        gc.freeze()
        if was_on:
            gc.enable()
