"""Two daemons over one PostgreSQL and one set of folders, as two hosts with a common mount."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from copilot.journal import read_events
from tests import postgres
from tests.daemon.forks import Forks
from tests.daemon.running import Investigator, RunningDaemon
from tests.doubles.messages_api import MessagesApi

LEASE_S = 3
FOLDERS = """\
state: {0}/state
notes: {0}/notes
scratch:
  path: {0}/scratch
logbooks:
  - name: logs
    path: {0}/state/logs.sqlite
"""


@dataclass(frozen=True, slots=True)
class Two:
    """The daemons, and the model that both ask."""

    first: RunningDaemon
    second: RunningDaemon
    investigator: Investigator
    common: Path
    database: str

    def answers(self) -> set[tuple[str, int]]:
        """The answers that are on record in a journal."""
        return {
            (path.parent.name, event.turn)
            for path in (self.common / "state" / "journals").glob("*/[0-9][0-9][0-9][0-9].jsonl")
            for event in read_events(path)
            if event.kind == "response"
        }

    def statuses(self) -> dict[str, str]:
        """How each run of the queue stands."""
        with postgres.connected(self.database) as connection:
            rows = connection.execute("SELECT workflow_uuid, status FROM dbos.workflow_status")
            return dict(rows.fetchall())

    def held(self, daemon: RunningDaemon) -> set[str]:
        """The incidents whose investigations are marked as running in that daemon."""
        assert daemon.process
        with postgres.connected(self.database) as connection:
            rows = connection.execute(
                "SELECT workflow_uuid FROM dbos.workflow_status"
                " WHERE status = 'PENDING' AND executor_id LIKE %s",
                [f"%-{daemon.process.pid}-%"],
            )
            return {str(row[0]).split(":")[1] for row in rows}

    def paid(self, answers: set[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """How often the model was asked for each of these."""
        return {one: self.investigator.counts[one] for one in answers}


@contextmanager
def two_daemons(
    folder: Path, database: str, investigator: Investigator, forks: Forks, workers: int = 2
) -> Iterator[Two]:
    """Both daemons, serving. Each has settings of its own and the same folders."""
    common = folder / "first"
    with ExitStack() as stack:
        api = stack.enter_context(MessagesApi(responder=investigator))
        daemons: list[RunningDaemon] = []
        for name in ("first", "second"):
            own = folder / name
            own.mkdir()
            if daemons:  # the folders are there already, with what they hold
                (own / "copilot.yaml").touch()
            daemon = RunningDaemon(
                own,
                api,
                workers=workers,
                daemon=f"  database: {database}\n  lease: {LEASE_S}s",
                intake=f"  spool: {common}/state/spool",
                rest=FOLDERS.format(common),
                forks=forks,
            )
            daemon.state = common / "state"
            daemons.append(stack.enter_context(daemon))
        yield Two(daemons[0], daemons[1], investigator, common, database)
        assert api.refusals == []
