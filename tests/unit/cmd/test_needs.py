"""The source of needs that a configuration selects."""

from __future__ import annotations

from typing import Any

import pytest
from oslo_config import cfg

from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.cmd.needs import needs_source
from lease_scheduler.conf import opts
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.service.core.clock import RealClock

_SECRET = "the secret of this site"


def _source(secret: str | None = None, **values: Any) -> Any:
    conf = cfg.ConfigOpts()
    opts.register(conf)
    conf([], project="lease-scheduler", default_config_files=[])
    for name, value in values.items():
        conf.set_override(name, value, group="needs")
    conf.set_override("secret", secret, group="agent")
    cloud = SimulatedCloud(":memory:", RealClock())
    try:
        return needs_source(conf, cloud.shares, lambda service_type: object() if secret else None)
    finally:
        cloud.close()


def test_leases_need_what_they_declare_unless_the_operator_selects_a_source() -> None:
    assert _source() is None
    assert type(_source(_SECRET, source="agent")).__name__ == "AgentNeeds"
    assert type(_source(_SECRET, source="gnocchi")).__name__ == "GnocchiNeeds"
    prometheus = _source(source="prometheus", prometheus_url="http://127.0.0.1", prometheus_query="up")
    assert type(prometheus).__name__ == "PrometheusNeeds"


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"source": "water"}, "there is no source 'water'; installed are: declared, agent, gnocchi, prometheus"),
        ({"source": "agent"}, r"agent needs agents on compute hosts: set \[agent\] secret"),
        ({"source": "gnocchi"}, "gnocchi needs an OpenStack"),
        ({"source": "prometheus"}, "needs.prometheus_url: is needed"),
    ],
)
def test_what_is_wrong_is_refused_by_its_name(values: dict[str, str], complaint: str) -> None:
    with pytest.raises(InvalidValueError, match=complaint):
        _source(**values)
