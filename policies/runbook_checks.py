"""What a person should look at in a runbook that is right by the letter."""

import re
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase

from policies.runbook import FILE, Runbook

MOST_LINES = 500
"""The Agent Skills standard advises to stay below."""
LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)")
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|/", re.IGNORECASE)


def doubts(runbook: Runbook, carried: Collection[str]) -> Iterator[str]:
    """Each doubt as `file:line: what`. *carried* are the names of the labels that alerts had.

    Where no alert is known yet, nothing can be said of labels.
    """
    file = str(runbook.folder / FILE)
    lines = runbook.text.split("\n")
    if len(lines) > MOST_LINES:
        yield f"{file}:{MOST_LINES}: {len(lines)} lines; it is read whole, so keep it short"
    if not (runbook.alertnames or runbook.labels):
        yield f"{file}:1: metadata has no alertnames and no labels: only a search finds it"
    names = dict.fromkeys(pattern.partition("=")[0] for pattern in runbook.labels)
    strange = [name for name in names if not any(fnmatchcase(one, name) for one in carried)]
    if carried and strange:
        number = next((at for at, line in enumerate(lines, 1) if f"{strange[0]}=" in line), 1)
        what = f"no alert so far had a label {', '.join(strange)}"
        yield f"{file}:{number}: metadata.labels: {what}"
    for number, line in enumerate(lines, 1):
        for target in LINK.findall(line):
            if not OUTSIDE.match(target) and not _is_there(runbook, target):
                yield f"{file}:{number}: the link {target!r} leads nowhere"


def _is_there(runbook: Runbook, target: str) -> bool:
    place = runbook.folder / target
    return place.is_file() or place.is_dir()
