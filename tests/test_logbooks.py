"""Settings become logbooks that do what the settings say."""

from pathlib import Path

from connectors.logbook import Filters
from copilot.config import load_settings
from copilot.window import ALWAYS
from copilot.workspace import Workspace
from tests.bench import NOW

LOG = "".join(
    f"2026-11-30 10:00:{number:02},000 INFO mover: copied {word} to tape\n"
    for number, word in enumerate(("vol-a7x", "vol-b9-q", "vol-c1zz"))
)
MASKS = r"""
logbooks:
- name: logs
  path: state/logs.sqlite
  masks:
  - pattern: vol-[a-z0-9-]+
    name: VOLUME
"""


def test_what_an_operator_masks_is_one_name_in_templates(tmp_path: Path) -> None:
    (tmp_path / "copilot.yaml").write_text(MASKS)
    (tmp_path / "app.log").write_text(LOG)
    logbook = Workspace(load_settings(tmp_path, {}, tmp_path), {}, now=lambda: NOW).logbooks["logs"]
    logbook.import_file(tmp_path / "app.log", "app.log")

    [pattern] = logbook.patterns(ALWAYS, None, Filters()).rose

    assert "copied <VOLUME> to tape" in pattern.template
    assert pattern.count == 3
