"""The generated system that the context benchmark investigates. Its own, the same on every run.

5,000 log entries of about 300 bytes, 60 tickets of 2 to 12 KB, documents of 600 lines. Four exact
values lie in four kinds of place, as values do: in a first hit, in the middle of a long ticket,
deep in a document, and among forty hits.
"""

import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from connectors.embedded_tracker import EmbeddedTracker
from copilot.config import load_settings
from copilot.values import Alert
from copilot.workspace import Workspace

BEGIN = datetime(2026, 11, 30, 0, 0, tzinfo=UTC)
ENTRIES = 4400
RECORDS = 600
TICKETS = 60
DOCUMENTS = 6
HOSTS = 120
DOCUMENT_LINES = 600
TOPICS = (
    "checksum mismatch after copy", "stage-in waits for tape recall", "proxy lifetime below limit",
    "heartbeat missed by pilot", "catalogue entry without replica", "output merge waits for input",
    "database pool exhausted", "quota check deferred", "retry queue drained",
    "site in downtime skipped", "payload killed by batch system", "conditions tag not found",
    "transfer channel throttled", "log archive uploaded", "job resubmitted to other site",
    "wrapper exit without report", "lumi mask applied", "squid cache bypassed",
    "file invalidated by operator", "agent drain requested", "priority raised by policy",
    "block closed for injection",
)  # fmt: skip
COMPONENTS = ("transfer-agent", "stager", "pilot", "broker", "merger", "archiver", "catalogue")
WORKFLOW = "cmsprod_Run2026C_ReReco_261129_221504_8817"
SITE = "T2_DE_Example"
DATASET = "/ZeroBias/Run2026C-v1/RAW"
ALERT_TICKET = "OPS-4100"
RULED_OUT = ("T1_US_Mirror", "OPS-4155")
"""A site in downtime, and the ticket that announced it: loud, and not the cause."""
WORDS = (
    "the agent waits for the next cycle and keeps its files", "nobody changed the setting by hand",
    "seen on two sites so far", "the shift crew restarted the component once, without effect",
    "the vendor asks for the output of the diagnosis tool", "this is the same as last month",
    "please attach the log of the first failing job", "the rate went back to normal afterwards",
    "the rule was applied before the weekend", "we follow this up in the next meeting",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exact:
    """A value that is met at one turn and needed at a later one."""

    value: str
    what: str
    """What an investigator calls it."""
    near: str
    """Words beside it, by which it can be looked up without knowing it."""


NEEDED = (
    Exact("7c9e6679-7425-40de-944b-e07fc1f90ae7", "transfer", "first of its kind, transfer"),
    Exact("9f86d081884c7d659a2feaa0c55ad015", "rule", "workaround is rule"),
    Exact("48318382080", "limit", "hard limit of the buffer"),
    Exact("88120417", "quarantined job", "quarantined together with job"),
)
"""Met at turns 3, 9, 12 and 20; needed at 14, 22, 31 and 38."""
TICKET_WITH_RULE = "OPS-4109"
ALERT = Alert(
    source="alertmanager",
    title="WorkflowStalled",
    text=f"{WORKFLOW} has made no progress for 6 hours; 1,204 jobs wait at {SITE} ({ALERT_TICKET})",
    labels={"alertname": "WorkflowStalled", "workflow": WORKFLOW, "dataset": DATASET},
    starts_at=BEGIN + timedelta(hours=12),
    raw='{"alertname": "WorkflowStalled"}',
)


def made_world(folder: Path, settings: dict[str, object]) -> Workspace:
    """A workspace in *folder* that holds all of it. *settings* go over those of copilot.yaml."""
    chance = random.Random(3)
    folder.mkdir(parents=True)
    (folder / "copilot.yaml").write_text("model:\n  name: offline\n")
    loaded = load_settings(folder, {}, folder, settings)  # type: ignore[arg-type]  # plain values
    workspace = Workspace(loaded, {"ANTHROPIC_API_KEY": "sk-ant-test-key"})
    raw = folder / "raw"
    raw.mkdir()
    for name, lines in _logs(chance).items():
        (raw / name).write_text("\n".join(lines) + "\n")
        workspace.logbooks["logs"].import_file(raw / name, name)
    (raw / "transfers.json").write_text(json.dumps(_records(chance)))
    workspace.logbooks["logs"].import_file(raw / "transfers.json", "transfers.json")
    (raw / "tickets.json").write_text(json.dumps([_ticket(n, chance) for n in range(TICKETS)]))
    tracker = workspace.trackers["tickets"]
    assert isinstance(tracker, EmbeddedTracker)
    tracker.import_file(raw / "tickets.json", "tickets.json")
    (folder / "runbooks").mkdir()  # none: the plan searches documents of its own
    documents = folder / "documents"
    documents.mkdir()
    for number in range(DOCUMENTS):
        (documents / f"runbook-{number}.md").write_text(_document(number, chance))
    workspace.libraries["documents"].import_folder(documents)
    return workspace


def ticket_key(number: int) -> str:
    """The key of that ticket."""
    return f"OPS-{4100 + number % TICKETS}"


def host(number: int) -> str:
    """The name of that storage host."""
    return f"se{number % HOSTS:03}.storage.example.org"


def entry_time(number: int) -> datetime:
    """When that entry was written: evenly over twelve hours, in whole seconds."""
    return BEGIN + timedelta(seconds=12 * 3600 * number // ENTRIES)


def _logs(chance: random.Random) -> dict[str, list[str]]:
    """Lines by file; the topics take turns, so that every hour has hits of each."""
    files: dict[str, list[str]] = {}
    seen = dict.fromkeys(TOPICS, 0)
    for number in range(ENTRIES):
        topic = TOPICS[number % len(TOPICS)]
        component = COMPONENTS[number % len(COMPONENTS)]
        text = _message(number, topic, seen[topic], chance)
        level = "ERROR" if "mismatch" in topic or number % 11 == 0 else "INFO"
        time = entry_time(number).strftime("%Y-%m-%d %H:%M:%S,000")
        files.setdefault(f"{component}.log", []).append(f"{time} {level} {component}: {text}")
        seen[topic] += 1
    return files


def _message(number: int, topic: str, nth: int, chance: random.Random) -> str:
    """What one entry says; a few of them say what will be needed."""
    transfer = f"{chance.getrandbits(32):08x}-{chance.getrandbits(16):04x}-4000"
    text = (
        f"{topic} for {WORKFLOW if number % 3 else f'other_{number % 90:03}'} at {host(number)} "
        f"job {81000000 + number * 37} file /store/data/Run2026C/ZeroBias/RAW/v1/000/{number:06}/"
        f"{transfer}.root size {chance.randrange(10**9, 9 * 10**9)} attempt {1 + nth % 5} took "
        f"{chance.randrange(20, 90000)} ms, queue position {chance.randrange(900)}"
    )
    if topic == TOPICS[0] and nth == 0:
        return f"{NEEDED[0].near} {NEEDED[0].value}: {text}"
    if topic == TOPICS[3] and nth == 16:
        return f"{text}; {NEEDED[3].near} {NEEDED[3].value}"
    echoed = {TOPICS[12]: NEEDED[0], TOPICS[18]: NEEDED[1], TOPICS[7]: NEEDED[2]}
    if topic in echoed and nth in (60, 61, 120):
        return f"{text}, see {echoed[topic].value}"
    if topic == TOPICS[14] and nth in (80, 150):
        return f"{text}, parent job {NEEDED[3].value}"
    return text


def _records(chance: random.Random) -> list[dict[str, object]]:
    """600 records of a transfer database, as its export gives them."""
    return [
        {
            "time": entry_time(number * 7 % ENTRIES).isoformat(),
            "level": "INFO",
            "message": f"channel {host(number)} -> {host(number + 7)} settled",
            "state": ("DONE", "ACTIVE", "FAILED")[number % 3],
            "files": chance.randrange(1, 400),
            "bytes": chance.randrange(10**9, 10**12),
            "rule": f"{chance.getrandbits(128):032x}",
        }
        for number in range(RECORDS)
    ]


def _ticket(number: int, chance: random.Random) -> dict[str, object]:
    """One ticket of 2 to 12 KB, most of it comments."""
    key, size = ticket_key(number), 2000 + chance.randrange(10_000)
    comments: list[dict[str, str]] = []
    written = 0
    while written < size - 900:
        body = " ".join(
            f"{chance.choice(WORDS)} ({host(chance.randrange(HOSTS))}, job "
            f"{chance.randrange(10**8)})."
            for _ in range(4 + chance.randrange(5))
        )
        comments.append({"by": f"operator{chance.randrange(9)}", "body": body})
        written += len(body) + 60
    if key == TICKET_WITH_RULE:
        middle = comments[len(comments) // 2]
        middle["body"] += f" The {NEEDED[1].near} {NEEDED[1].value} until the fix is out."
        middle["body"] += f" {RULED_OUT[0]} is back since {RULED_OUT[1]} was closed."
    for place, comment in enumerate(comments):
        at = BEGIN - timedelta(days=number % 20, hours=len(comments) - place)
        comment["at"] = at.isoformat()
    topic = TOPICS[number % len(TOPICS)]
    return {
        "key": key,
        "summary": f"{topic} at {host(number)}",
        "status": ("Open", "In Progress", "Closed")[number % 3],
        "created": (BEGIN - timedelta(days=30 + number)).isoformat(),
        "updated": (BEGIN - timedelta(days=number % 20)).isoformat(),
        "labels": [COMPONENTS[number % len(COMPONENTS)]],
        "description": " ".join(f"{chance.choice(WORDS)}." for _ in range(12)),
        "comments": comments,
    }


def _document(number: int, chance: random.Random) -> str:
    """A runbook of 600 lines with a heading every thirty."""
    lines = []
    for line in range(DOCUMENT_LINES):
        if line % 30 == 0:
            topic = TOPICS[(number * 7 + line // 30) % len(TOPICS)]
            lines.append(f"## {topic}: procedure {number}.{line // 30}")
        elif number == 2 and line == 311:
            lines.append(
                f"The {NEEDED[2].near} is {NEEDED[2].value} bytes; above it nothing moves."
            )
        else:
            lines.append(
                f"- step {line}: {chance.choice(WORDS)}, on {host(chance.randrange(HOSTS))}"
            )
    return "\n".join(lines) + "\n"
