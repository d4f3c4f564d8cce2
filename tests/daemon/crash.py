"""The crash suite: a daemon is killed again and again, and the end is held against what it owed.

    plan = Plan(kills=30, incidents=20)
    outcome = crashed(folder / "killed", plan, undisturbed(folder / "calm", plan))
    assert outcome.faults == []

At each death the records on disk and the calls that reached the model are put down. At the end
nothing that was acknowledged may be missing, nothing on record may have been paid for again, and
every page of the notes must read as after a run that nobody disturbed.
"""

import time
from collections.abc import Mapping
from pathlib import Path

from tests.daemon.forks import Forks
from tests.daemon.on_disk import comparable
from tests.daemon.running import Investigator, RunningDaemon
from tests.daemon.series import Outcome, Plan, Series
from tests.doubles.messages_api import MessagesApi

Pages = Mapping[str, Mapping[str, str]]
"""The notes of each incident, by the name of its workflow and by file."""


def crashed(
    folder: Path, plan: Plan, pages: Pages | None = None, forks: Forks | None = None
) -> Outcome:
    """The outcome of *plan* in *folder*; *pages* are what the notes must hold in the end.

    With *forks* a daemon has its libraries when it starts.
    """
    outcome = Outcome(plan)
    begun = time.monotonic()
    investigator = Investigator(turns=plan.turns, latency_s=plan.latency_s)
    with MessagesApi(responder=investigator) as api:
        daemon = RunningDaemon(folder, api, workers=plan.workers, forks=forks)
        series = Series(plan, outcome, daemon, investigator)
        try:
            with series.sender:
                for number in range(plan.kills):
                    series.live_and_die(number)
                series.finish()
        finally:
            daemon.kill()
        outcome.faults += [f"the double refused: {one}" for one in api.refusals]
    if pages is not None:
        outcome.faults += differences(folder, series.sender.acknowledged, pages)
    outcome.seconds = time.monotonic() - begun
    return outcome


def undisturbed(folder: Path, plan: Plan, forks: Forks | None = None) -> Pages:
    """What the notes hold after the same alerts when nothing dies."""
    with (
        MessagesApi(responder=Investigator(turns=plan.turns)) as api,
        RunningDaemon(folder, api, workers=plan.workers, forks=forks) as daemon,
    ):
        incidents = dict(zip(plan.names, daemon.send(*plan.names), strict=True))
        daemon.wait_for([*incidents.values()], within=600)
    return {name: comparable(folder, incident) for name, incident in incidents.items()}


def differences(folder: Path, incidents: Mapping[str, str], pages: Pages) -> list[str]:
    """Which pages of which incident read unlike those of a run that nobody disturbed."""
    found = []
    for name, wanted in pages.items():
        incident = incidents.get(name)
        if incident is None:
            found.append(f"{name} has no incident")
            continue
        try:
            there = comparable(folder, incident)
        except FileNotFoundError as error:
            found.append(f"{name}: {error}")
            continue
        found += [f"{incident}/{page} differs" for page in wanted if there[page] != wanted[page]]
    return found
