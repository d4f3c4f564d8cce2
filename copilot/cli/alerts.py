"""`copilot alerts`: hand alerts to the daemon, see what came in, try how one would be taken."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import click

from copilot.cli.options import as_json
from copilot.cli.session import Session, pass_session
from copilot.cli.targets import STDIN, read_start, read_stdin
from copilot.errors import UsageError
from copilot.safe_text import one_line
from copilot.values import Json, list_at, object_at, text_at

if TYPE_CHECKING:
    from copilot.daemon.client import Client
    from copilot.intake.parcel import Kind

KINDS = ("alertmanager", "grafana", "generic")
F = TypeVar("F", bound=Callable[..., object])


def payload(function: F) -> F:
    """Give a command a FILE with a payload, and whose it is."""
    for decorate in (
        click.option("--map", "map_", default="", metavar="NAME", help="The map of a generic one."),
        click.option(
            "--as",
            "kind",
            type=click.Choice(KINDS),
            help="Whose payload it is; else it is told by its fields.",
        ),
        click.argument("file", type=click.Path(path_type=Path, allow_dash=True)),
    ):
        function = decorate(function)
    return function


@click.group("alerts")
def command() -> None:
    """Submit, list and test alerts."""


@command.command("submit")
@payload
@as_json
@pass_session
def submit(session: Session, file: Path, kind: str | None, map_: str, as_json: bool) -> None:
    """Hand the alert in FILE (- for stdin) to the running daemon, or into its spool.

    Without a daemon the file waits in the spool folder and is taken when one starts.
    """
    body, told = _read(session, file)
    client = daemon_of(session)
    if client is None:
        _spool(session, body, kind, map_)
        return
    query = {"map": map_} if map_ else {}
    answer = client.send(f"/v1/alerts/{kind or told}", body, **query)
    if as_json:
        session.screen.document({"schema": "copilot.taken/1", **answer})
        return
    for one in list_at(answer, "incidents"):
        session.screen.line(f"{text_at(one, 'id')}  {text_at(one, 'outcome')}")
    if not list_at(answer, "incidents"):
        session.screen.say("the payload holds no alert; nothing was opened")


@command.command("list")
@click.option("--incident", default="", metavar="ID", help="Only those of this incident.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, help="Only the newest so many.")
@as_json
@pass_session
def list_(session: Session, incident: str, limit: int, as_json: bool) -> None:
    """List the alerts that came in, newest first; needs a running daemon."""
    client = needed(session)
    query = {"limit": str(limit), **({"incident": incident} if incident else {})}
    found = list_at(client.get("/v1/alerts", **query), "alerts")
    if as_json:
        session.screen.document({"schema": "copilot.alerts/1", "alerts": found})
        return
    session.screen.table(
        ("LAST SEEN", "COUNT", "STATUS", "SOURCE", "INCIDENT", "TITLE"),
        [
            (
                text_at(one, "last_seen")[:19],
                text_at(one, "count"),
                "ignored" if text_at(one, "ignored") else text_at(one, "status"),
                text_at(one, "source"),
                text_at(one, "incident"),
                one_line(text_at(one, "title"), 100),
            )
            for one in found
        ],
    )


@command.command("test")
@payload
@as_json
@pass_session
def test(session: Session, file: Path, kind: str | None, map_: str, as_json: bool) -> None:
    """Show what would become of the alert in FILE. Nothing is stored or sent."""
    from copilot.intake.trial import tried

    body, told = _read(session, file)
    found = tried(session.workspace, body, cast("Kind", kind) if kind else told, map_)
    if as_json:
        session.screen.document({"schema": "copilot.trial/1", "alerts": [*found]})
        return
    for one in found:
        session.screen.line((one_line(text_at(one, "title"), 200), "title"))
        for name in ("status", "severity", "identity", "key", "starts_at", "ignored"):
            if value := text_at(one, name):
                session.screen.line(f"{name}: {one_line(value, 200)}", indent=2)
        labels = object_at(one, "labels")
        words = ", ".join(f"{name}={value}" for name, value in sorted(labels.items()))
        session.screen.line(f"labels: {one_line(words, 2000)}", indent=2)
    troubles = len({text_at(one, "identity") for one in found})
    session.screen.say(f"{len(found)} alerts of {troubles} incidents")


def needed(session: Session) -> "Client":
    """The daemon of this workspace. Raises UsageError when none runs."""
    client = daemon_of(session)
    if client is None:
        raise UsageError("no daemon runs over this workspace; start one with: copilot serve")
    return client


def daemon_of(session: Session) -> "Client | None":
    """The daemon that runs over this workspace on this machine, or None."""
    from copilot.daemon import doorplate

    plate = doorplate.find(session.workspace.settings.state)
    if plate is None:
        return None
    from copilot.daemon.client import Client

    return Client(plate)


def _spool(session: Session, body: bytes, kind: str | None, map_: str) -> None:
    from copilot.intake.drop import drop

    if kind == "grafana":
        raise UsageError("a file in the spool is told by its fields; leave out --as")
    path = drop(session.workspace.settings.intake.spool, body, map_)
    session.screen.say(f"no daemon runs; the alert waits in {path} for the next one")


def _read(session: Session, file: Path) -> tuple[bytes, "Kind"]:
    """What stands there, and whose payload it looks like. Raises UsageError when it is none."""
    from copilot.intake.bounds import load

    body = read_stdin() if str(file) == STDIN else read_start(session.cwd / file)
    return body, _kind(load(body))


def _kind(payload: Json) -> "Kind":
    """Alertmanager writes a version and a group key; Grafana names its organisation."""
    if not isinstance(payload, dict) or "alerts" not in payload:
        return "generic"
    return "grafana" if "orgId" in payload else "alertmanager"
