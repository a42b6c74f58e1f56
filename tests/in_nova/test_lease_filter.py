"""The filter on Nova's own objects; its decisions are tested in ``tests/unit/nova``."""

from __future__ import annotations

import functools
import logging
import time

import pytest

from lease_scheduler.nova.aggregates import promise_metadata
from lease_scheduler.nova.lease_filter import LeaseFilter
from tests.in_nova.conftest import Configuration
from tests.in_nova.hosts import aggregate, host, request

POOL = {"lease__pool": "true"}
MINE = {"lease__id": "L1", "lease__project_id": "physics", "lease__exclusive": "true"}


class TestLeaseFilter:
    @pytest.fixture(autouse=True)
    def configured(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.filter = LeaseFilter()

    def test_hosts_outside_the_pool(self) -> None:
        assert self.filter.host_passes(host(), request())
        assert self.filter.host_passes(host(aggregate("fast", zone="east", ssd="true")), request())

    def test_the_pool_is_for_leases(self) -> None:
        for pool in (aggregate("freepool"), aggregate("anything", **POOL)):
            assert not self.filter.host_passes(host(pool), request())
            assert self.filter.host_passes(host(pool), request(lease__preemptible="true"))
            assert self.filter.host_passes(host(pool), request(blazar__preemptible="True"))

    def test_promised_lifetimes(self) -> None:
        """Metadata of the pool as the engine writes it; the specs of a flavor as an operator writes them."""
        until = int(time.time()) + 900
        promises = promise_metadata({0.95: {"compute-1": 6 * 3600}, 0.8: {"compute-1": 86400}}, until)
        pool = aggregate("freepool", **{key.replace(":", "__"): value for key, value in promises.items()})
        passes = functools.partial(self.filter.host_passes, host(pool))
        spot = functools.partial(request, lease__preemptible="true")
        assert passes(spot())
        assert passes(spot(lease__min_lifetime="6h"))
        assert not passes(spot(lease__min_lifetime="1d"))
        assert passes(spot(lease__min_lifetime="86400", lease__assurance="0.8"))
        assert not self.filter.host_passes(host(pool, name="compute-2"), spot(lease__min_lifetime="1h"))
        assert not self.filter.host_passes(host(), spot(lease__min_lifetime="1h"))
        assert list(self.filter.filter_all([host(), host(pool)], spot(lease__min_lifetime="6h"))) != []

    def test_flavors_that_are_wrong_find_no_host(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO)
        wrong: list[tuple[dict[str, str], str]] = [
            ({"lease__min_lifetime": "soon"}, "lease:min_lifetime must be a duration such as 6h, not 'soon'"),
            ({"lease__min_lifetime": "0"}, "not '0'"),
            ({"lease__min_lifetime": "6h", "lease__assurance": "95"}, "less than 1, not '95'"),
            ({"lease__assurance": "0.9"}, "lease:assurance needs lease:min_lifetime"),
        ]
        for specs, reason in wrong:
            assert (
                list(self.filter.filter_all([host(), host(aggregate("freepool"))], request("physics", None, **specs)))
                == []
            )
            assert reason in caplog.messages[-1]

    def test_hints(self) -> None:
        leased = host(aggregate("lease-L1", **MINE))
        for name in ("lease", "reservation"):
            assert self.filter.host_passes(leased, request(hints={name: ["L1"]}))
            assert not self.filter.host_passes(leased, request("biology", hints={name: ["L1"]}))
            assert not self.filter.host_passes(leased, request(hints={name: ["L2"]}))
        assert not self.filter.host_passes(leased, request())

    def test_flavors(self) -> None:
        leased = host(aggregate("lease-L1", **MINE))
        assert self.filter.host_passes(leased, request(lease__id="L1"))
        assert not self.filter.host_passes(leased, request("biology", lease__id="L1"))
        assert not self.filter.host_passes(host(aggregate("freepool")), request(lease__id="L1"))

    def test_reservation_of_blazar(self) -> None:
        reserved = host(aggregate("r1", zone="blazar_r1", blazar__owner="physics"))
        assert self.filter.host_passes(reserved, request(hints={"reservation": ["r1"]}))
        assert not self.filter.host_passes(reserved, request())

    def test_options(self) -> None:
        self.configuration(freepool="elsewhere", allow_preemptibles=False)
        strict = LeaseFilter()
        assert strict.host_passes(host(aggregate("freepool")), request())
        assert not strict.host_passes(host(aggregate("elsewhere")), request(lease__preemptible="true"))
        self.configuration(on_demand_horizon=60)
        assert LeaseFilter().host_passes(host(aggregate("elsewhere")), request())

    def test_all_hosts_at_once(self) -> None:
        """As nova-scheduler calls it; the answers are the same as for each host alone."""
        lease = aggregate("lease-L1", **MINE)
        pool, theirs = aggregate("freepool"), aggregate("L2", lease__id="L2")
        hosts = [host(), host(pool), host(pool, lease), host(pool, lease), host(pool, theirs), host(lease)]
        for spec in (request(), request(lease__preemptible="true"), request(hints={"lease": ["L1"]})):
            expected = [each for each in hosts if self.filter.host_passes(each, spec)]
            assert list(self.filter.filter_all(hosts, spec)) == expected
        rebuild = request(hints={"_nova_check_type": ["rebuild"]})
        assert list(self.filter.filter_all(hosts, rebuild)) == hosts

    def test_the_last_one_to_refuse_says_why(self, caplog: pytest.LogCaptureFixture) -> None:
        """One log message for all hosts, for operators; none if hosts are left."""
        caplog.set_level(logging.INFO)
        over = aggregate("lease-L1", **MINE, lease__until=str(int(time.time()) - 1))
        hosts = [host(over), host(over), host(aggregate("freepool"))]
        assert list(self.filter.filter_all([*hosts, host(aggregate("x", **MINE))], request(hints={"lease": ["L1"]})))
        assert list(self.filter.filter_all([], request())) == []
        assert caplog.messages == []
        assert list(self.filter.filter_all(hosts, request(hints={"lease": ["L1"]}))) == []
        (message,) = caplog.messages
        assert "lease L1 is over (2 hosts); lease L1 does not have the host (1 host)" in message

    def test_hosts_on_which_a_lease_begins_soon(self) -> None:
        self.configuration(on_demand_horizon=3600)
        soon = {"lease__next__0": f"{int(time.time()) + 600} compute-1"}
        pool = aggregate("freepool", **soon)
        by_horizon = LeaseFilter()
        assert not by_horizon.host_passes(host(pool), request())
        assert by_horizon.host_passes(host(pool, name="compute-2"), request())

    def test_a_request_without_a_flavor_s_extra_specs(self) -> None:
        spec = request()
        delattr(spec.flavor, "_obj_extra_specs")
        assert not self.filter.host_passes(host(aggregate("freepool")), spec)


@pytest.mark.parametrize("attribute", ["run_filter_once_per_request", "RUN_ON_REBUILD"])
def test_what_nova_asks_of_filters(attribute: str) -> None:
    assert getattr(LeaseFilter, attribute) is (attribute == "run_filter_once_per_request")
