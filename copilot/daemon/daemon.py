"""The daemon: what `copilot serve` starts, in which order, and how it leaves.

Started from the inside out (queue, inbox, workers, then the doors), so that nothing comes in before
it can be kept; left from the outside in. `docs/explanation/daemon.md` draws it.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from weakref import WeakSet

from connectors.mcp_servers import McpServer
from copilot import __version__
from copilot.credentials import Secret, secret
from copilot.daemon import doorplate
from copilot.daemon.backend import DaemonBackend
from copilot.daemon.caps import Allowance, Spent, allowance, day_of, hour_of
from copilot.daemon.desk import Desk
from copilot.daemon.housekeeping import Housekeeping
from copilot.daemon.right_of_way import RightOfWay
from copilot.daemon.room import Room
from copilot.daemon.shared_models import SharedModels
from copilot.daemon.signals import Signals
from copilot.daemon.standing import Standing
from copilot.daemon.strikes import Strikes
from copilot.daemon.watched import watched
from copilot.daemon.worker import Worker
from copilot.engine.engine import Engine
from copilot.engine.place import Place
from copilot.errors import CopilotError
from copilot.inbox.inbox import Inbox
from copilot.inbox.values import Entry, Rules
from copilot.intake.configured_polls import configured_polls
from copilot.intake.door import Door
from copilot.intake.pollers import Pollers
from copilot.intake.polls import Poll
from copilot.intake.spool import Spool
from copilot.mcp.offers import check_names
from copilot.mcp.servers import close_servers
from copilot.metrics import Metrics
from copilot.sd_notify import Notifier
from copilot.settings import Settings
from copilot.settings.daemon import SpendSettings
from copilot.values import Alert
from copilot.web.access import access_from, check_listen, split_address
from copilot.web.app import Doors, application
from copilot.web.limits import Limits
from copilot.web.server import Server
from copilot.workspace import Workspace

LOG = logging.getLogger(__name__)
ROUND_S = 0.2
DOORS_S = 1.5
"""What each door may take to close: with the drain, less than the 20 s that one is given."""
GRAFANA = "COPILOT_GRAFANA_SECRET"


class Daemon:
    """One daemon over one workspace."""

    def __init__(
        self,
        open_workspace: Callable[[], Workspace],
        environ: Mapping[str, str],
        signals: Signals,
    ) -> None:
        """Read the settings. Raises ConfigError and CredentialsError; nothing is begun yet."""
        self.signals = signals
        self.metrics = Metrics(__version__)
        self._open_workspace = open_workspace
        self._mcp_servers: WeakSet[McpServer] = WeakSet()
        self.workspace = self._opened()
        settings = self.workspace.settings
        self._now = self.workspace.now
        self._access = replace(access_from(environ), local=Secret(doorplate.new_token(), "daemon"))
        check_listen(settings.daemon.listen, self._access)
        self._grafana_secret = secret(GRAFANA, environ)
        self.models = SharedModels(count=self.metrics.model_request)
        self.way = RightOfWay(time.monotonic, time.sleep, self.metrics.stood_aside)
        self.notifier = Notifier(environ)
        self.door: Door

    def start(self) -> None:
        """Open everything, the doors last. Raises CopilotError."""
        settings = self.workspace.settings
        settings.state.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.workspace.notes.create()
        self.models.make_ready(self.workspace)
        self.inbox = _inbox(self.workspace)
        self.worker = Worker(
            workspace=lambda: self.workspace,
            inbox=self.inbox,
            models=self.models,
            allowance=self.allowance,
            observe=self.metrics.observe,
            ended=self.metrics.investigation_ended,
            strikes=Strikes(self.models.monotonic),
            way=self.way,
            take_over=bool(settings.daemon.database),
        )
        self.engine = Engine(_place(settings), self.worker.run)
        self.housekeeping = Housekeeping(
            lambda: self.workspace, self.inbox, self.engine, self._unused_rules
        )
        self.housekeeping.adopt()
        self.engine.start()
        self.housekeeping.report_stranded()
        self.desk = Desk(
            workspace=lambda: self.workspace,
            inbox=self.inbox,
            engine=self.engine,
            models=self.models,
            allowance=self.allowance,
            now=self._now,
            way=self.way,
        )
        self._open_doors()

    def _open_doors(self) -> None:
        settings = self.workspace.settings
        self.door = self._made_door(self.workspace)
        self.backend = DaemonBackend(
            workspace=lambda: self.workspace,
            door=lambda: self.door,
            inbox=self.inbox,
            engine=self.engine,
            desk=self.desk,
            counters=self.metrics,
            allowance=self.allowance,
            grafana_secret=self._grafana_secret,
            standing=lambda: self.standing,
            way=self.way,
            room=Room(time.monotonic),
            is_leaving=lambda: self.signals.is_leaving,
        )
        self.spool = Spool(settings.intake.spool, lambda: self.door, now=self._now)
        self.pollers = Pollers(settings.state / "pollers", self._take)
        host, _ = split_address(settings.daemon.listen)
        doors = Doors(self._access, (*settings.daemon.hosts, host))
        self.standing = Standing(
            workspace=lambda: self.workspace,
            inbox=self.inbox,
            engine=self.engine,
            desk=self.desk,
            spool=self.spool,
            pollers=self.pollers,
            spent=self._spent,
        )
        self.standing.watch(self.metrics)
        self.server = Server(application(self.backend, doors), settings.daemon.listen, Limits())
        self.spool.start()
        self.pollers.start(_polls(self.workspace))
        self.server.start()
        url = _reachable(settings.daemon.listen, self.server.port)
        assert self._access.local
        plate = doorplate.Doorplate(url, self._access.local.reveal(), os.getpid())
        self._plate = doorplate.Hung(settings.state, plate)
        LOG.info("serving", extra={"url": url, "workspace": str(settings.workspace)})

    def run(self) -> None:
        """Work until told to leave."""
        self.notifier.ready()
        while not self.signals.is_leaving:
            if self.signals.take_reload():
                self.reload()
            busy = self.desk.round()
            self.housekeeping.round()
            self.notifier.watchdog()
            if not busy or self.way.is_pressed:
                self.signals.wait(ROUND_S)

    def leave(self) -> bool:
        """Close the doors and let calls under way be recorded; whether all were.

        The process must exit at once then, without waiting for its threads.
        """
        self.notifier.stopping()
        drained = self.engine.drain(self.workspace.settings.daemon.drain.total_seconds())
        self.pollers.stop(DOORS_S)
        self.spool.stop(DOORS_S)
        self.desk.close()
        self.server.stop(DOORS_S)
        self._plate.take_down()
        self.inbox.shut()
        close_servers(list(self._mcp_servers))
        LOG.info("left", extra={"drained": drained})
        return drained

    def reload(self) -> None:
        """Take in changed settings, policies, runbooks, sources; what is wrong leaves the old."""
        self.notifier.reloading()
        servers = list(self._mcp_servers)
        try:
            workspace = self._opened()
            polls = _polls(workspace)
            workspace.runbooks.check()
            self.models.make_ready(workspace)
            door = self._made_door(workspace)
        except CopilotError as error:
            LOG.error("settings are wrong, the old ones stay", extra={"why": str(error)})  # noqa: TRY400 - no traceback reaches a person
        else:
            if _fixed(self.workspace.settings) != _fixed(workspace.settings):
                LOG.warning("changes of daemon and folders need a restart")
            self.workspace, self.door = workspace, door
            self.pollers.replace(polls)
            close_servers(servers)  # an investigation under way that calls one starts it again
            LOG.info("settings are reloaded")
        self.notifier.ready()

    def allowance(self, entry: Entry) -> Allowance:
        """What the money allows an incident now."""
        return allowance(self._spent(), entry.severity, self.workspace.settings.daemon.spend)

    def _spent(self) -> Spent:
        now = self._now()
        return Spent(self.inbox.spent(hour_of(now)), self.inbox.spent(day_of(now)))

    def _take(self, alerts: Sequence[Alert], source: str) -> None:
        self.door.take_alerts(alerts, source)

    def _opened(self) -> Workspace:
        workspace = self._open_workspace()
        check_names(workspace.settings.mcp_servers, workspace.policy)
        self._mcp_servers.update(workspace.mcp_servers.values())
        return watched(workspace, self.metrics)

    def _unused_rules(self) -> Sequence[str]:
        return self.door.use.never()  # of the door that is there then: a reload brings another

    def _made_door(self, workspace: Workspace) -> Door:
        return Door(
            workspace.settings,
            self.inbox,
            workspace.redactor,
            now=self._now,
            count=self.metrics.alert_received,
        )


def _place(settings: Settings) -> Place:
    daemon = settings.daemon
    return Place(
        folder=settings.state,
        database=daemon.database,
        workers=daemon.workers,
        workers_everywhere=daemon.workers_everywhere,
        starts_per_hour=daemon.starts_per_hour,
        time_limit=daemon.time_limit,
        lease=daemon.lease,
    )


def _inbox(workspace: Workspace) -> Inbox:
    settings = workspace.settings
    intake = settings.intake
    rules = Rules(intake.debounce, intake.cooldown, intake.backlog)
    place = settings.daemon.database or settings.state / "inbox.sqlite"
    return Inbox(place, rules, now=workspace.now)


def _polls(workspace: Workspace) -> Sequence[Poll]:
    settings = workspace.settings
    return configured_polls(
        settings.pollers,
        workspace.logbooks,
        workspace.trackers,
        severity_label=settings.intake.severity_label,
    )


def _reachable(listen: str, port: int) -> str:
    """The address for somebody on this machine."""
    host, _ = split_address(listen)
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _fixed(settings: Settings) -> tuple[object, ...]:
    """What a running daemon cannot change."""
    daemon = settings.daemon.model_copy(update={"spend": SpendSettings()})  # caps change at once
    return daemon, settings.intake.spool, settings.state, settings.notes
