"""Every check in its order."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from copilot.doctor.check import Check, fail, ok, warn
from copilot.doctor.folder import folder
from copilot.doctor.machine import machine
from copilot.doctor.model import model
from copilot.doctor.reach import reached
from copilot.errors import ConfigError
from copilot.workspace import Workspace


def examine(
    open_workspace: Callable[[], Workspace],
    environ: Mapping[str, str],
    now: datetime,
    *,
    offline: bool,
) -> Iterator[Check]:
    """Every check, the machine first; *offline* asks no service and leaves the model out.

    Settings that cannot be read end it after their own check.
    """
    yield from machine(now)
    try:
        workspace = open_workspace()
    except ConfigError as error:
        for line in str(error).splitlines():
            yield fail(
                "settings", line, "mend that line; `copilot config schema` says what may stand"
            )
        return
    settings = workspace.settings
    file = settings.file
    if file:
        yield ok("settings", f"{file}")
    else:
        yield warn("settings", "no copilot.yaml; the defaults hold", "copilot init DIR")
    yield from folder(workspace)
    if not offline:
        yield from reached(workspace, now)
        yield from model(settings, environ)
