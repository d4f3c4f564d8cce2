"""What the context engine costs and keeps: `python benchmarks/context.py [--only NAME] [--quick]`.

A scripted investigator works 40 turns over a generated system on the strict double, through the
product's own path; all tokens are the double's counts. Turns 14, 22, 31 and 38 need exact values
that turns 3, 9, 12 and 20 showed, and 25 artifacts should be in front of the model when it writes
its report. Prices for every row: 3/15 dollars a million tokens, cache 1.25/0.1, an hour 2.0.

The investigator knows a value only while it reads it; a value it does not read when it needs it is
fetched again and counted. `looks` are turns that open a pointer to see a value for the first time.
"""

import argparse
import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.context_run import Measured, Variant, measure
from copilot.errors import ConfigError
from policies.loader import load_policy

RESULTS = Path(__file__).resolve().parent / "results" / "context.json"
REFERENCES = (
    ("resend everything", "9.28", "155k", "100 %", "0"),
    ("  with caching", "1.51", "155k", "100 %", "0"),
    ("server-side clearing and compaction at defaults, caching", "1.30", "97k", "60 %", "2"),
    ("agent frameworks, offload or compaction on", "0.72-1.52", "54-76k", "48-68 %", "0-9"),
    ("the first article's three levers, caching", "0.54", "44k", "56 %", "0"),
    ("everything offloaded, notes, caching", "0.21", "11k", "48 %", "0"),
    ("one that knows what will matter", "0.13", "2k", "100 %", "0"),
)
"""What others reached on such a run: dollars, peak, artifacts visible at the end, fetched twice."""
WINDOW = 100_000
PLAIN = Variant("default")
POLICIES = (
    PLAIN,
    Variant("off", policy="off"),
    Variant("server-only", policy="server-only"),
    Variant("client-only", policy="client-only"),
    Variant("small-window", policy="small-window"),
)
VARIANTS = (
    Variant("window of 100k", window=WINDOW),
    Variant("off, window of 100k", policy="off", window=WINDOW),
    Variant("lossy summariser, 30 %", drops=3),
    Variant("summariser always null", fails_to_summarise=True),
    Variant("clearing replayed", replays_clearing=True),
    Variant("binds its thinking", model="claude-sonnet-5-5", thinks=True),
    Variant("thinks each turn", thinks=True),
    Variant("records nothing", records=False),
    Variant("ten faults", faulty=True),
)
LONG = (
    Variant("400 turns", turns=400),
    Variant("400 turns, lossy", turns=400, drops=3),
    Variant("400 turns, null", turns=400, fails_to_summarise=True),
    Variant("400 turns, binds", turns=400, model="claude-sonnet-5-5", thinks=True),
)
NEAR = {
    "window of 100k": "default",
    "lossy summariser, 30 %": "default",
    "summariser always null": "default",
    "clearing replayed": "default",
    "binds its thinking": "thinks each turn",
    "400 turns, lossy": "400 turns",
    "400 turns, null": "400 turns",
}
"""Which row costs about the same as which; thoughts are paid for by whoever thinks them."""
HEAD = "  {:<24}{:>8}{:>8}{:>6}{:>7}{:>7}{:>9}{:>7}{:>8}{:>6}  {}"


def main() -> None:
    """Print the table; write the figures beside it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--quick", action="store_true", help="leave the 400 turns out")
    parser.add_argument("--json", type=Path, default=RESULTS)
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)  # scripted faults are no news
    rows = [*POLICIES, *VARIANTS, *(() if asked.quick else LONG)]
    chosen = [row for row in rows if asked.only in row.name]
    _print_references()
    results = list(_measured(chosen))
    _print_verdicts(results)
    if not asked.only and not asked.quick:
        asked.json.parent.mkdir(exist_ok=True)
        asked.json.write_text(json.dumps([_plain(item) for item in results], indent=1) + "\n")


def _measured(rows: Iterable[Variant]) -> Iterable[Measured]:
    print("ours, on the strict double")
    print(HEAD.format("", "dollars", "peak", "kept", "twice", "looks", "refused", "turns",
                      "clears", "sums", "ended with"))  # fmt: skip
    for row in rows:
        try:
            load_policy(row.policy, Path("policies"))
        except ConfigError:
            print(f"  {row.name:<24}left out: there is no policy {row.policy} yet")
            continue
        found = measure(row)
        print(_line(found), flush=True)
        yield found


def _line(found: Measured) -> str:
    sums = f"{found.compactions}" + (
        f"-{found.failed_compactions}" if found.failed_compactions else ""
    )
    return HEAD.format(
        found.name, f"{found.dollars:.2f}", found.peak, f"{found.visible}%", len(found.twice),
        found.looks, found.refused, found.turns, found.clears, sums, found.ended[:60],
    )  # fmt: skip


def _print_references() -> None:
    print("others, as reported: dollars, peak tokens, artifacts kept, values fetched twice")
    for name, *figures in REFERENCES:
        print("  {:<58}{:>10}{:>9}{:>9}{:>5}".format(name, *figures))
    print()


def _print_verdicts(results: Sequence[Measured]) -> None:
    """Say which of the figures to reach are reached."""
    by_name = {item.name: item for item in results}
    plain = by_name.get("default")
    if plain is None:
        return
    print()
    _verdict("at most 0.40 dollars", f"{plain.dollars:.3f}", plain.dollars <= 0.40)
    _verdict("peak at most 20k tokens", str(plain.peak), plain.peak <= 20_000)
    _verdict("all artifacts before the report", f"{plain.visible}%", plain.visible == 100)
    _verdict("no value fetched twice", str(len(plain.twice)), not plain.twice)
    _verdict("no request refused", str(plain.refused), not plain.refused)
    for name, beside in NEAR.items():
        if (other := by_name.get(name)) and (like := by_name.get(beside)):
            near = other.dollars <= 1.15 * like.dollars and other.peak <= 1.15 * like.peak
            sound = other.visible == 100 and not other.twice and not other.refused
            says = f"{other.dollars / like.dollars:.2f} x dollars, {other.peak / like.peak:.2f} x"
            _verdict(f"{name}: within 15 % of {beside}", f"{says} peak", near and sound)
    if faulty := by_name.get("ten faults"):
        _verdict("ten faults: the same report", faulty.ended, faulty.report == plain.report)
    if long := by_name.get("400 turns"):
        a_turn = (long.dollars / long.turns) / (plain.dollars / plain.turns)
        _verdict("400 turns: at most 1.2 x a turn", f"{a_turn:.2f} x", a_turn <= 1.2)
        peak = long.peak / plain.peak
        _verdict("400 turns: peak at most 1.2 x", f"{peak:.2f} x", peak <= 1.2)
        for turn, most in ((40, 5), (400, 10)):
            taken = long.build_ms.get(turn)
            _verdict(f"build at turn {turn} under {most} ms", f"{taken}", (taken or 99) < most)


def _verdict(what: str, found: str, holds: object) -> None:
    print(f"  {'reached' if holds else 'MISSED '}  {what}: {found}")


def _plain(found: Measured) -> dict[str, object]:
    kept = asdict(found)
    del kept["events"], kept["report"]
    return kept


if __name__ == "__main__":
    main()
