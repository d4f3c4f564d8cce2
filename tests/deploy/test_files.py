"""Claims about the container, the compose file and the receiver."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from copilot.config import load_settings

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def test_the_containers_settings_are_settings(tmp_path: Path) -> None:
    settings = load_settings(DEPLOY / "copilot.yaml", {}, tmp_path)

    assert settings.daemon.database.startswith("postgresql://")
    assert settings.state.is_relative_to("/var/lib/copilot")


def test_every_secret_and_volume_of_the_compose_file_is_declared() -> None:
    for service in COMPOSE["services"].values():
        assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"])
        named = [volume.partition(":")[0] for volume in service.get("volumes", ())]
        assert {name for name in named if not name.startswith(".")} <= set(COMPOSE["volumes"])
        for place in (name for name in named if name.startswith(".")):
            assert (DEPLOY / place).exists()


def test_no_secret_stands_in_a_file_of_the_deployment() -> None:
    for service in COMPOSE["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search(r"KEY|TOKEN|PASS", name):
                assert str(value).startswith("/run/secrets/"), name


def test_the_container_runs_as_nobody_in_particular_and_can_be_asked_for_its_health() -> None:
    text = (DEPLOY / "Containerfile").read_text()

    assert re.search(r"^USER \d+:\d+$", text, re.MULTILINE)
    assert "HEALTHCHECK" in text
    assert "STOPSIGNAL SIGTERM" in text
    assert "--frozen" in text


def test_the_container_has_every_extra_in_each_of_its_steps() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    steps = re.findall(r"uv sync .*", (DEPLOY / "Containerfile").read_text())

    assert len(steps) == 2
    for step in steps:
        assert set(re.findall(r"--extra (\w+)", step)) == set(project["optional-dependencies"])


def test_the_container_file_is_clean() -> None:
    found = shutil.which("hadolint", path=str(ROOT / ".venv" / "bin")) or shutil.which("hadolint")
    if found is None:
        pytest.skip("hadolint is not installed (`make setup` installs it)")
    done = subprocess.run(
        [found, str(DEPLOY / "Containerfile")], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, "")


def test_alertmanager_takes_the_receiver(tmp_path: Path) -> None:
    found = shutil.which("amtool")
    if found is None:
        pytest.skip("amtool is not installed (Debian: prometheus-alertmanager)")
    (tmp_path / "am.yml").write_text((DEPLOY / "alertmanager.yml").read_text())
    done = subprocess.run(
        [found, "check-config", str(tmp_path / "am.yml")],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
