"""Runs deploy/copilot.service under a systemd of its own, and prints what became of it.

    .venv/bin/python benchmarks/unit.py

Needs root, systemd-nspawn (Debian: systemd-container) and /usr/bin/python3 of 3.11 or newer.
Nothing of the machine is changed: systemd boots in a container over a read-only /usr, without a
network.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STATE = "/var/lib/copilot"
SETTINGS: dict[str, object] = {
    "model": {"name": "offline"},
    "notes": f"{STATE}/notes",
    "state": f"{STATE}/state",
    "scratch": {"path": f"{STATE}/scratch"},
    "intake": {"spool": f"{STATE}/state/spool", "debounce": "0s"},
    "logbooks": [{"name": "logs", "path": f"{STATE}/state/logs.sqlite"}],
    "trackers": [{"name": "tickets", "path": f"{STATE}/state/tickets.sqlite"}],
    "libraries": [{"name": "documents", "path": f"{STATE}/state/documents.sqlite"}],
}
TOKEN = "a-token-of-this-run"  # noqa: S105 - opens nothing but the daemon in the container
WATCHDOG_S = 6
"""Instead of the unit's two minutes, so that a frozen daemon is not waited for so long."""
PROBE = """\
[Unit]
DefaultDependencies=no
Requires=basic.target
After=basic.target
[Service]
Type=oneshot
ExecStart=/usr/bin/python3 /probe/unit.py inside
StandardOutput=file:/probe/said
StandardError=inherit
ExecStopPost=/usr/bin/systemctl poweroff --force
"""


def main() -> None:
    """Boot, and show what the unit did."""
    if sys.argv[1:] == ["inside"]:
        inside()
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        try:
            boot(folder)
        finally:
            print((folder / "said").read_text())


def prepare(folder: Path) -> None:
    """Lay out the program, its settings, its credentials and what runs inside."""
    uv, program = str(ROOT / ".uv" / "bin" / "uv"), str(folder / "opt")
    subprocess.run(
        [uv, "venv", "-q", "--relocatable", "--python", "/usr/bin/python3", program], check=True
    )
    subprocess.run(
        [uv, "sync", "-q", "--frozen", "--no-dev", "--no-editable"],
        cwd=ROOT,
        env={**os.environ, "UV_PROJECT_ENVIRONMENT": program, "UV_COMPILE_BYTECODE": "1"},
        check=True,
    )
    keys = folder / "etc" / "credentials"
    keys.mkdir(parents=True)
    (keys / "ANTHROPIC_API_KEY").write_text("sk-ant-of-this-run-and-of-no-account")
    (keys / "COPILOT_INTAKE_TOKEN").write_text(TOKEN)
    (folder / "etc" / "copilot.yaml").write_text(json.dumps(SETTINGS))
    unit = (ROOT / "deploy" / "copilot.service").read_text()
    (folder / "copilot.service").write_text(
        unit.replace("WatchdogSec=120", f"WatchdogSec={WATCHDOG_S}")
    )
    (folder / "probe.service").write_text(PROBE)
    shutil.copy(__file__, folder / "unit.py")
    (folder / "said").touch()


def boot(folder: Path) -> None:
    """Boot systemd with the unit, until the probe powers it off."""
    units = "/etc/systemd/system"
    binds = {
        f"{folder}/opt": "/opt/copilot",
        f"{folder}/etc": "/etc/copilot",
        f"{folder}/copilot.service": f"{units}/copilot.service",
        f"{folder}/probe.service": f"{units}/probe.service",
    }
    command = ["systemd-nspawn", "--quiet", "-D", "/", "--volatile=yes", "--register=no",
               "--keep-unit", "--private-network", f"--bind={folder}:/probe"]  # fmt: skip
    asking = ("systemd-firstboot", "systemd-sysusers")  # they would wait for a person
    command += [f"--bind-ro=/dev/null:{units}/{one}.service" for one in asking]
    command += [f"--bind-ro={place}:{there}" for place, there in binds.items()]
    subprocess.run(
        [*command, "--boot", "--", "--unit=probe.service"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=180, check=False,
    )  # fmt: skip


def inside() -> None:
    """Start, alert, reload, kill, freeze and stop the unit; print each outcome."""
    began = time.monotonic()
    systemctl("start", "copilot")
    first = process()
    say("ready after", f"{time.monotonic() - began:.1f} s")
    status = Path(f"/proc/{first}/status").read_text().splitlines()
    wanted = ("Uid", "CapBnd", "NoNewPrivs", "Seccomp:")
    say("process", "; ".join(" ".join(one.split()[:2]) for one in status if one.startswith(wanted)))
    say("key in its environment", b"sk-ant" in Path(f"/proc/{first}/environ").read_bytes())
    say("process metrics", b"process_resident_memory_bytes " in asked("/metrics"))

    asked("/v1/alerts/generic", {"title": "a workflow stalls", "labels": {"workflow": "w1"}})
    until(lambda: b'"reported"' in asked("/v1/incidents"))
    say("alert", json.loads(asked("/v1/incidents"))["incidents"][0]["status"])
    systemctl("reload", "copilot")
    say("after reload", "the same process" if process() == first else "another process")
    time.sleep(2 * WATCHDOG_S)
    say("after two watchdog intervals", "it lives" if process() == first else "it was replaced")

    for name, number in (("killed", signal.SIGKILL), ("frozen", signal.SIGSTOP)):
        before, began = process(), time.monotonic()
        os.kill(before, number)
        until(partial(is_another, before))
        say(name, f"ready again after {time.monotonic() - began:.1f} s")
    began = time.monotonic()
    systemctl("stop", "copilot")
    say("stopped", f"{systemctl('show', 'copilot', '-p', 'Result', '--value')}, "
        f"{time.monotonic() - began:.1f} s")  # fmt: skip


def systemctl(*words: str) -> str:
    """Return what systemctl prints."""
    done = subprocess.run(
        ["/usr/bin/systemctl", *words], capture_output=True, text=True, check=False
    )
    return (done.stdout + done.stderr).strip()


def process() -> int:
    """Return the daemon's process; 0 when there is none."""
    return int(systemctl("show", "copilot", "-p", "MainPID", "--value") or 0)


def asked(path: str, body: Any = None) -> bytes:
    """Return the daemon's answer."""
    request = urllib.request.Request(
        f"http://127.0.0.1:8080{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"authorization": f"Bearer {TOKEN}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - our own
        found: bytes = answer.read()
    return found


def is_ready() -> bool:
    """Whether the daemon answers that it is."""
    try:
        return b'"ready"' in asked("/readyz")
    except OSError:
        return False


def is_another(before: int) -> bool:
    """Whether another process than *before* is ready."""
    return process() not in {0, before} and is_ready()


def until(done: Callable[[], bool]) -> None:
    """Return once *done* says so."""
    end = time.monotonic() + 40
    while not done():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.2)


def say(what: str, outcome: object) -> None:
    """Print one line."""
    print(f"{what:<30}{outcome}", flush=True)


if __name__ == "__main__":
    main()
