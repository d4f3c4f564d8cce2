"""A mutant of the copilot: it acts on answers of the model that it has not recorded.

The crash suite must find it out. It is run as a program, with the arguments of `copilot`.
"""

import os
from typing import Any

from copilot import cli
from copilot.journal import Journal


def _forget(journal: Journal, line: bytes) -> None:
    """Write nothing of an answer; all else as ever."""
    if b'"kind":"response"' in line[:200]:
        line = line.replace(b'"kind":"response"', b'"kind":"request"', 1)
    os.write(journal._file, line)


Journal._write = _forget  # type: ignore[method-assign, assignment]

if __name__ == "__main__":
    main: Any = cli.main
    main()
