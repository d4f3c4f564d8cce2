"""DBOS as we run it: quiet, JSON, pinned version, one connection to SQLite; its private calls.

Everything that a new release of the vendor may change is in this file. It logs through the logger
`dbos` of the process, and never to a stream of its own.
"""

import contextvars
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

import sqlalchemy
from dbos import DBOS, DBOSConfig, Queue
from dbos import error as vendor_error
from dbos._context import get_local_dbos_context
from sqlalchemy import Engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from copilot.engine.place import Place
from copilot.engine.seldom import Seldom
from copilot.engine.serializer import JsonSerializer
from copilot.errors import EngineError

P = ParamSpec("P")
T = TypeVar("T")

NAME = "incident-copilot"
VERSION = "loop-1"
"""Of the rows. Bodies resume from their journal, so only a new kind of row needs a new version."""
QUEUE = "investigations"
WAIT_FOR_CONNECTION_S = 600
PAGES_KIB = 512
"""Of the file that SQLite keeps; the kernel keeps the others. SQLite would take 2 MiB."""
HAND_OVER_S = 3.0
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
            f"cache_size=-{PAGES_KIB}",
        ):
            connection.execute(f"PRAGMA {pragma}").close()

    return engine


def quiet() -> None:
    """Leave the vendor's messages to the process's own logging, and it to few of them."""
    logger = logging.getLogger("dbos")
    if not logger.handlers:  # else the vendor would add one that writes to stderr
        logger.addHandler(logging.NullHandler())
        logger.addFilter(_is_news)
    for old in [one for one in logger.filters if isinstance(one, Seldom)]:
        logger.removeFilter(old)  # what was said of another engine was not said of this one
    logger.addFilter(Seldom())


def _is_news(record: logging.LogRecord) -> bool:
    """False for the end of a cancelled run, which the vendor takes for a fault of ours."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, vendor_error.DBOSAwaitedWorkflowCancelledError)


def register_queue(place: Place) -> None:
    """Say how many runs are taken everywhere; it is kept in the database."""
    everywhere = place.workers_everywhere or None
    starts = place.starts_per_hour
    DBOS.register_queue(
        QUEUE,
        worker_concurrency=_workers(place),
        global_concurrency=everywhere,
        limiter={"limit": starts, "period": 3600.0} if starts else None,
        polling_interval_sec=place.poll.total_seconds(),
    )


def take_as_told(dbos: DBOS, place: Place) -> None:
    """Let this process take its own number of runs, and look for them at its own pace.

    The vendor keeps one number of workers for all processes, that of the last one to start, and
    doubles its pause, up to two minutes, whenever two of them look at the same moment.
    """
    database = dbos._sys_db  # noqa: SLF001 - nothing public says how many are taken here
    stored, is_locked = database.get_queue, database.is_lock_conflict

    def get_queue(name: str, **options: Any) -> Queue | None:
        queue = stored(name, **options)
        if queue is not None and name == QUEUE:
            queue._worker_concurrency = _workers(place)  # noqa: SLF001 - of the copy just read
        return queue

    def is_lock_conflict(error: DBAPIError) -> bool:
        return is_locked(error) or database.is_serialization_conflict(error)

    database.get_queue = get_queue  # type: ignore[method-assign]  # read before each look
    database.is_lock_conflict = is_lock_conflict  # type: ignore[method-assign]  # as well


def _workers(place: Place) -> int:
    return min(place.workers, place.workers_everywhere or place.workers)


def outside(ask: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """What *ask* returns, asked outside any run: inside one it would become a step of it."""
    return contextvars.Context().run(ask, *arguments, **options)


@contextmanager
def own_errors(what: str) -> Iterator[None]:
    """Turn what the vendor and its database raise into an EngineError that begins with *what*."""
    try:
        yield
    except (vendor_error.DBOSException, SQLAlchemyError, OSError) as error:
        raise EngineError(f"{what}: {reason(error)}", retryable=True) from error


def reason(error: Exception) -> str:
    """What went wrong in one line, without the statement and its parameters."""
    origin = getattr(error, "orig", None) or error
    return str(origin).partition("\n")[0][:300]


def recover(executors: list[str]) -> None:
    """Queue again what those processes were running. Private in 3.4; public from 3.6."""
    DBOS._recover_pending_workflows(executors)  # noqa: SLF001 - see the docstring


def hand_over(executor: str) -> None:
    """Give back what this process has taken, for others to go on with, if it can be done soon."""
    # In a thread: without its database the vendor would try for ever.
    giving = threading.Thread(target=recover, args=([executor],), daemon=True)
    giving.start()
    giving.join(HAND_OVER_S)


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
