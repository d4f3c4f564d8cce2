"""The names that fields get: one word per thing, whatever a column or a key calls it."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from connectors.log_files.record import Pairs

ALIASES = {
    "pod": "pod", "podname": "pod", "kubernetespodname": "pod",
    "host": "host", "hostname": "host", "node": "host", "nodename": "host",
    "container": "container", "containername": "container",
    "namespace": "namespace", "namespacename": "namespace",
    "service": "service", "servicename": "service", "app": "service", "application": "service",
    "logger": "component", "loggername": "component", "component": "component",
    "class": "component", "classname": "component", "module": "component",
    "thread": "thread", "threadname": "thread",
    "traceid": "trace_id", "spanid": "span_id",
    "requestid": "request_id", "reqid": "request_id",
    "jobid": "job_id", "runid": "run_id", "taskid": "task_id",
}  # fmt: skip
TIMES = (
    "timestamp", "time", "ts", "datetime", "eventtime", "date", "creationtime", "createdat",
    "created", "startsat", "startedat", "creationdate", "lasttimestamp", "firsttimestamp",
    "timeunixnano",
)  # fmt: skip
"""Names that hold the time of an event, the most telling first."""
MESSAGES = ("message", "msg", "log", "body", "text", "event", "content")
LEVEL_NAMES = ("level", "severity", "loglevel", "levelname", "lvl", "severitytext")

MAX_VALUE = 256
MAX_FIELDS = 64
REPLICA = re.compile(r"(.+?)(?:-[a-f0-9]{8,10}-[a-z0-9]{5}|-\d{1,3})")


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """*name* without case, blanks and punctuation, to compare it."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def first_named(names: Mapping[str, str], wanted: Iterable[str]) -> str | None:
    """The original of the first *wanted* name in *names*, a map of plain names to originals."""
    return next((names[name] for name in wanted if name in names), None)


def fields_of(values: Iterable[tuple[str, str]]) -> Pairs:
    """The fields to keep of one record: renamed, without empty and overlong values.

    The service is added where only its pod is named: the pod without its replica's suffix.
    """
    fields: dict[str, str] = {}
    for name, value in values:
        if value and name and len(value) <= MAX_VALUE and len(fields) < MAX_FIELDS:
            fields.setdefault(ALIASES.get(plain(name), name), value)
    match = REPLICA.fullmatch(fields.get("pod", ""))
    if match:
        fields.setdefault("service", match[1])
    return tuple(fields.items())
