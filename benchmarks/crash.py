"""Kills the real daemon again and again, and prints what that cost.

python benchmarks/crash.py                     # 200 SIGKILLs over 60 investigations
python benchmarks/crash.py --sigterm 100       # 100 SIGTERMs under load
"""

import argparse
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.daemon.crash import Outcome, Plan, deaths


def main() -> int:
    """Run one series; 1 when a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--incidents", type=int, default=60)
    parser.add_argument("--turns", type=int, default=16)
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sigterm", type=int, default=0, metavar="TIMES")
    told = parser.parse_args()
    plan = Plan(
        kills=told.sigterm or told.kills,
        incidents=told.incidents,
        seed=told.seed,
        turns=told.turns,
        latency_s=told.latency,
        number=signal.SIGTERM if told.sigterm else signal.SIGKILL,
    )
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="crash-") as folder:
        outcome = deaths(Path(folder), plan)
    print_outcome(outcome, plan, time.monotonic() - begun)
    return 0 if is_kept(outcome, plan) else 1


def print_outcome(outcome: Outcome, plan: Plan, seconds: float) -> None:
    """Print every count that a promise is about."""
    name = signal.Signals(plan.number).name
    print(f"{outcome.kills} x {name}, {outcome.while_running} while calls were under way, "
          f"{plan.incidents} investigations of {plan.turns} turns, {seconds:.0f} s")  # fmt: skip
    print(f"acknowledged and lost: {len(outcome.lost)}; reported: {len(outcome.reported)}")
    print(f"recorded steps paid again: {len(outcome.paid_again)} {outcome.paid_again[:5]}")
    print(f"calls repeated: {outcome.repeats} (at most {outcome.in_flight} were under way)")
    print(
        f"reports or states unlike an undisturbed one: {len(outcome.unequal)} {outcome.unequal[:5]}"
    )
    print(f"quick_check and fsck: {len(outcome.damaged)} problems {outcome.damaged[:2]}")
    print(f"exit codes: {dict(outcome.codes)}")
    for name, times in (("left within", outcome.left_s), ("serving after", outcome.started_s)):
        print(f"{name}: p50 {statistics.median(times):.1f} s, max {max(times):.1f} s")
    print(f"requests refused: {len(outcome.refused)} {outcome.refused[:2]}")


def is_kept(outcome: Outcome, plan: Plan) -> bool:
    """Whether every promise was kept."""
    most = 0 if plan.number == signal.SIGTERM else outcome.in_flight
    return not (
        outcome.lost
        or outcome.paid_again
        or outcome.unequal
        or outcome.damaged
        or outcome.repeats > most
        or len(outcome.reported) < plan.incidents
    )


if __name__ == "__main__":
    sys.exit(main())
