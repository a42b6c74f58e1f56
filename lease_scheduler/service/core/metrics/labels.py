"""Labels that metrics of leases share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from prometheus_client.metrics import MetricWrapperBase

_Metric = TypeVar("_Metric", bound=MetricWrapperBase)

#: Label of metrics of leases by origin, and its value for local leases. To Prometheus, an empty label is
#: no label, so queries for sites without peers do not name it.
ORIGIN, LOCAL = "origin", ""

#: Label of metrics by pool, if the site has several.
POOL = "pool"


def of_pool(metric: _Metric, pools: Sequence[str | None], pool: str | None, *values: str) -> _Metric:
    """Return the series of a metric for a pool.

    :param pools: names of all pools; only None if the metric has no label of the pool
    :param values: values of the labels before that of the pool
    """
    if tuple(pools) != (None,):
        values = (*values, pool or "")
    return metric.labels(*values) if values else metric
