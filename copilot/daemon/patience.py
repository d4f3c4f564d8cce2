"""A worker's way to the inbox: while that cannot be written or read, the worker waits.

What a worker has to tell stands nowhere else, and giving the run back would only make it wait
there. Its own process may leave meanwhile: the run is taken up again where it was.
"""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from copilot.errors import InboxError

LOG = logging.getLogger(__name__)
PAUSE_S = 0.5
T = TypeVar("T")


def patiently(ask: Callable[[], T], sleep: Callable[[float], None] = time.sleep) -> T:
    """What *ask* returns once the inbox answers. Raises InboxError that waiting cannot mend."""
    is_said = False
    while True:
        try:
            return ask()
        except InboxError as error:
            if not error.retryable:
                raise
            if not is_said:
                LOG.warning("a worker waits for the inbox", extra={"why": str(error)})
            is_said = True
        sleep(PAUSE_S)
