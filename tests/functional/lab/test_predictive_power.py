"""Hosts sleep and wake by what was learnt of requests and wake times, on a real Nova (prediction A12, A13).

The database gets what the policy would have learnt in some days: requests at short notice for one host of the four, and
hosts that take longer to wake than the operator thinks. Nothing is switched, so hosts of the lab sleep only for Nova.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from sqlalchemy import insert

from lease_scheduler.cloud.nova.api.host_services import ASLEEP
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policy
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.policy.power.base import PowerPolicy
from lease_scheduler.store.sql.schema import POLICY_STATE
from tests.functional.lab.service import (
    PREPARATION,
    Document,
    Service,
    host_of,
    in_epoch,
    in_seconds,
    running_service,
)
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.openstack.lab import Lab

pytestmark = pytest.mark.slow

#: Seconds that a host may take to fall asleep or to wake.
_LIMIT = 240.0
#: A node such that one is on each host of the lab.
_LARGE = {"VCPU": 8, "MEMORY_MB": 8_192, "DISK_GB": 1}
_WAKE_MARGIN, _SHUTDOWN_TIME = 10, 5
#: Seconds that hosts took to wake, and what the operator says.
_LEARNT, _SAID = 90, 20
_EPOCH = 1_000


@pytest.fixture
def service(lab: Lab) -> Iterator[Service]:
    settings: dict[str, dict[str, object]] = {
        "scheduling": {"policy_power": "predictive"},
        "power": {
            "driver": "noop",
            "wake_time": _SAID,
            "wake_margin": _WAKE_MARGIN,
            "shutdown_time": _SHUTDOWN_TIME,
            "minimum_on_time": 0,
            # Otherwise a host that is to have a lease within that time is not to spare, and another one wakes.
            "sleep_horizon": 0,
            "poll_interval": 1,
        },
    }
    with running_service(lab, settings=settings) as started:
        started.end_engine()
        _give_a_past(started)
        started.start_engine()
        yield started


def _give_a_past(service: Service) -> None:
    """Store what the policy learns from 100 requests in as many epochs, and from as many wake times."""
    policy: PowerPolicy = load_policy("power", "predictive", PolicyOptions())
    # Two of the nodes do not fit on a host.
    policy.follow(Site.homogeneous(len(LAB_HOSTS), Resources(_LARGE)))
    now = int(time.time())
    for begin in range(now - 100 * _EPOCH, now, _EPOCH):
        nodes = (NodeSet(1, Resources(_LARGE)),)
        request = LeaseRequest(str(begin), LeaseKind.IMMEDIATE, nodes, begin, duration=600)
        policy.observe(Outcome.PLACED, Lease(request, 0, LeaseState.READY), None, begin)
        policy.woke(_LEARNT)
    rows = [
        {"pool": "", "family": "power", "policy": policy.name, "subject": subject, "state": dict(state)}
        for subject, state in policy.take_changes().items()
        if state is not None
    ]
    with service.programs.database.begin() as connection:
        connection.execute(POLICY_STATE.delete().where(POLICY_STATE.c.family == "power"))
        connection.execute(insert(POLICY_STATE), rows)


def _hosts(service: Service, state: str) -> dict[str, float]:
    """Return the hosts in a state of power, and since when."""
    hosts: list[Document] = service.ask(service.operator, "GET", "os-hosts").json()["hosts"]
    found = {each["hypervisor_hostname"]: each for each in hosts if each["power_state"] == state}
    return {name: in_epoch(each["power_since"]) for name, each in found.items() if each["power_since"]}


def _asleep_in_nova(lab: Lab) -> set[str]:
    services = lab.admin.compute("GET", "/os-services?binary=nova-compute")["services"]
    return {each["host"] for each in services if each["status"] == "disabled" and each["disabled_reason"] == ASLEEP}


def test_hosts_sleep_and_wake_by_what_was_learnt(
    service: Service, leases: list[Document], lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    """One host is kept awake for the next request, another one wakes in its place, and all wake early enough."""
    names = {host.name for host in LAB_HOSTS}
    assert wait_until(lambda: len(_hosts(service, "asleep")) == 3, _LIMIT), service.said()
    (spare,) = names - _hosts(service, "asleep").keys()
    assert _asleep_in_nova(lab) == names - {spare}

    lease = service.lease(
        service.ada,
        kind="immediate",
        duration=900,
        nodes=[{"count": 1, "resources": _LARGE}],
        servers=[{**service.template(), "count": 1}],
    )
    leases.append(lease)
    service.becomes(lease, "active", _LIMIT)
    assert {host_of(each) for each in service.servers(service.ada)} == {spare}
    # It did not wait for a host to wake: the first of those that sleep still wakes, or has just woken.
    assert wait_until(lambda: len(_hosts(service, "asleep")) == 2 and not _hosts(service, "waking"), _LIMIT)
    asleep = _hosts(service, "asleep").keys()
    assert _asleep_in_nova(lab) == asleep
    # A host that has just begun to fall asleep would be ready in time, too.
    lead = _LEARNT + _WAKE_MARGIN + PREPARATION + _SHUTDOWN_TIME
    start_date, start = in_seconds(lead + 30)
    other = service.lease(
        service.bob,
        kind="reservation",
        start_date=start_date,
        end_date=in_seconds(lead + 30 + 300)[0],
        nodes=[{"count": 3, "resources": _LARGE}],
        servers=[{**service.template(), "count": 3}],
    )
    leases.append(other)
    assert _hosts(service, "asleep").keys() == asleep
    assert wait_until(lambda: _hosts(service, "waking").keys() == asleep, _LIMIT), service.said()
    woken = min(_hosts(service, "waking").values())
    assert wait_until(lambda: not _hosts(service, "waking"), _LIMIT), service.said()
    assert _asleep_in_nova(lab) == set()
    service.becomes(other, "active", _LIMIT)
    with capsys.disabled():
        print(f"\nwoken {start - woken:.0f} s before the start; the operator says {_SAID} s, {_LEARNT} s were learnt")
    assert lead - 5 <= start - woken <= lead + 5
    assert service.show(other)["breaches"] == []
    assert {host_of(each) for each in service.servers(service.bob)} == names - {spare}
