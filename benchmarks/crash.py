"""Kills the real daemon again and again, and prints what that cost.

python benchmarks/crash.py                     # 200 SIGKILLs over 60 investigations
python benchmarks/crash.py --sigterm 100       # 100 SIGTERMs under load
python benchmarks/crash.py --cold --kills 20   # each daemon starts from nothing: 5 s to resume
python benchmarks/crash.py --postgres          # one of two daemons is killed: who goes on, when

It ends with 1 when a promise was broken, and says which.
"""

import argparse
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import postgres
from tests.daemon.crash import crashed, undisturbed
from tests.daemon.forks import Forks
from tests.daemon.running import Investigator
from tests.daemon.series import RESUMED_WITHIN_S, Outcome, Plan
from tests.daemon.two_daemons import LEASE_S, two_daemons

TAKEOVERS = 5


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
        return take_over(told.seed)
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
    print(
        f"first call after a start: {_spread(outcome.resumed_s)}, wanted {RESUMED_WITHIN_S:.0f} s"
    )
    if outcome.left_s:
        print(f"left after SIGTERM: {_spread(outcome.left_s)}")
    print(f"broken promises: {len(outcome.faults)}")
    for fault in outcome.faults:
        print(f"  {fault}")


def take_over(seed: int) -> int:
    """Kill one of two daemons a few times; print when the other had all its investigations."""
    taken: list[float] = []
    faults = 0
    with Forks() as forks, postgres.cluster() as server:
        for number in range(TAKEOVERS):
            names = [f"wf_{seed}_{number}_{index}" for index in range(4)]
            with tempfile.TemporaryDirectory(prefix="crash-") as folder:
                seconds, is_paid_again = _taken(Path(folder), server.new_database(), forks, names)
            taken.append(seconds)
            faults += is_paid_again
    print(f"{TAKEOVERS} takeovers with a lease of {LEASE_S} s; from the kill until all four")
    print(f"investigations had ended: {_spread(taken)}; recorded and paid again: {faults}")
    return 1 if faults else 0


def _taken(folder: Path, database: str, forks: Forks, names: Sequence[str]) -> tuple[float, bool]:
    """The seconds until the other had ended all, and whether something was paid for twice."""
    investigator = Investigator(turns=10, latency_s=0.3)
    with two_daemons(folder, database, investigator, forks) as two:
        incidents = two.first.send(*names)
        two.first.wait(lambda: investigator.counts.total() >= 8)
        two.first.kill()
        killed_at, recorded = time.monotonic(), two.answers()
        paid = two.paid(recorded)
        two.second.wait_for(incidents, within=120)
        return time.monotonic() - killed_at, two.paid(recorded) != paid


def _spread(seconds: Sequence[float]) -> str:
    if not seconds:
        return "never measured"
    return f"p50 {statistics.median(seconds):.2f} s, max {max(seconds):.2f} s ({len(seconds)})"


if __name__ == "__main__":
    sys.exit(main())
