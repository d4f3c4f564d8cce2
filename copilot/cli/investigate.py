"""`copilot investigate`: from an alert to a report, followed live."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from copilot.cli import exit_codes
from copilot.cli.alerts import daemon_of
from copilot.cli.card import investigator, print_card
from copilot.cli.faults import Stopped
from copilot.cli.follow import Follower, event_json
from copilot.cli.interrupts import watching
from copilot.cli.options import window_of, windowed
from copilot.cli.outbox import say_waiting
from copilot.cli.session import Session, pass_session
from copilot.cli.targets import Known, resolved, target_of, with_window, with_words
from copilot.errors import CopilotError, UsageError

if TYPE_CHECKING:
    from copilot.cli.interrupts import Interrupts
    from copilot.cli.ui import Progress
    from copilot.daemon.client import Client
    from copilot.journal import Event
    from copilot.models.retries import Attempt
    from copilot.steps import StopReason
    from copilot.values import Alert, Json, JsonObject
    from copilot.workspace import Workspace

FINISHING = "finishing this turn, then the report; Ctrl-C again stops now"
BUDGETS = frozenset({"turns", "tokens", "usd", "wall_time"})


@dataclass(frozen=True, slots=True)
class Shown:
    """How a run is shown, and what its exit code says."""

    as_json: bool = False
    as_jsonl: bool = False
    exit_code: bool = False
    stays: bool = True
    """False when the workspace is gone with the process."""
    timeout: timedelta | None = None


@click.command("investigate")
@click.argument("target")
@click.option("--question", default="", help="What you want to know.")
@windowed
@click.option("--model", metavar="NAME", help="offline, auto, or a model's id.")
@click.option("--max-turns", type=click.IntRange(1), help="Most answers of the model.")
@click.option("--max-usd", type=float, help="Most dollars.")
@click.option("--policy", metavar="NAME", help="The context policy; see `copilot policy list`.")
@click.option("--timeout", metavar="LENGTH", default="", help="Stop then, as 10m; it can resume.")
@click.option("--exit-code", is_flag=True, help="Leave with 3 when the report is inconclusive.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON document.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Print each event as a JSON line.")
@click.option("--show-request", is_flag=True, help="Print the next request and send nothing.")
@pass_session
def command(
    session: Session,
    /,
    target: str,
    question: str,
    since: str,
    until: str,
    show_request: bool,
    **options: Any,
) -> int:
    """Investigate TARGET and write a report.

    TARGET is a file with an alert in JSON, - for one on stdin, the key of an imported ticket, the
    name of a workflow (with --question), or the id of an incident: what was not finished is
    resumed, what was is investigated anew.

    The first Ctrl-C finishes the turn and writes the report. The second stops at once; the same
    command resumes. `copilot help exit-codes` says what the exit codes mean.
    """
    from copilot.window import parse_duration

    if options["as_json"] and options["as_jsonl"]:
        raise UsageError("give one of --json and --jsonl")
    workspace = session.open(_settings(options))
    found = target_of(session, workspace, target, question)
    if not isinstance(found, Known) and not question and (why := resolved(workspace, found)):
        session.screen.say(why)
        return exit_codes.OK
    if since or until:
        window = window_of(session, since, until)
        question = with_words(question, window)
        found = found if isinstance(found, Known) else with_window(found, window)
    if show_request:
        from copilot.cli.request import next_request

        session.screen.document(next_request(workspace, found, question))
        return exit_codes.OK
    shown = Shown(
        as_json=options["as_json"],
        as_jsonl=options["as_jsonl"],
        exit_code=options["exit_code"],
        timeout=parse_duration(options["timeout"]) if options["timeout"] else None,
    )
    if client := daemon_of(session):
        report = _handed(session, client, found, question, options)
        return _finish(session, workspace, report, shown)
    return follow(session, workspace, found, question, shown)


def _handed(
    session: Session,
    client: "Client",
    found: "Alert | Known",
    question: str,
    options: "dict[str, Any]",
) -> "JsonObject":
    """The report of the investigation that the running daemon does instead of this process."""
    from copilot import alerts
    from copilot.cli.handed import hand_over

    body: JsonObject = {"question": question}
    if isinstance(found, Known):
        body["incident"] = found.incident
    else:
        body["alert"] = {**alerts.as_json(found), "raw": found.raw}
    names = {"model": "model", "max_turns": "turns", "max_usd": "usd", "policy": "policy"}
    body |= {key: options[name] for name, key in names.items() if options.get(name) is not None}
    return hand_over(session, client, body, options["as_jsonl"])


def follow(
    session: Session, workspace: "Workspace", found: "Alert | Known", question: str, shown: Shown
) -> int:
    """Investigate, show it live, print the outcome and return the exit code."""
    from copilot import app, assembly
    from copilot.report.render import as_json

    session.screen.say(f"investigator: {investigator(assembly.model_name(workspace))}")
    if unnamed := assembly.unnamed_endpoint(workspace):
        session.screen.say((unnamed, "warn"))
    follower = Follower(workspace.now)
    try:
        with watching(shown.timeout) as interrupts, session.screen.progress() as progress:
            watch = Watch(session, progress, follower, interrupts, shown.as_jsonl)
            wishes = app.Wishes(question, watch.observe, watch.stop, watch.attempted)
            if isinstance(found, Known):
                ending = app.resume(workspace, found.incident, wishes)
            else:
                ending = app.run(workspace, found, wishes)
    except Stopped as error:
        raise Stopped(f"{error}; {_resume(session, follower)}", error.code) from None
    except CopilotError as error:
        if follower.incident:
            error.add_note(_resume(session, follower))
        raise
    return _finish(
        session, workspace, as_json(ending.page, workspace.scratch(ending.incident)), shown
    )


class Watch:
    """What the person sees of an investigation, and what she wants of it."""

    def __init__(
        self,
        session: Session,
        progress: "Progress",
        follower: Follower,
        interrupts: "Interrupts",
        as_jsonl: bool,
    ) -> None:
        self._session = session
        self._progress = progress
        self._follower = follower
        self._interrupts = interrupts
        self._as_jsonl = as_jsonl
        self._told = False
        progress.pin(self._status)

    def wants_report(self) -> bool:
        """Return true once she has pressed Ctrl-C."""
        return self._interrupts.report_wanted

    def stop(self) -> "StopReason":
        """Why the report is wanted now, if it is."""
        return "operator" if self.wants_report() else ""

    def observe(self, event: "Event") -> None:
        """Show one event."""
        self._progress.event(event.time, *self._follower.take_in(event))
        if self.wants_report() and not self._told:
            self._told = True
            self._progress.event(event.time, FINISHING, "warn")
        if self._as_jsonl:
            _print_event(self._session, event)

    def attempted(self, attempt: "Attempt") -> None:
        """Show that the service failed and when it is asked again."""
        if attempt.wait_s is not None:
            said = f"the service failed ({attempt.kind}); again in {attempt.wait_s:.0f} s"
            self._progress.event(self._session.now(), said, "warn")

    def _status(self) -> str:
        status = self._follower.status()
        return f"{FINISHING} · {status}" if self.wants_report() else status


def _settings(options: "dict[str, Json]") -> "dict[str, Json]":
    """The options that are settings, by dotted key."""
    keys = {
        "model": "model.name",
        "max_turns": "budgets.turns",
        "max_usd": "budgets.usd",
        "policy": "policy",
    }
    return {key: options[name] for name, key in keys.items() if options.get(name) is not None}


def _print_event(session: Session, event: "Event") -> None:
    """Print the event as a line; a reader that has gone does not end the investigation."""
    try:
        session.screen.event(event_json(event))
    except BrokenPipeError:
        session.screen.close_output()


def _finish(session: Session, workspace: "Workspace", report: "JsonObject", shown: Shown) -> int:
    """Print the report; what the process leaves with."""
    if shown.as_json:
        session.screen.document(report)
    elif shown.as_jsonl:
        session.screen.event(report)
    else:
        session.screen.say()
        print_card(session.screen, report)
        _print_places(session, workspace, str(report["incident"]))
        say_waiting(session, str(report["incident"]))
        if shown.stays:
            _print_next(session, str(report["incident"]))
    return _exit_code(report, shown)


def _print_places(session: Session, workspace: "Workspace", incident: str) -> None:
    """Print where everything of an incident is."""
    notes = workspace.notes.root / incident
    session.screen.line(f"Report: {notes / 'report.md'}")
    session.screen.line(f"Notes: {notes / 'STATE.md'}")
    session.screen.line(f"Evidence: {workspace.settings.scratch.path / incident}")


def _print_next(session: Session, incident: str) -> None:
    """Print what to type next."""
    session.screen.line()
    session.screen.line(("Next", "title"))
    for words in ("scratch ls {}", "notes history {}", "incidents close {} --verdict right"):
        session.screen.line(f"{_copilot(session)} {words.format(incident)}", indent=2)


def _exit_code(report: "JsonObject", shown: Shown) -> int:
    if report["limit"] in BUDGETS:
        return exit_codes.BUDGET
    if shown.exit_code and report["verdict"] == "inconclusive":
        return exit_codes.INCONCLUSIVE
    return exit_codes.OK


def _resume(session: Session, follower: Follower) -> str:
    if not follower.incident:
        return "nothing was begun"
    return f"nothing is lost; resume with: {_copilot(session)} investigate {follower.incident}"


def _copilot(session: Session) -> str:
    """How the copilot was called, as far as it decides which workspace is meant."""
    import shlex

    return f"copilot --config {shlex.quote(str(session.config))}" if session.config else "copilot"
