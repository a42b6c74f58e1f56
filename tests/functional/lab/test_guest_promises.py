"""Preemptible servers without a lease whose flavors ask for a lifetime, on a real Nova (prediction F34; growth 5).

The database gets the past of two weeks, as if the service had run for so long: leases started on one host every hour,
and on the others never.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest
from sqlalchemy import insert

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.assurance.base import AssurancePolicy
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.store.sql.schema import POLICY_STATE
from tests.functional.lab.service import (
    LIMIT,
    QUARTER,
    Document,
    Service,
    host_of,
    in_seconds,
    preemptible_flavor,
    running_service,
)
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.lab import Lab

pytestmark = pytest.mark.slow

_HOUR, _DAY = 3_600, 86_400
_PAST = 14 * _DAY
#: The host on which leases start every hour.
_BUSY = LAB_HOSTS[0].name
_ASSURANCE = 0.9


@pytest.fixture(scope="module")
def service(lab: Lab) -> Iterator[Service]:
    """The service, which promises lifetimes to servers without a lease by what it knows of the past."""
    settings: dict[str, dict[str, object]] = {
        "scheduling": {"policy_assurance": "statistical"},
        "engine": {"guest_assurances": _ASSURANCE},
    }
    with running_service(lab, settings=settings) as started:
        started.end_engine()
        _give_a_past(started)
        started.start_engine()
        assert wait_until(lambda: bool(_promised(started)), LIMIT), started.said()
        yield started


def _give_a_past(service: Service) -> None:
    """Store what the service would know if it had seen two weeks."""
    policy: AssurancePolicy = load_policy("assurance", "statistical", PolicyOptions())
    policy.follow(Site(tuple(Host(host.name, Resources(QUARTER)) for host in LAB_HOSTS)))
    now = int(time.time())
    for begin in range(now - _PAST, now, _HOUR):
        policy.guest_lifetimes((_ASSURANCE,), (), begin, 0)
        end = begin + _HOUR // 2
        nodes = (NodeSet(1, Resources(QUARTER)),)
        request = LeaseRequest(str(begin), LeaseKind.RESERVATION, nodes, begin, duration=_HOUR // 2, start=begin)
        held = (Holding((0,), begin, begin, end, end),)
        lease = Lease(request, 0, LeaseState.ACTIVE, holdings=held, started=begin, active_since=begin)
        policy.observe(Outcome.STARTED, lease, None, begin)
        policy.observe(Outcome.DONE, replace(lease, state=LeaseState.DONE, active_since=None), lease, end)
    rows = [
        {"pool": "", "family": "assurance", "policy": policy.name, "subject": subject, "state": dict(state)}
        for subject, state in policy.take_changes().items()
        if state is not None
    ]
    with service.programs.database.begin() as connection:
        connection.execute(POLICY_STATE.delete().where(POLICY_STATE.c.family == "assurance"))
        connection.execute(insert(POLICY_STATE), rows)


def _promised(service: Service) -> dict[str, int]:
    """Return the lifetime in seconds that is published for each host."""
    found: dict[str, int] = {}
    for aggregate in service.admin.compute("GET", "/os-aggregates")["aggregates"]:
        for name, value in aggregate["metadata"].items():
            if name.startswith("lease:assured:"):
                _, seconds, *hosts = value.split()
                found.update(dict.fromkeys(hosts, int(seconds)))
    return found


@contextmanager
def _flavor(admin: CloudClient, lifetime: str) -> Iterator[str]:
    """Make a flavor whose servers want to run for so long."""
    specs = {"lease:min_lifetime": lifetime, "lease:assurance": str(_ASSURANCE)}
    with preemptible_flavor(admin, 1_900, specs) as flavor:
        yield flavor


@pytest.fixture
def servers(service: Service) -> Iterator[list[str]]:
    """Servers that are deleted after the test, whatever its outcome."""
    made: list[str] = []
    yield made
    service.remove_servers(made)


def test_a_server_runs_only_where_its_lifetime_is_promised(
    service: Service, leases: list[Document], servers: list[str]
) -> None:
    """Six hours are promised on the quiet hosts, a day nowhere, and after a reservation was made nothing beyond it."""
    admin = service.admin
    quiet = {host.name for host in LAB_HOSTS} - {_BUSY}
    promised = _promised(service)
    assert promised.keys() == quiet
    assert all(6 * _HOUR <= seconds < _DAY for seconds in promised.values())
    with ExitStack() as stack:
        short, middle, long = (stack.enter_context(_flavor(admin, each)) for each in ("1h", "6h", "1d"))
        admitted = [admin.boot("survives", middle) for _ in range(3)]
        refused = [admin.boot("too long", long), admin.boot("too busy", middle, host=_BUSY)]
        servers += [*admitted, *refused]
        assert set(service.settled(admitted).values()) == {"ACTIVE"}
        assert {host_of(admin.server(each)) for each in admitted} <= quiet
        assert set(service.settled(refused).values()) == {"ERROR"}
        assert "No valid host" in admin.server(refused[0])["fault"]["message"]

        start, end = (in_seconds(hours * _HOUR)[0] for hours in (3, 4))
        everything = [{"count": 4 * len(LAB_HOSTS), "resources": QUARTER}]
        leases.append(service.lease(service.bob, kind="reservation", start_date=start, end_date=end, nodes=everything))
        assert wait_until(lambda: max(_promised(service).values()) <= 3 * _HOUR, LIMIT), service.said()
        before, beyond = admin.boot("ends before", short), admin.boot("ends too late", middle)
        servers += [before, beyond]
        assert service.settled([before, beyond]) == {before: "ACTIVE", beyond: "ERROR"}
        # They belong to no lease, and nobody needs their room yet.
        assert set(service.settled(admitted).values()) == {"ACTIVE"}
