"""Claims about what the rules, the dashboard and the reference say of our metrics."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from copilot.metrics import WATCHED, Metrics
from copilot.values import JsonObject

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
RULES = yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text())["groups"][0]["rules"]
DASHBOARD: Mapping[str, Any] = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
ADDED = {"job", "instance", "le", "alertname"}
"""Labels that Prometheus adds to ours."""
SERIES = re.compile(r"\b((?:copilot|process)_\w+)(?:\{([^}]*)\})?")


@dataclass(frozen=True)
class Happened:
    kind: str
    data: JsonObject = field(default_factory=dict)


@pytest.fixture(scope="module")
def families() -> dict[str, tuple[set[str], set[str]]]:
    """Return each metric of a daemon in which everything happened, with its series and labels."""
    metrics = Metrics("1")
    for name in WATCHED:
        metrics.watch(name, lambda: 1.0)
    metrics.watch_polls(lambda: {("stalls", "runs"): 1}, lambda: {("stalls",): 1})
    metrics.watch_degraded(lambda: {("model",): 0})
    metrics.alert_received("spool", "opened")
    metrics.investigation_ended("reported", 60)
    metrics.model_request("m", "ok")
    metrics.commit_took(0.1)
    metrics.redacted({"rule": 1})
    metrics.connector_answered("logs", datetime(2026, 1, 1, tzinfo=UTC))
    metrics.observe(Happened("request", {"bytes": {"system": 1}, "estimate": 1}))
    metrics.observe(Happened("clear", {"by": "server"}))
    metrics.observe(Happened("result", {"tool": "t", "ok": True, "usage": {"input": 1}}))
    metrics.observe(Happened("result", {"tool": "t", "ok": True, "repeats": 1}))
    return {
        family.name + ("_total" if family.type == "counter" else ""): (
            {sample.name for sample in family.samples},
            {label for sample in family.samples for label in sample.labels} - {"le"},
        )
        for family in text_string_to_metric_families(metrics.text().decode())
    }


def expressions() -> Iterator[tuple[str, str]]:
    """Each query of the rules and the dashboard, with where it stands."""
    for rule in RULES:
        yield rule["alert"], rule["expr"]
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def test_every_series_that_is_asked_for_exists_with_its_labels(
    families: Mapping[str, tuple[set[str], set[str]]],
) -> None:
    labels = {series: named for names, named in families.values() for series in names}

    for place, expression in expressions():
        asked = SERIES.findall(expression)
        assert asked, place
        for series, matchers in asked:
            assert series in labels, f"{place}: {series}"
            known = labels[series] | ADDED
            assert set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers)) <= known, place
            for group in re.findall(r"by \(([^)]*)\)", expression):
                assert set(re.split(r",\s*", group)) <= known, place


def test_a_legend_names_only_labels_that_its_query_keeps() -> None:
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            kept = set(re.findall(r"\w+", " ".join(re.findall(r"by \(([^)]*)\)", target["expr"]))))
            named = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            assert named <= kept | {"instance"}, panel["title"]


def test_no_two_panels_lie_on_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_the_reference_names_every_metric_with_its_labels_and_no_other(
    families: Mapping[str, tuple[set[str], set[str]]],
) -> None:
    page = (ROOT / "docs" / "reference" / "metrics.md").read_text()
    rows = re.findall(r"^\| `(copilot_\w+)` \|([^|]*)\|", page, re.MULTILINE)

    assert {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows} == {
        name: labels for name, (_, labels) in families.items() if name.startswith("copilot_")
    }


def test_every_rule_has_a_section_and_every_section_a_rule() -> None:
    page = (ROOT / "docs" / "how-to" / "when-the-copilot-alerts.md").read_text()

    assert re.findall(r"^## (\w+)$", page, re.MULTILINE) == [rule["alert"] for rule in RULES]


@pytest.fixture
def promtool() -> str:
    """Return the path of Prometheus' checker."""
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    return found


def test_prometheus_reads_every_query(promtool: str, tmp_path: Path) -> None:
    """The dashboard's queries become rules, since it is rules that promtool reads."""
    rules = [
        {"record": "a:b", "expr": re.sub(r"\$__rate_interval", "5m", expression)}
        for _, expression in expressions()
    ]
    (tmp_path / "all.yaml").write_text(yaml.safe_dump({"groups": [{"name": "a", "rules": rules}]}))

    done = _run(promtool, "check", "rules", "--lint=none", str(tmp_path / "all.yaml"))

    assert done.returncode == 0, done.stdout + done.stderr


def test_each_rule_fires_when_it_should_and_not_before(promtool: str) -> None:
    done = _run(promtool, "test", "rules", str(Path(__file__).with_name("rules.yaml")))

    assert done.returncode == 0, done.stdout + done.stderr


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)
