"""How much of what speaks to the model is flagged: `python benchmarks/injection.py [--missed]`.

Counts, by kind and language, the attacks of tests/injection_held_out that are flagged as they reach
the model, and the harmless lines that are flagged too. `--missed` prints what was not flagged, and
what should not have been.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from copilot.injection import sign  # noqa: E402 - it is found beside this folder
from copilot.safe_text import safe_text  # noqa: E402
from tests.injection_held_out import SPLIT, attacks, harmless  # noqa: E402


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--missed", action="store_true", help="print the texts that were missed")
    shows_missed = parser.parse_args().missed
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for attack in attacks():
        for name in (attack.kind, f"language {attack.language}", _sum_of(attack.kind)):
            total[name] += 1
            found[name] += is_flagged(*attack.rows)
        if shows_missed and not is_flagged(*attack.rows):
            print(f"missed, {attack.kind}: {attack.rows!r}")
    lines = harmless()
    wrong = [line for line in lines if is_flagged(line)]
    for line in wrong if shows_missed else []:
        print(f"harmless, and flagged: {line!r}")
    for name, count in total.items():
        print(f"{name:20} {found[name]:4} of {count:4} flagged")
    print(f"{'harmless':20} {len(wrong):4} of {len(lines):4} flagged")


def is_flagged(*rows: str) -> bool:
    """Whether a result with these rows carries the sign, its hidden characters spelled."""
    return bool(sign([{"message": safe_text(row)} for row in rows], {}))


def _sum_of(kind: str) -> str:
    return "all, split" if kind == SPLIT else "all, in one text"


if __name__ == "__main__":
    main()
