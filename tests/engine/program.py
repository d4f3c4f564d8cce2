"""A process to be killed: an engine with toy runs, until all of them are over.

python -m tests.engine.program '{"folder": …, "runs": 6, …}'; SIGTERM drains and leaves.
"""

import json
import os
import signal
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from time import sleep
from typing import Any

from copilot.engine.engine import Engine
from copilot.engine.place import Place
from copilot.engine.steps import Steps
from copilot.values import JsonObject
from tests.engine.toys import QUICK, pay, toy_body, wait_until


def nested_body(folder: Path, latency: float) -> Any:
    """Return a body whose one step makes calls of its own, as the `task` tool does."""

    def body(_job: JsonObject, steps: Steps) -> JsonObject:
        def io() -> JsonObject:
            for number in range(1, 1000):

                def call(number: int = number) -> JsonObject:
                    pay(folder, steps.run, number)
                    sleep(latency)
                    pay(folder, f"{steps.run} recorded", number)
                    return {}

                steps.nested().step("model", call)
            return {}

        return steps.step("tools", io)

    return body


def main(told: dict[str, Any]) -> None:
    """Run what is told."""
    folder = Path(told["folder"])
    place = Place(
        folder / "state",
        database=told.get("database", ""),
        workers=told["workers"],
        lease=timedelta(seconds=told.get("lease", 30)),
        poll=QUICK,
    )
    latency = told["latency"]
    if told.get("nested"):
        body = nested_body(folder, latency)
    else:
        journals = told.get("journals", True)
        body = toy_body(folder, told["steps"], latency=latency, journals=journals)
    engine = Engine(place, body)
    signals: list[int] = []  # no lock: a handler may come while this thread holds it
    signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
    engine.start()
    # Who starts alone on a busy machine would be done before the others are there.
    (folder / f"here-{os.getpid()}").touch()
    wait_until(lambda: len([*folder.glob("here-*")]) >= told.get("together", 1), 60)
    runs = [f"run-{number}" for number in range(told["runs"])]
    for run in runs:
        engine.submit(run, {"name": run}, dedup=run)
    while not signals:
        if all((known := engine.run(run)) and known.is_over for run in runs):
            break
        sleep(0.05)
    is_drained = engine.drain(10)
    ended = {} if signals else Counter(run.status for run in engine.runs())
    sys.stdout.write(json.dumps({"drained": is_drained, "runs": ended}) + "\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
