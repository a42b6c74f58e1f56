"""Metrics of the state at an instant."""

from __future__ import annotations

from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry

from lease_scheduler.model.progress import Progress
from lease_scheduler.service.core.metrics.state import StateMetrics
from tests.unit.service.core.metrics.site import observation


def _registry(*, per_project: bool = False) -> CollectorRegistry:
    registry, metrics = CollectorRegistry(), StateMetrics(per_project=per_project)
    metrics.look = observation
    registry.register(metrics)
    return registry


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("leases", {"kind": "best-effort", "state": "active", "origin": ""}, 1),
        ("leases", {"kind": "best-effort", "state": "done", "origin": ""}, None),
        ("queue_length", {}, 1),
        ("resource_capacity", {"resource_class": "VCPU"}, 24),
        ("resource_capacity", {"resource_class": "FLOATING_IP"}, 1),
        # Two of the shared lease, and all of the host that the other lease has exclusively.
        ("resource_held", {"resource_class": "VCPU"}, 10),
        ("resource_in_use", {"resource_class": "VCPU"}, 2),
        ("resource_free", {"resource_class": "VCPU"}, 6),
        ("resource_utilization_ratio", {"resource_class": "VCPU"}, 2 / 24),
        ("hosts", {"status": "in_service"}, 2),
        ("hosts", {"status": "out_of_service"}, 1),
        ("hosts", {"status": "not_reservable"}, 1),
        ("orders", {"kind": "suspend"}, 1),
        ("orders", {"kind": "discard"}, 1),
        ("order_oldest_age_seconds", {"kind": "suspend"}, 60),
        ("order_oldest_age_seconds", {"kind": "discard"}, None),
        ("price_rate", {}, 1.5),
        ("forecasts_judged", {"forecast": "start"}, 30),
        ("forecasts_judged", {"forecast": "demand"}, 0),
        ("forecast_held_ratio", {"forecast": "start"}, 0.97),
        ("forecast_asked_ratio", {"forecast": "start"}, 0.95),
        ("forecast_asked_ratio", {"forecast": "demand"}, None),
        ("forecast_since_timestamp_seconds", {"forecast": "start"}, 400),
        ("project_leases", {"project_id": "red", "kind": "best-effort", "origin": ""}, None),
    ],
)
def test_gauges(name: str, labels: dict[str, str], expected: float | None) -> None:
    assert _registry().get_sample_value(f"lease_scheduler_{name}", labels) == expected


def test_gauges_of_projects_are_there_if_they_are_asked_for() -> None:
    registry = _registry(per_project=True)
    labels = {"project_id": "red", "kind": "best-effort", "origin": ""}
    assert registry.get_sample_value("lease_scheduler_project_leases", labels) == 4
    labels = {"project_id": "red", "resource_class": "VCPU"}
    assert registry.get_sample_value("lease_scheduler_project_resource_held", labels) == 10
    # The host that the other lease has exclusively is not in use before it runs.
    assert registry.get_sample_value("lease_scheduler_project_resource_in_use", labels) == 2


def test_leases_of_peers_are_counted_by_origin() -> None:
    registry, metrics, seen = CollectorRegistry(), StateMetrics(per_project=True), observation()
    first, *others = seen.leases
    of_peer = replace(first, request=replace(first.request, origin="north"))
    metrics.look = lambda: replace(seen, leases=(of_peer, *others))
    registry.register(metrics)
    for origin, running, in_all in (("north", 1, 1), ("", None, 3)):
        labels = {"kind": "best-effort", "state": "active", "origin": origin}
        assert registry.get_sample_value("lease_scheduler_leases", labels) == running
        labels = {"project_id": "red", "kind": "best-effort", "origin": origin}
        assert registry.get_sample_value("lease_scheduler_project_leases", labels) == in_all


def test_who_does_not_lead_knows_nothing() -> None:
    assert list(StateMetrics().collect()) == []


def test_gauges_of_fluid_leases_are_there_while_any_runs() -> None:
    """Nothing is told of leases that do not run."""
    registry, metrics, seen = CollectorRegistry(), StateMetrics(), observation()
    running = next(lease for lease in seen.leases if lease.active_since is not None)
    waiting = next(lease for lease in seen.leases if lease.active_since is None)
    submitted = running.request.submitted
    fluid = [replace(running, progress=Progress(*each, seen.now)) for each in ((500, 1_000), (125_000, 250))]
    paused = replace(waiting, progress=Progress(7, 0, seen.now))
    registry.register(metrics)
    metrics.look = lambda: replace(seen, leases=(*fluid, paused))
    assert registry.get_sample_value("lease_scheduler_fluid_leases") == 2
    assert registry.get_sample_value("lease_scheduler_fluid_yield", {"statistic": "least"}) == 0.25
    assert registry.get_sample_value("lease_scheduler_fluid_yield", {"statistic": "mean"}) == 0.625
    largest = max(1.0, 1_000 * (seen.now - submitted) / 500)
    assert registry.get_sample_value("lease_scheduler_fluid_stretch") == largest
    metrics.look = lambda: replace(seen, leases=(paused,))
    assert registry.get_sample_value("lease_scheduler_fluid_leases") is None
