"""Loads the real daemon and prints what it bears.

python benchmarks/load.py acks                 # 500 alerts/s from 50 connections
python benchmarks/load.py spool                # 100,000 files
python benchmarks/load.py crowd                # 200 investigations side by side
python benchmarks/load.py repeats              # 1,000 identical posts; two peers in any order
python benchmarks/load.py soak --minutes 10    # memory and open files over time
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import load_acks, load_crowd, load_repeats, load_soak, load_spool


def main() -> int:
    """Run one series; 1 when it missed its goal."""
    told = _parser().parse_args()
    with tempfile.TemporaryDirectory(prefix="load-", dir=told.folder) as folder:
        kept: bool = told.run(Path(folder), told)
    return 0 if kept else 1


def _acks(folder: Path, told: argparse.Namespace) -> bool:
    runs = [
        load_acks.acks(folder / str(repeats), told.seconds, told.rate, repeats)
        for repeats in told.repeats
    ]
    return all(runs)


def _spool(folder: Path, told: argparse.Namespace) -> bool:
    return load_spool.spool(folder, told.files)


def _crowd(folder: Path, told: argparse.Namespace) -> bool:
    return load_crowd.crowd(folder, told.count, told.turns, told.latency)


def _repeats(folder: Path, told: argparse.Namespace) -> bool:
    return load_repeats.repeats(folder, told.posts, told.orders)


def _soak(folder: Path, told: argparse.Namespace) -> bool:
    load_soak.soak(folder, 60 * told.minutes, told.rate, told.fresh)
    return True


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=None, help="where temporary folders go")
    series = parser.add_subparsers(required=True)
    acks = series.add_parser("acks")
    acks.add_argument("--seconds", type=float, default=20.0)
    acks.add_argument("--rate", type=float, default=500.0, help="alerts a second")
    acks.add_argument("--repeats", type=float, nargs="*", default=[0.0, 0.3], help="shares")
    acks.set_defaults(run=_acks)
    spool = series.add_parser("spool")
    spool.add_argument("--files", type=int, default=100_000)
    spool.set_defaults(run=_spool)
    crowd = series.add_parser("crowd")
    crowd.add_argument("--count", type=int, default=200)
    crowd.add_argument("--turns", type=int, default=8)
    crowd.add_argument("--latency", type=float, default=15.0, help="seconds of the model")
    crowd.set_defaults(run=_crowd)
    repeats = series.add_parser("repeats")
    repeats.add_argument("--posts", type=int, default=1000)
    repeats.add_argument("--orders", type=int, default=50)
    repeats.set_defaults(run=_repeats)
    soak = series.add_parser("soak")
    soak.add_argument("--minutes", type=float, default=10.0)
    soak.add_argument("--rate", type=float, default=5.0, help="alerts a second")
    soak.add_argument("--fresh", type=float, default=0.1, help="share that opens incidents")
    soak.set_defaults(run=_soak)
    return parser


if __name__ == "__main__":
    sys.exit(main())
