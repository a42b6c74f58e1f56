"""The weigher among Nova's own objects."""

from __future__ import annotations

import time
from typing import Any

import pytest
from nova.scheduler import weights

from lease_scheduler.nova.lease_weigher import LeaseWeigher
from tests.in_nova.conftest import Configuration
from tests.in_nova.hosts import aggregate, host, request


def _order(hosts: list[Any], spec: object) -> list[str]:
    weighed = weights.HostWeightHandler().get_weighed_objects([LeaseWeigher()], hosts, spec)
    return [each.obj.host for each in weighed]


class TestLeaseWeigher:
    @pytest.fixture(autouse=True)
    def configured(self, configuration: Configuration) -> None:
        self.configuration = configuration
        now = int(time.time())

        def coming(seconds: int) -> object:
            return aggregate(f"lease-{seconds}", lease__id=str(seconds), lease__vacated_from=str(now + seconds))

        self.hosts = [
            host(aggregate("freepool"), coming(900), name="soon"),
            host(aggregate("freepool"), name="free"),
            host(aggregate("freepool"), coming(90_000), coming(900_000), name="later"),
        ]

    def test_without_a_lease_it_goes_where_the_next_one_is_farthest_away(self) -> None:
        assert _order(self.hosts, request(lease__preemptible="true")) == ["free", "later", "soon"]

    def test_an_operator_may_want_the_opposite(self) -> None:
        self.configuration(weight_multiplier=-1.0)
        assert _order(self.hosts, request(lease__preemptible="true")) == ["soon", "later", "free"]

    def test_an_aggregate_may_say_something_else_for_its_hosts(self) -> None:
        self.hosts[0].aggregates[0].metadata["lease_weight_multiplier"] = "7"
        assert LeaseWeigher().weight_multiplier(self.hosts[0]) == 7.0
        assert LeaseWeigher().weight_multiplier(self.hosts[1]) == 1.0

    def test_a_server_of_a_lease_goes_where_it_is_planned(self) -> None:
        spec = request(hints={"lease": ["L1"], "lease:host": ["later"]})
        assert _order(self.hosts, spec)[0] == "later"

    def test_a_planned_host_may_be_called_as_its_hypervisor(self) -> None:
        """The name of a service may differ from that of its hypervisor."""
        other = host(aggregate("freepool"), name="service")
        other.nodename = "service.example.org"
        spec = request(hints={"lease": ["L1"], "lease:host": ["service.example.org"]})
        assert _order([*self.hosts, other], spec)[0] == "service"

    def test_what_the_pool_tells_of_coming_leases(self) -> None:
        now = int(time.time())
        pool = aggregate("freepool", lease__next__0=f"{now + 900} soon", lease__next__1=f"{now + 90_000} later")
        hosts = [host(pool, name=name) for name in ("soon", "free", "later")]
        assert _order(hosts, request(lease__preemptible="true")) == ["free", "later", "soon"]
