"""The engine: runs are queued here and survive any kill. One engine a process, as DBOS has it.

    engine = Engine(place, body)
    engine.start()
    engine.submit("inv:2026-0001:1", job, dedup="2026-0001", priority=2)
    ...
    engine.drain(15); os._exit(0)

The body is a plain function. After a kill it is called again from its beginning, here or in another
process, and resumes from its own journal; `Steps` sees to it that recorded steps are not run again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from threading import Lock

from dbos import DBOS, EnqueueOptions
from sqlalchemy import Engine as Database
from sqlalchemy import make_url

from copilot.engine import vendor
from copilot.engine.caretaker import Caretaker
from copilot.engine.gate import Gate
from copilot.engine.leases import Lease
from copilot.engine.place import LOCAL, FolderLock, Place, process_name
from copilot.engine.runs import FINISHED, UNFINISHED, Run, run_of
from copilot.engine.steps import Steps, recorded_steps
from copilot.engine.vendor import outside, own_errors
from copilot.errors import EngineError, NotFoundError
from copilot.values import JsonObject

Body = Callable[[JsonObject, Steps], JsonObject]
WORKFLOW = "run"
CHUNK = 500


class Engine:
    """A durable queue of runs and the threads that run them."""

    def __init__(self, place: Place, body: Body) -> None:
        self.place = place
        self._body = body
        self._executor = process_name() if place.is_shared else LOCAL
        self._lease: Lease | None = None
        self._gate = Gate(is_held=lambda: self._lease is None or self._lease.is_held)
        self._lock: FolderLock | None = None
        self._database: Database | None = None
        self._dbos: DBOS | None = None
        self._caretaker: Caretaker | None = None
        self._running: Counter[str] = Counter()
        self._guard = Lock()

    def start(self) -> None:
        """Open the queue and go on with what is in it.

        Raises EngineHeldError when another daemon has the folder, EngineError when the database
        cannot be opened.
        """
        vendor.quiet()
        if not self.place.is_shared:
            self._lock = FolderLock(self.place.folder)
        try:
            with own_errors(f"the queue at {self._where} cannot be opened"):
                self._launch()
        except EngineError:
            self.stop()
            raise

    def stop(self) -> None:
        """Let everything go in a process that lives on; only when nothing runs any more."""
        if self._caretaker:
            self._caretaker.end()
        DBOS.destroy(destroy_registry=True)
        self._dbos = None
        if self._lease:
            self._lease.end()
        if self._database:
            self._database.dispose()
        if self._lock:
            self._lock.close()

    def drain(self, seconds: float) -> bool:
        """Begin nothing more, and wait until what is under way is recorded; False when it was not.

        The process must leave by `os._exit` then: threads wait at the gate. Others that share the
        work go on with ours at once.
        """
        self._gate.close()
        if self._dbos:
            vendor.take_no_more(self._dbos)
        is_drained = self._gate.drain(seconds)
        if self._lease:
            vendor.hand_over(self._executor)
            self._lease.end()
        return is_drained

    @property
    def is_open(self) -> bool:
        """True when steps begin: not draining, and the database heard of us within the lease."""
        return self._gate.is_open

    def submit(self, run: str, job: JsonObject, *, dedup: str = "", priority: int = 1) -> str:
        """Queue a run, durably, and return its id. 1 is the highest *priority*.

        A run id is used once for ever: submitting it again changes nothing. While a run with the
        same *dedup* is queued or running, nothing is added either and that run's id comes back.
        """
        options = EnqueueOptions(
            workflow_name=WORKFLOW,
            queue_name=vendor.QUEUE,
            workflow_id=run,
            app_version=vendor.VERSION,
            workflow_timeout=self.place.time_limit.total_seconds(),
            priority=priority,
        )
        if dedup:
            options["deduplication_id"] = dedup
            options["duplication_policy"] = "return-existing"
        with own_errors(f"{run} cannot be queued"):
            handle = outside(DBOS.enqueue_workflow_with_options, options, job)
        return handle.get_workflow_id()

    def cancel(self, run: str) -> None:
        """End a run that is not over: a queued one at once, a running one at its next step."""
        self._known(run)
        with own_errors(f"{run} cannot be cancelled"):
            outside(DBOS.cancel_workflow, run)

    def retry(self, run: str) -> None:
        """Queue a run again that did not succeed; it goes on after its last recorded step.

        A row of another version is taken over. Raises EngineError when the run goes on already or
        has succeeded.
        """
        known = self._known(run)
        if known.status == "succeeded":
            raise EngineError(f"{run} has succeeded; submit a new run to do it once more")
        if not known.is_over:
            if known.version == vendor.VERSION:
                raise EngineError(f"{run} is {known.status}; wait for it, or cancel it first")
            self.cancel(run)
        with own_errors(f"{run} cannot be retried"):
            last = max(outside(recorded_steps, run), default=0)
            outside(
                DBOS.rewind_workflow,
                run,
                start_step=last + 1,
                application_version=vendor.VERSION,
                queue_name=vendor.QUEUE,
            )

    def run(self, run: str) -> Run | None:
        """What is known of one run; None when there is no such run."""
        with own_errors("the queue cannot be read"):
            found = outside(DBOS.list_workflows, workflow_ids=[run], load_input=False)
        return run_of(found[0]) if found else None

    def runs(self, *, unfinished: bool = False, limit: int | None = None) -> list[Run]:
        """Runs, newest first; with *unfinished* only those that are queued or running."""
        with own_errors("the queue cannot be read"):
            found = outside(
                DBOS.list_workflows,
                status=[*UNFINISHED] if unfinished else None,
                limit=limit,
                sort_desc=True,
                load_input=False,
            )
        return [run_of(row) for row in found]

    def is_running(self, run: str) -> bool:
        """True when a thread of this process is in the body of that run."""
        with self._guard:
            return self._running[run] > 0

    def steps(self, run: str) -> Sequence[str]:
        """The names of a run's recorded steps, in order."""
        with own_errors("the queue cannot be read"):
            recorded = outside(recorded_steps, run)
        return [recorded[position] for position in sorted(recorded)]

    def of_other_versions(self) -> list[Run]:
        """Unfinished runs that another version wrote: nobody runs them until they are retried."""
        return [run for run in self.runs(unfinished=True) if run.version != vendor.VERSION]

    def forget(self, before: datetime) -> int:
        """Drop runs that were over before that time, and return how many. Their ids are free then.

        Keep them longer than any sender repeats an alert.
        """
        dropped = 0
        with own_errors("old runs cannot be dropped"):
            while found := outside(
                DBOS.list_workflows,
                status=[*FINISHED],
                completed_before=before.isoformat(),
                limit=CHUNK,
                load_input=False,
                load_output=False,
            ):
                outside(DBOS.delete_workflows, [row.workflow_id for row in found])
                dropped += len(found)
        return dropped

    @property
    def _where(self) -> str:
        """The place in words, without a password."""
        if not self.place.is_shared:
            return str(self.place.folder)
        return make_url(self.place.url).render_as_string(hide_password=True)

    def _known(self, run: str) -> Run:
        known = self.run(run)
        if known is None:
            raise NotFoundError(f"no run {run} is known here; it may be older than the retention")
        return known

    def _launch(self) -> None:
        place = self.place
        if place.is_shared:
            self._lease = Lease(place.url, self._executor, place.lease)
            self._lease.begin()
        else:
            self._database = vendor.sqlite_engine(place)
        self._dbos = DBOS(config=vendor.configured(place, self._executor, self._database))

        @DBOS.workflow(name=WORKFLOW, max_recovery_attempts=place.attempts)
        def run(job: JsonObject) -> JsonObject:  # the vendor marks functions; a method takes none
            return self._run(job)

        DBOS.launch()
        vendor.take_as_told(self._dbos, place)
        vendor.register_queue(place)
        self._caretaker = Caretaker(
            place,
            self._dbos,
            self._lease,
            executor=self._executor,
            is_running=self.is_running,
            retry=self.retry,
        )
        self._caretaker.begin()

    def _run(self, job: JsonObject) -> JsonObject:
        run = str(DBOS.workflow_id)
        assert self._dbos is not None
        with self._counted(run):
            self._gate.wait()
            steps = Steps(run, self._gate, vendor.Fence(self._dbos, run))
            steps.catch_up()
            return self._body(job, steps)

    @contextmanager
    def _counted(self, run: str) -> Iterator[None]:
        """Known as running here. A run taken up again may overlap with its stale self."""
        with self._guard:
            self._running[run] += 1
        try:
            yield
        finally:
            with self._guard:
                self._running[run] -= 1
                self._running += Counter()  # forget those at zero
