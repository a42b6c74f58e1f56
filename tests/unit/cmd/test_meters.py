"""The meter that a configuration selects."""

from __future__ import annotations

from typing import Any

import pytest
from oslo_config import cfg

from lease_scheduler.cloud.capabilities import NoUsage
from lease_scheduler.cloud.simulated import SimulatedCloud
from lease_scheduler.cmd.meters import idle_options, meter
from lease_scheduler.conf import opts
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.service.core.clock import RealClock
from lease_scheduler.service.upkeep.idle.deciding import IdleOptions


def _configuration(**values: Any) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    opts.register(conf)
    conf([], project="lease-scheduler", default_config_files=[])
    for name, value in values.items():
        conf.set_override(name, value, group="idle")
    return conf


def test_nothing_is_measured_unless_the_operator_selects_a_meter() -> None:
    cloud = SimulatedCloud(":memory:", RealClock())
    assert meter(_configuration(), cloud.usage) is None
    assert type(meter(_configuration(meter="cloud"), cloud.usage)).__name__ == "CpuMeter"
    prometheus = _configuration(meter="prometheus", prometheus_url="http://127.0.0.1", prometheus_query="up")
    assert type(meter(prometheus, cloud.usage)).__name__ == "PrometheusMeter"
    cloud.close()


def test_a_meter_needs_a_driver_that_tells_what_servers_use() -> None:
    with pytest.raises(InvalidValueError, match="idle.meter: the driver of this cloud"):
        meter(_configuration(meter="cloud"), NoUsage())


def test_what_is_wrong_is_refused_by_its_name() -> None:
    cloud = SimulatedCloud(":memory:", RealClock())
    with pytest.raises(InvalidValueError, match="idle.meter: there is no meter 'water'; installed are: none, cloud, "):
        meter(_configuration(meter="water"), cloud.usage)
    with pytest.raises(InvalidValueError, match="idle.prometheus_url: is needed"):
        meter(_configuration(meter="prometheus"), cloud.usage)
    cloud.close()


def test_the_defaults_are_those_of_the_service() -> None:
    assert idle_options(_configuration()) == IdleOptions()
