"""Assured lifetimes on a real Nova (Pucher 2016, section 4.3; prediction F34, F40, F50).

The site is new at first, so that it promises what is planned. Then its database gets the history of a month, as if the
service had run for so long.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
import requests
from sqlalchemy import insert

from lease_scheduler.model.host import Site
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
from tests.functional.lab.service import LIMIT, PREPARATION, QUARTER, Document, Service, in_seconds, running_service
from tests.servers.base import free_port, wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.openstack.lab import Lab

pytestmark = pytest.mark.slow

#: Nodes that fill the whole site.
_NODES = 4 * len(LAB_HOSTS)
#: Seconds of a promised lifetime; shelving the four servers and preparing others takes a part of it.
_LIFETIME = 60
_HOUR, _DAY = 3_600, 86_400


@pytest.fixture(scope="module")
def metrics_port() -> int:
    """The port on which the engine serves its metrics."""
    return free_port()


@pytest.fixture(scope="module")
def service(lab: Lab, metrics_port: int) -> Iterator[Service]:
    """The service with assured lifetimes, for which it pays if they are not reached."""
    settings: dict[str, dict[str, object]] = {
        "scheduling": {"policy_assurance": "both", "policy_pricing": "constant", "policy_penalty": "proportional"},
        "metrics": {"enabled": True, "engine_port": metrics_port, "api_port": free_port()},
        "oslo_messaging_notifications": {"driver": "log"},
    }
    with running_service(lab, settings=settings) as started:
        yield started


def _assured(service: Service, **terms: object) -> Document:
    """Return the terms of a best-effort lease of the whole site, with a server on each host."""
    return {
        "name": "work",
        "kind": "best-effort",
        "duration": _HOUR,
        "nodes": [{"count": _NODES, "resources": QUARTER}],
        "servers": [{**service.template(), "count": len(LAB_HOSTS)}],
        "min_lifetime": _LIFETIME,
        "assurance": 0.9,
        **terms,
    }


def _reservation(start: float, seconds: float) -> Document:
    """Return the terms of a reservation of the whole site, some seconds from now."""
    return {
        "kind": "reservation",
        "start_date": in_seconds(start)[0],
        "end_date": in_seconds(start + seconds)[0],
        "nodes": [{"count": _NODES, "resources": QUARTER}],
    }


def _counted(port: int, name: str) -> float:
    """Return the value of a counter of the engine."""
    lines = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=LIMIT).text.splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"lease_scheduler_{name}_total"))


def _states(service: Service, lease: Document) -> list[str]:
    return [str(entry["to"]) for entry in service.history(lease)]


def test_an_assured_lease_survives(service: Service, leases: list[Document]) -> None:
    """A reservation within its lifetime is refused, and one after it preempts the lease when the lifetime is over."""
    lease = service.lease(service.ada, **_assured(service))
    leases.append(lease)
    assert lease["assured"] == "planned"
    service.becomes(lease, "active")
    until = service.became(lease, "active") + _LIFETIME
    assert service.show(lease)["promise"].startswith("nobody preempts it for 1 min, until ")
    refused = service.request(service.bob, **_reservation(PREPARATION + 5, 60))
    assert refused.status_code == 409, refused.text
    # Its hosts are prepared, and those of the lease vacated, before it starts.
    other = service.lease(service.bob, **_reservation(until - time.time() + 60, 60))
    leases.append(other)
    service.becomes(other, "active", 2 * LIMIT)
    assert service.became(lease, "suspending") >= until
    shown = service.show(lease)
    assert (shown["assured"], shown["breaches"]) == ("planned", [])


def test_it_is_refused_or_waits(service: Service, leases: list[Document]) -> None:
    """The refusal says for how long it could run. Whoever waits gets a place after the other, or when that is over."""
    other = service.lease(service.bob, **_reservation(PREPARATION + 30, 600))
    leases.append(other)
    refused = service.request(service.ada, **_assured(service, min_lifetime=_HOUR))
    assert refused.status_code == 409
    assert refused.json()["field"] == "min_lifetime"
    assert "the lease could run for " in refused.json()["error_message"]
    assert "; then its hosts are promised to others" in refused.json()["error_message"]
    waiting = service.lease(service.ada, **_assured(service, await_assurance=True))
    leases.append(waiting)
    service.becomes(other, "active")
    assert service.state(waiting) in ("queued", "ready")
    assert service.servers(service.ada) == []
    service.is_cancelled(other)
    service.becomes(waiting, "active")
    assert service.show(waiting)["assured"] == "planned"


def test_a_breach_is_told_counted_and_paid(service: Service, leases: list[Document], metrics_port: int) -> None:
    """A promise for half of the site that rests on a quiet month, and a reservation of all of it in spite of that."""
    service.end_engine()
    _give_a_quiet_month(service)
    service.start_engine()
    # The engine may not lead yet.
    assert wait_until(lambda: service.ask(service.ada, "POST", "quotes", _assured(service)).ok, LIMIT), service.said()
    half = {"nodes": [{"count": _NODES // 2, "resources": QUARTER}], "servers": [{**service.template(), "count": 2}]}
    lease = service.lease(service.ada, **_assured(service, min_lifetime=_HOUR // 2, **half))
    leases.append(lease)
    service.becomes(lease, "active")
    shown = service.show(lease)
    assert shown["assured"] == "statistical"
    assert shown["assured_from"] > 500
    assert shown["promise"] == f"survives 30 min with at least 90 %, from {shown['assured_from']} observations"
    assert (_counted(metrics_port, "promised_leases"), _counted(metrics_port, "broken_promises")) == (1, 0)
    other = service.lease(service.bob, **_reservation(60, 30))
    leases.append(other)
    service.becomes(other, "active", 2 * LIMIT)
    shown = service.show(lease)
    assert shown["assured"] == "broken"
    assert shown["promise"].startswith("had to leave its hosts before its 30 min were over")
    (breach,) = shown["breaches"]
    assert breach["kind"] == "preempted-early"
    assert _HOUR // 2 - 2 * LIMIT < breach["seconds"] < _HOUR // 2
    assert breach["penalty"] > 0
    assert _counted(metrics_port, "broken_promises") == 1
    assert '"event_type": "lease.promise_broken"' in service.programs.log(service.engine)
    service.becomes(lease, "active", 2 * LIMIT)


def _give_a_quiet_month(service: Service) -> None:
    """Store the history of a site on which one node of four was reserved now and then."""
    policy: AssurancePolicy = load_policy("assurance", "both", PolicyOptions())
    policy.follow(Site.homogeneous(4, Resources(QUARTER)))
    now = int(time.time())
    for hour in range(30 * 24, 0, -1):
        begin = now - hour * _HOUR
        request = LeaseRequest(
            str(hour), LeaseKind.RESERVATION, (NodeSet(1, Resources(QUARTER)),), begin, duration=_HOUR // 2, start=begin
        )
        lease = Lease(request, 0, LeaseState.ACTIVE, started=begin, active_since=begin)
        policy.observe(Outcome.STARTED, lease, None, begin)
        over = replace(lease, state=LeaseState.DONE, active_since=None)
        policy.observe(Outcome.DONE, over, lease, begin + _HOUR // 2)
    rows = [
        {"pool": "", "family": "assurance", "policy": policy.name, "subject": subject, "state": dict(state)}
        for subject, state in policy.take_changes().items()
        if state is not None
    ]
    with service.programs.database.begin() as connection:
        connection.execute(POLICY_STATE.delete().where(POLICY_STATE.c.family == "assurance"))
        connection.execute(insert(POLICY_STATE), rows)
