"""Incidents of systems that do not exist, small and whole: to show that no rule fits one system."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

START = datetime(2031, 5, 6, 7, 0, tzinfo=UTC)


@dataclass(frozen=True)
class MadeUp:
    """One incident: its files, its alert, and what a good report says of it."""

    name: str
    files: Mapping[str, str]
    alert: Mapping[str, object]
    says: str
    """Words that the cause or the summary must hold."""
    cites: tuple[str, ...]
    """Texts that must stand on a cited line."""
    never: tuple[str, ...] = ()
    """Texts that must not stand in the cause."""
    verdicts: tuple[str, ...] = ("action_needed", "action_suggested")
    statuses: tuple[str, ...] = ("confirmed", "likely")
    tickets: tuple[Mapping[str, object], ...] = field(default=())


def stamp(minute: float) -> str:
    """The time so many minutes after the start, as most logs write it."""
    return (START + timedelta(minutes=minute)).strftime("%Y-%m-%d %H:%M:%S,000")


def usual(component: str, text: str, *, until: int, every: float = 1.0) -> list[tuple[float, str]]:
    """One INFO line every so many minutes; `{n}` in it is counted up."""
    count = int(until / every)
    return [
        (n * every, f"INFO [{component}] {text.replace('{n}', str(1000 + n))}")
        for n in range(count)
    ]


def log(*parts: list[tuple[float, str]]) -> str:
    """The lines of all parts in the order of their times."""
    lines = sorted((line for part in parts for line in part), key=lambda line: line[0])
    return "".join(f"{stamp(minute)} {text}\n" for minute, text in lines)


def alert(
    title: str, text: str = "", minute: float | None = None, **labels: str
) -> dict[str, object]:
    """An alert as a generic sender would send it."""
    body: dict[str, object] = {"title": title, "text": text, "labels": labels}
    if minute is not None:
        body["startsAt"] = (START + timedelta(minutes=minute)).isoformat()
    return body


def connection_limit() -> MadeUp:
    """A web shop whose database has no connection left; the gateway only reports the end of it."""
    gateway = log(
        usual("gate", "GET /cart/{n} 200 in 12 ms", until=60, every=0.5),
        [
            (n, "WARN [gate] client closed the connection early, request dropped")
            for n in range(0, 60, 4)
        ],
        [
            (41 + n / 3, f"ERROR [gate] upstream answered 502 bad gateway for /cart/{n}")
            for n in range(40)
        ],
    )
    store = log(
        usual("store", "checkpoint {n} complete", until=60, every=2),
        [
            (
                40.2 + n,
                "FATAL [store] sorry, too many clients already: remaining connection slots are reserved",
            )
            for n in range(15)
        ],
    )
    return MadeUp(
        "connection_limit",
        {"gateway.log": gateway, "store.log": store},
        alert("CartErrors: carts cannot be opened since 2031-05-06 07:41", service="gate"),
        says="limit",
        cites=("remaining connection slots",),
        never=("closed the connection early",),
    )


def full_disk() -> MadeUp:
    """A message broker without disk; its clients are by far louder."""
    broker = log(
        usual("Segment", "rolled segment {n} of ledger orders-3", until=30),
        [
            (
                30.1,
                "ERROR [Segment] flush of ledger orders-3 failed: java.io.IOException: No space left on device",
            )
        ],
        [(30.2, "ERROR [Broker] stopping storage of ledger orders-3")],
    )
    clients = log(
        usual("Producer", "acknowledged batch {n}", until=30, every=0.3),
        [
            (30.4 + n / 10, f"ERROR [Producer] batch {n} failed after 5 attempts, giving up")
            for n in range(200)
        ],
    )
    return MadeUp(
        "full_disk",
        {"broker-2.log": broker, "clients/producer.log": clients},
        alert("ProducerFailing: batches fail on orders-3", minute=36, queue="orders-3"),
        says="full",
        cites=("No space left on device",),
        never=("giving up",),
    )


def time_limit() -> MadeUp:
    """A batch job that was cut at its time limit."""
    node = (
        "[2031-05-06T01:00:00.120] launched step 88123.0 on node17\n"
        "[2031-05-06T05:59:58.001] error: *** JOB 88123 ON node17 CANCELLED AT 2031-05-06T05:59:58 DUE TO TIME LIMIT ***\n"
        "[2031-05-06T05:59:59.300] done with step 88123.0\n"
        "[2031-05-06T06:10:00.300] launched step 88140.0 on node17\n"
    )
    return MadeUp(
        "time_limit",
        {"node17.log": node},
        alert(
            "Job 88123 ended early",
            "The user says that her program had no error.",
            job_name="88123",
        ),
        says="longer than it may",
        cites=("DUE TO TIME LIMIT",),
    )


def image_pull() -> MadeUp:
    """A pod that never starts because its image does not exist."""
    described = (
        "Name:         ledger-writer-5d9c7b6f4-x2x9k\nNamespace:    books\nStatus:       Pending\n"
        "    State:          Waiting\n      Reason:       ImagePullBackOff\n    Ready:          False\n"
        "Events:\n  Type     Reason     Age   From      Message\n  ----     ------     ----  ----      -------\n"
        "  Normal   Scheduled  5m    scheduler  Successfully assigned books/ledger-writer-5d9c7b6f4-x2x9k to n4\n"
        '  Warning  Failed     4m    kubelet    Failed to pull image "registry.local/ledger:9.9": manifest unknown\n'
        "  Warning  Failed     4m    kubelet    Error: ErrImagePull\n"
    )
    return MadeUp(
        "image_pull",
        {"describe.txt": described},
        alert("PodNotReady", pod="ledger-writer-5d9c7b6f4-x2x9k", namespace="books"),
        says="image cannot be pulled",
        cites=("manifest unknown",),
    )


def permission() -> MadeUp:
    """A service that may not read its key; the supervisor only restarts it."""
    journal = "".join(
        f"May  6 07:{n:02d}:0{step} box1 {text}\n"
        for n in range(10, 16)
        for step, text in enumerate(
            (
                "vaultd[811]: opening /etc/vault/seal.key",
                "vaultd[811]: open /etc/vault/seal.key: permission denied",
                "systemd[1]: vault.service: Main process exited, code=exited, status=1/FAILURE",
                "systemd[1]: vault.service: Scheduled restart job, restart counter is at 4.",
            )
        )
    )
    return MadeUp(
        "permission",
        {"journal.txt": journal},
        alert("UnitFailed: vault.service does not stay up", unit="vault.service"),
        says="Access is denied",
        cites=("seal.key: permission denied",),
    )


def memory() -> MadeUp:
    """An executor killed for its memory; the fetch failures come from that."""
    driver = log(
        usual("Scheduler", "finished task {n} in stage 7", until=20, every=0.2),
        [
            (
                20.1,
                "ERROR [Cluster] lost executor 3 on wn-3: container killed for exceeding memory limits, 5.6 GB of 5.5 GB used",
            )
        ],
        [
            (20.3 + n / 5, f"WARN [Scheduler] fetch failed for shuffle {n} from wn-3, retrying")
            for n in range(50)
        ],
        [(31.0, "ERROR [Scheduler] job 12 aborted: stage 7 failed 4 times")],
    )
    return MadeUp(
        "memory",
        {"driver.log": driver},
        alert("Job 12 aborted in stage 7", minute=31),
        says="memory",
        cites=("exceeding memory limits",),
    )


def expired() -> MadeUp:
    """Transfers that fail since a credential ran out; they went well until then."""
    copies = log(
        usual("copy", "copied file {n} to the archive, exit code 0", until=50),
        [
            (50.5 + n, "ERROR [copy] handshake with archive-1 failed: the certificate has expired")
            for n in range(9)
        ],
        [(50.6 + n, f"ERROR [copy] file {n} was not copied, exit code 17") for n in range(9)],
    )
    return MadeUp(
        "expired",
        {"copy.log": copies},
        alert("CopyFailing: exit code 17 of the archive copies since 2031-05-06 07:50"),
        says="expired",
        cites=("certificate has expired", "exit code 0"),
    )


def not_here() -> MadeUp:
    """An alert about something that no log at hand knows."""
    loud = log(
        usual("app", "request {n} served", until=40),
        [
            (n, "ERROR [app] cache miss storm, connection refused by cache-1")
            for n in range(0, 40, 3)
        ],
    )
    return MadeUp(
        "not_here",
        {"app.log": loud},
        alert("WorkflowStalled", workflow="zz_nightly_310506_0412_77"),
        says="Not in these logs",
        cites=(),
        never=("cache",),
        verdicts=("inconclusive",),
        statuses=("",),
    )


def nothing_wrong() -> MadeUp:
    """Logs in which nothing went wrong."""
    return MadeUp(
        "nothing_wrong",
        {"app.log": log(usual("app", "request {n} served", until=40, every=0.5))},
        alert("AppSlow: requests feel slow", minute=35),
        says="",
        cites=(),
        verdicts=("inconclusive",),
        statuses=("",),
    )


def two_causes() -> MadeUp:
    """Two independent faults, and a question for each of them."""
    mixed = log(
        usual("api", "call {n} done", until=60, every=0.5),
        [
            (n + 0.1, f'ERROR [api] call failed: relation "parcel_{n}" does not exist')
            for n in range(0, 60, 2)
        ],
        [
            (n + 0.2, "ERROR [mail] could not resolve host name relay.invalid")
            for n in range(0, 60, 3)
        ],
    )
    return MadeUp(
        "two_causes",
        {"api.log": mixed},
        alert("ApiErrors: error rate is high. Name every distinct cause with its count."),
        says="2 independent causes",
        cites=("does not exist", "could not resolve host name"),
    )


def empty_list() -> MadeUp:
    """Records of which those of one order have no warehouse left; their siblings have."""

    def record(number: int, order: str, places: list[str]) -> dict[str, object]:
        return {
            "order": order,
            "state": "open",
            "stock": {f"sku/{number:04d}": places},
            "packaging": {f"box/{number % 3}": ["W1", "W2"]},
            "notes": [],
        }

    records = [record(n, f"order-{n % 7:04d}-310506", ["W1", "W3"]) for n in range(40)]
    records[5]["stock"] = {"sku/0005": []}
    records[12]["stock"] = {"sku/0012": []}
    for place in (5, 12):
        records[place]["order"] = "order-9001-310506"
    return MadeUp(
        "empty_list",
        {"open_orders.json": json.dumps(records, indent=1)},
        alert(
            "OrderStalled: order-9001-310506 is open for days and nobody picks it. Packaging is there."
        ),
        says="is empty in 2 of 2",
        cites=('"sku/0005"',),
        never=("packaging",),
    )


def waiting() -> MadeUp:
    """A component that waits on purpose and is blamed for it."""
    cleaner = log(
        usual("janitor", "looking at parcel p-{n}", until=30),
        [
            (
                n + 0.5,
                f"INFO [janitor] skipping parcel p-{1000 + n}: the customs transfer is not yet completed, will retry in the next cycle",
            )
            for n in range(30)
        ],
    )
    return MadeUp(
        "waiting",
        {"janitor.log": cleaner},
        alert(
            "ParcelsPilingUp: parcels are not removed, the janitor seems broken", service="janitor"
        ),
        says="waits on purpose",
        cites=("not yet completed",),
    )


def json_lines() -> MadeUp:
    """JSON lines: a name that stopped resolving in the middle of the log."""

    def lines() -> Iterator[str]:
        for n in range(80):
            at = (START + timedelta(seconds=20 * n)).isoformat()
            good = n < 50
            text = "stored event" if good else "dial tcp: lookup ledger.svc.internal: no such host"
            level = "info" if good else "error"
            yield json.dumps(
                {"ts": at, "level": level, "msg": text, "event_id": f"e{n}", "pod": "sink-0"}
            )

    return MadeUp(
        "json_lines",
        {"sink.jsonl": "\n".join(lines()) + "\n"},
        alert("SinkDown", pod="sink-0"),
        says="cannot be resolved",
        cites=("no such host",),
    )


def loud_noise() -> MadeUp:
    """The loudest error was always there; the new one is quiet."""
    mixed = log(
        usual("plan", "planned route {n}", until=90, every=0.5),
        [(n / 2, f"ERROR [plan] tariff {n} not found, using the default") for n in range(180)],
        [
            (71 + 4 * n, "ERROR [plan] checksum mismatch in map tile 14/8, tile dropped")
            for n in range(4)
        ],
    )
    return MadeUp(
        "loud_noise",
        {"planner.log": mixed},
        alert("RoutesWrong: wrong routes since 2031-05-06 08:10"),
        says="damaged",
        cites=("checksum mismatch",),
        never=("tariff",),
    )


def catalogue() -> MadeUp:
    """A lookup that cannot work: the identifier is of another catalogue. The step before tells."""
    split = (
        f"{stamp(1)} INFO [splitter] taking request req-31050612 from the queue\n"
        f"{stamp(1.1)} INFO [places] asking the parcel index for bundle-88120077\n"
        f"{stamp(1.2)} ERROR [splitter] exception while splitting req-31050612\n"
        "Traceback (most recent call last):\n"
        '  File "split.py", line 4, in run\n'
        "    places(bundle)\n"
        "index.NotKnown: identifier not found in the parcel index: bundle-88120077\n"
    )
    return MadeUp(
        "catalogue",
        {"splitter.log": split},
        alert(
            "Queue runs dry: almost no new work since the morning",
            "The splitter throws again and again.",
        ),
        says="does not exist there",
        cites=("exception while splitting", "identifier not found in the parcel index"),
    )


ALL = tuple(
    make()
    for make in (
        connection_limit,
        full_disk,
        time_limit,
        image_pull,
        permission,
        memory,
        expired,
        not_here,
        nothing_wrong,
        two_causes,
        empty_list,
        waiting,
        json_lines,
        loud_noise,
        catalogue,
    )
)
