"""What CloudKitty is told to collect exists, and the file has the form that CloudKitty demands."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from prometheus_client import CollectorRegistry

from lease_scheduler.service.core.metrics.state import StateMetrics
from tests.unit.service.core.metrics.site import observation

_FILE = Path(__file__).parents[3] / "etc" / "cloudkitty-metrics.yml"

_TEXT = {"type": "string", "minLength": 1}
_NUMBER = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^\d+(/[1-9]\d*)?$"}]}
#: What cloudkitty.collector (25.0) demands of a metric, with the arguments of its collector for Prometheus.
_METRIC = {
    "type": "object",
    "additionalProperties": False,
    "required": ["unit"],
    "properties": {
        "alt_name": _TEXT,
        "description": _TEXT,
        "unit": _TEXT,
        "factor": _NUMBER,
        "offset": _NUMBER,
        "groupby": {"type": "array", "items": _TEXT},
        "metadata": {"type": "array", "items": _TEXT},
        "mutate": {"enum": ["NONE", "NUMBOOL", "NOTNUMBOOL", "FLOOR", "CEIL", "MAP"]},
        "mutate_map": {"type": "object"},
        "extra_args": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "aggregation_method": {"enum": ["avg", "count", "max", "min", "stddev", "stdvar", "sum"]},
                "query_function": _TEXT,
                "range_function": {"enum": ["changes", "delta", "deriv", "idelta", "irange", "irate", "rate"]},
                "query_prefix": {"type": "string"},
                "query_suffix": {"type": "string"},
            },
        },
    },
}


@pytest.fixture
def metrics() -> dict[str, Any]:
    content = yaml.safe_load(_FILE.read_text())
    assert set(content) == {"metrics"}
    found: dict[str, Any] = content["metrics"]
    return found


def test_the_form_is_that_of_cloudkitty(metrics: dict[str, Any]) -> None:
    for metric in metrics.values():
        jsonschema.validate(metric, _METRIC)
        assert not set(metric["groupby"]) & set(metric["metadata"])


def test_what_is_collected_has_these_labels(metrics: dict[str, Any]) -> None:
    registry, state = CollectorRegistry(), StateMetrics(per_project=True)
    state.look = observation
    registry.register(state)
    families = {family.name: family for family in registry.collect()}
    for name, metric in metrics.items():
        samples = families[name].samples
        assert samples
        for sample in samples:
            assert {"project_id", *metric["groupby"], *metric["metadata"]} <= set(sample.labels)


def test_samples_of_an_hour_add_up_to_resource_hours(metrics: dict[str, Any]) -> None:
    """CloudKitty sums the samples of its period, and multiplies the sum by the factor: two VCPU for half an hour."""
    registry, state = CollectorRegistry(), StateMetrics(per_project=True)
    registry.register(state)
    (name,) = metrics
    labels = {"project_id": "red", "resource_class": "VCPU"}
    found = 0.0
    for minute in range(60):
        state.look = observation if minute < 30 else lambda: None
        found += registry.get_sample_value(name, labels) or 0.0
    assert metrics[name]["extra_args"]["aggregation_method"] == "sum"
    assert found * Fraction(metrics[name]["factor"]) == pytest.approx(1.0)
