"""Kills the real daemon again and again, and prints what that cost.

python benchmarks/crash.py                     # 200 SIGKILLs over 60 investigations
python benchmarks/crash.py --sigterm 100       # 100 SIGTERMs under load
python benchmarks/crash.py --cold --kills 20   # each daemon starts from nothing: 5 s to resume
python benchmarks/crash.py --postgres          # two daemons: freeze, kill, server restarted twice

It ends with 1 when a promise was broken, and says which.
"""

import argparse
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.peers import in_trouble, spread
from tests.daemon.crash import crashed, undisturbed
from tests.daemon.forks import Forks
from tests.daemon.series import RESUMED_WITHIN_S, Outcome, Plan


def main() -> int:
    """Run one series; 1 when a promise was broken."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--incidents", type=int, default=60)
    parser.add_argument("--turns", type=int, default=16)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sigterm", type=int, default=0, metavar="TIMES")
    parser.add_argument("--cold", action="store_true", help="no libraries in a new daemon")
    parser.add_argument("--postgres", action="store_true", help="two daemons, one database")
    told = parser.parse_args()
    if told.postgres:
        return in_trouble()
    plan = Plan(
        kills=told.sigterm or told.kills,
        incidents=told.incidents,
        seed=told.seed,
        turns=told.turns,
        latency_s=told.latency,
        number=signal.SIGTERM if told.sigterm else signal.SIGKILL,
    )
    with ExitStack() as stack:
        forks = stack.enter_context(Forks())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="crash-")))
        pages = undisturbed(folder / "undisturbed", plan, forks)
        outcome = crashed(folder / "killed", plan, pages, None if told.cold else forks)
    print_outcome(outcome)
    return 1 if outcome.faults else 0


def print_outcome(outcome: Outcome) -> None:
    """Print every count that a promise is about."""
    plan = outcome.plan
    print(
        f"{len(outcome.deaths)} x {signal.Signals(plan.number).name} in {outcome.seconds:.0f} s, "
        f"{outcome.during_calls} while the model was asked; "
        f"{plan.incidents} investigations of {plan.turns} turns"
    )
    print(f"posts acknowledged: {outcome.posts}, alerts by file: {outcome.spooled}")
    print(f"recorded steps paid again: {outcome.paid_again}")
    print(f"calls repeated: {outcome.repeats}; under way at the deaths: {outcome.in_flight}")
    print(f"first call after a start: {spread(outcome.resumed_s)}, wanted {RESUMED_WITHIN_S:.0f} s")
    if outcome.left_s:
        print(f"left after SIGTERM: {spread(outcome.left_s)}")
    print(f"broken promises: {len(outcome.faults)}")
    for fault in outcome.faults:
        print(f"  {fault}")


if __name__ == "__main__":
    sys.exit(main())
