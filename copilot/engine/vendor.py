"""DBOS as we run it: quiet, JSON, pinned version, one connection to SQLite; its private calls.

Everything that a new release of the vendor may change is in this file. It logs through the logger
`dbos` of the process, and never to a stream of its own.
"""

import logging
from typing import Any

import sqlalchemy
from dbos import DBOS, DBOSConfig
from dbos import error as vendor_error
from dbos._context import get_local_dbos_context
from sqlalchemy import Engine, event

from copilot.engine.place import Place
from copilot.engine.serializer import JsonSerializer

NAME = "incident-copilot"
VERSION = "loop-1"
"""Of the rows. Bodies resume from their journal, so only a new kind of row needs a new version."""
QUEUE = "investigations"
WAIT_FOR_CONNECTION_S = 600
CONNECTIONS = 12
"""Of one process to PostgreSQL. A step holds one for milliseconds."""


def configured(place: Place, executor: str, engine: Engine | None) -> DBOSConfig:
    """The vendor's settings: no console, no telemetry, no pickle."""
    config = DBOSConfig(
        name=NAME,
        system_database_url=place.url,
        application_version=VERSION,
        executor_id=executor,
        serializer=JsonSerializer(),
        log_level="WARNING",
        enable_otlp=False,
    )
    if engine is None:
        config["sys_db_pool_size"] = CONNECTIONS
    else:
        config["system_database_engine"] = engine
    return config


def sqlite_engine(place: Place) -> Engine:
    """The only connection to the file, synced at each commit.

    One connection for all threads: SQLite before 3.51.3 can damage a WAL that two connections write
    and checkpoint at once, and a queue in Python is fairer than SQLite's lock.
    """
    place.file.touch(mode=0o600)
    engine = sqlalchemy.create_engine(
        place.url, pool_size=1, max_overflow=0, pool_timeout=WAIT_FOR_CONNECTION_S
    )

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, _: object) -> None:
        connection.isolation_level = "IMMEDIATE"
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "busy_timeout=30000",
            "foreign_keys=ON",
        ):
            connection.execute(f"PRAGMA {pragma}").close()

    return engine


def quiet() -> None:
    """Leave the vendor's messages to the process's own logging."""
    logger = logging.getLogger("dbos")
    if not logger.handlers:  # else the vendor would add one that writes to stderr
        logger.addHandler(logging.NullHandler())


def recover(executors: list[str]) -> None:
    """Queue again what those processes were running. Private in 3.4; public from 3.6."""
    DBOS._recover_pending_workflows(executors)  # noqa: SLF001 - see the docstring


def queue_again(dbos: DBOS, run: str, executor: str) -> None:
    """Queue one run again that *executor* has and does not run; nothing when it has moved on."""
    database = dbos._sys_db  # noqa: SLF001 - resume_workflow would forget its time limit
    database.reenqueue_for_recovery(run, [executor], QUEUE)


class Fence:
    """Stops whoever lost a run before it pays for anything: the token of one start of the run.

    The vendor looks at the token when a step is recorded, which is after it was paid for.
    """

    def __init__(self, dbos: DBOS, run: str) -> None:
        """Take the token of the run whose thread this is."""
        self._database = dbos._sys_db  # noqa: SLF001 - nothing public tells the token
        self._run = run
        context = get_local_dbos_context()
        self._token = context.owner_xid if context else None

    def check(self) -> None:
        """Return when the run is still ours; else unwind the body, as the vendor would later.

        A row without a token is nobody's: it was cancelled, and the vendor says so by itself.
        """
        owner = self._database.get_workflow_owner(self._run)
        if owner not in (None, self._token):
            raise vendor_error.DBOSWorkflowConflictIDError(self._run)


def take_no_more(dbos: DBOS) -> None:
    """Stop the threads that take runs from the queue; what runs goes on."""
    for stop in dbos.background_thread_stop_events:
        stop.set()
