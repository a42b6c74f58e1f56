"""Every name that the engine counts, and that alerts and dashboard use, is the name of a metric."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
import yaml

from lease_scheduler import engine
from lease_scheduler.api.metrics import RequestMetrics
from lease_scheduler.service.core.metrics.engine import EngineMetrics
from lease_scheduler.service.core.metrics.events import COUNTED
from tests.unit.service.core.metrics.site import observation

ETC = Path(__file__).parents[5] / "etc"


def _families() -> dict[str, str]:
    """Return name -> type of everything that is exported."""
    metrics = EngineMetrics(per_project=True)
    RequestMetrics(metrics.registry)
    metrics.bind(observation, 0)
    return {family.name: family.type for family in metrics.registry.collect()}


def _names() -> set[str]:
    """Return the names of all samples."""
    ends = {"counter": ("_total",), "gauge": ("",), "histogram": ("_count", "_sum", "_bucket")}
    return {name + end for name, kind in _families().items() for end in ends[kind]}


def test_whatever_the_engine_counts_has_a_metric() -> None:
    counted = set()
    for path in Path(engine.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "count":
                counted |= {
                    each.value
                    for each in ast.walk(node.args[0])
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                }
    assert counted == set(COUNTED)


def test_names_keep_to_the_conventions_of_prometheus() -> None:
    for name in _families():
        assert re.fullmatch(r"lease_scheduler_[a-z_]+", name)
        assert not re.search(r"_(minutes|hours|milliseconds|percent|total|count|sum)$", name)


def test_the_documentation_has_every_metric() -> None:
    text = (ETC.parent / "doc" / "source" / "admin" / "monitoring.rst").read_text()
    listed = set(re.findall(r"^   \* - ``(lease_scheduler_[a-z_]+)``$", text, re.MULTILINE))
    assert listed == {name + ("_total" if kind == "counter" else "") for name, kind in _families().items()}


@pytest.mark.parametrize("file", ["prometheus-alerts.yaml", "grafana-dashboard.json"])
def test_alerts_and_dashboard_name_metrics_that_exist(file: str) -> None:
    used = set(re.findall(r"\blease_scheduler_[a-z_]+\b", (ETC / file).read_text()))
    assert used
    assert used <= _names()


def test_every_alert_says_what_it_means() -> None:
    rules = [
        rule
        for group in yaml.safe_load((ETC / "prometheus-alerts.yaml").read_text())["groups"]
        for rule in group["rules"]
    ]
    assert len({rule["alert"] for rule in rules}) == len(rules) > 0
    for rule in rules:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"] and rule["annotations"]["description"]


@pytest.mark.parametrize("counter", ["late_host_wakes", "failed_host_wakes", "asleep_refusals"])
def test_an_alarm_says_that_a_reservation_was_refused_or_late_because_a_host_sleeps(counter: str) -> None:
    groups = yaml.safe_load((ETC / "prometheus-alerts.yaml").read_text())["groups"]
    watched = [rule["expr"] for group in groups for rule in group["rules"]]
    assert any(f"increase(lease_scheduler_{counter}_total[" in expression for expression in watched)


def test_panels_of_the_dashboard_do_not_overlap() -> None:
    dashboard = json.loads((ETC / "grafana-dashboard.json").read_text())
    fields = [
        (x, y)
        for panel in dashboard["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(set(fields)) == len(fields)
    assert all(panel["targets"] for panel in dashboard["panels"])
