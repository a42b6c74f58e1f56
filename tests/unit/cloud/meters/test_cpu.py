"""The meter that compares CPU times."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pytest

from lease_scheduler.cloud.facts import LeaseOnHosts, LeaseServer, Power
from lease_scheduler.cloud.meters.base import Activity, MeterOptions
from lease_scheduler.cloud.meters.cpu import CpuMeter

_IDLE, _USED, _UNKNOWN = Activity.IDLE, Activity.USED, Activity.UNKNOWN


class _Cloud:
    """Servers by lease, and their CPU times; an exception in place of a time is raised."""

    def __init__(self, servers: Mapping[str, Sequence[LeaseServer]]) -> None:
        self.servers = dict(servers)
        self.times: dict[str, float | Exception | None] = {}
        self.asked: list[str] = []

    def servers_of(self, leases: Collection[LeaseOnHosts]) -> Mapping[str, Sequence[LeaseServer]]:
        return {each.lease_id: self.servers[each.lease_id] for each in leases if each.lease_id in self.servers}

    def cpu_time(self, server_id: str) -> float | None:
        self.asked.append(server_id)
        found = self.times[server_id]
        if isinstance(found, Exception):
            raise found
        return found


class _Site:
    """A meter, its cloud and its clock."""

    def __init__(self, **servers: Sequence[LeaseServer]) -> None:
        self.cloud = _Cloud(servers)
        self.now = 0.0
        self.slept: list[float] = []
        options = MeterOptions({"cpu_threshold": 2.0, "request_interval": 0.5}, self.cloud)
        self.meter = CpuMeter(options, lambda: self.now, self.slept.append)
        self.leases = [LeaseOnHosts(lease_id, "project") for lease_id in servers]

    def measure(self, *, after: float = 100, **times: float | Exception | None) -> Mapping[str, Activity]:
        """Measure after some seconds, with these CPU times."""
        self.now += after
        self.cloud.times |= times
        self.cloud.asked.clear()
        return self.meter.measure(self.leases)


def _server(server_id: str, power: Power = Power.ON, vcpus: int = 1) -> LeaseServer:
    return LeaseServer(server_id, power, vcpus)


def test_a_lease_without_servers_is_idle_and_costs_no_request() -> None:
    site = _Site(a=[])
    site.leases.append(LeaseOnHosts("unknown to the cloud", "project"))
    assert site.measure() == {"a": _IDLE, "unknown to the cloud": _IDLE}
    assert site.slept == []


def test_a_server_is_used_if_it_used_more_than_the_threshold_since_the_last_call() -> None:
    site = _Site(a=[_server("s", vcpus=4)])
    assert site.measure(s=1_000.0) == {"a": _UNKNOWN}
    # Two percent of four processors in 100 s are 8 s.
    assert site.measure(s=1_008.0) == {"a": _IDLE}
    assert site.measure(s=1_016.1) == {"a": _USED}
    assert site.measure(s=1_016.1) == {"a": _IDLE}
    assert site.slept == [0.5] * 4


def test_what_cannot_be_compared_is_unknown() -> None:
    site = _Site(a=[_server("s")])
    site.measure(s=50.0)
    assert site.measure(s=1.0) == {"a": _UNKNOWN}, "the server was started again"
    assert site.measure(s=1.0) == {"a": _IDLE}
    assert site.measure(s=None) == {"a": _UNKNOWN}
    assert site.measure(s=1.0) == {"a": _UNKNOWN}, "the measurement before gave nothing"
    assert site.measure(after=0, s=1.0) == {"a": _UNKNOWN}, "no time has passed"


@pytest.mark.parametrize(("power", "expected"), [(Power.OFF, _IDLE), (Power.UNKNOWN, _UNKNOWN)])
def test_servers_that_do_not_run_are_not_asked_about_and_begin_anew(power: Power, expected: Activity) -> None:
    site = _Site(a=[_server("s")])
    site.measure(s=50.0)
    site.cloud.servers["a"] = [_server("s", power)]
    assert site.measure(s=50.0) == {"a": expected}
    assert site.cloud.asked == []
    site.cloud.servers["a"] = [_server("s")]
    assert site.measure(s=50.0) == {"a": _UNKNOWN}


def test_one_used_server_is_enough_and_one_unknown_one_too_many() -> None:
    site = _Site(a=[_server("s"), _server("t")])
    site.measure(s=0.0, t=0.0)
    assert site.measure(s=50.0, t=0.0) == {"a": _USED}
    assert site.cloud.asked == ["s"], "the others need not be asked about"
    assert site.measure(s=50.0, t=0.0) == {"a": _IDLE}
    assert site.measure(s=50.0, t=None) == {"a": _UNKNOWN}


def test_a_cloud_that_does_not_answer_is_left_alone_and_nothing_is_known() -> None:
    failing = OSError("no answer")
    site = _Site(**{name: [_server(name)] for name in "abcdef"})
    site.measure(a=0.0, b=0.0, c=0.0, d=0.0, e=0.0, f=0.0)
    found = site.measure(b=failing, c=failing, d=failing, e=failing)
    assert found == {"a": _IDLE}
    assert site.cloud.asked == ["a", "b", "c", "d"]
    # One failure alone is no reason to give up.
    assert site.measure(b=0.0, c=0.0, d=failing, e=0.0).keys() == set("abcef")


def test_an_engine_that_stops_does_not_wait_for_the_rest() -> None:
    site = _Site(a=[_server("s")], b=[])
    assert site.meter.measure(site.leases, lambda: True) == {}
