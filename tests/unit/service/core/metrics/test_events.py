"""Counters of what happens in pools."""

from __future__ import annotations

from collections import Counter

import pytest
from prometheus_client import CollectorRegistry

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.records.history import RevenueRecord, UsageRecord
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.metrics.events import EventMetrics


@pytest.mark.parametrize(("pools", "pool", "other"), [(("a", "b"), "b", {"pool": "a"}), ((), None, None)])
def test_the_pool_is_a_label_where_there_are_several(
    pools: tuple[str, ...], pool: str | None, other: dict[str, str] | None
) -> None:
    registry = CollectorRegistry()
    metrics = EventMetrics(registry, pools)
    changes = StoreChanges(0)
    changes.usage.append(UsageRecord("l", "p", "best-effort", "run", 0, 60, 2, {}, (1, 2), pool))
    changes.revenue.append(RevenueRecord("l", "p", 60, "earned", 2.0, 3.0, pool))
    metrics.written(changes, 0.1)
    kind = LeaseKind.RESERVATION
    metrics.counted(Counter({("preemptions", pool): 2}), Counter({(kind, None, pool): 1}))

    def value(name: str, labels: dict[str, str], **more: str) -> float | None:
        return registry.get_sample_value(f"lease_scheduler_{name}_total", {**more, **labels})

    own = {} if pool is None else {"pool": pool}
    assert value("node_seconds", own, kind="best-effort", phase="run") == 120
    assert value("revenue", own, outcome="earned") == 2.0
    assert value("revenue", own, outcome="undercharged") == 1.0
    assert value("preemptions", own) == 2
    assert value("lease_refusals", own, kind=kind.value, origin="") == 1
    if other is not None:
        assert value("preemptions", other) == 0
        assert value("revenue", other, outcome="earned") == 0
        assert value("lease_refusals", other, kind=kind.value, origin="") == 0
