"""Prices and offers on a real Nova with tokens of Keystone (haizea 7.5, no. 5)."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.functional.lab.service import (
    LIMIT,
    PREPARATION,
    QUARTER,
    Document,
    Service,
    in_epoch,
    in_seconds,
    running_service,
)
from tests.servers.base import wait_until
from tests.servers.fixtures import LAB_HOSTS
from tests.servers.keystone import User
from tests.servers.openstack.lab import Lab

pytestmark = pytest.mark.slow

#: Nodes that fill the whole site.
_NODES = 4 * len(LAB_HOSTS)

#: Seconds for which an offer is held.
_LIFETIME = 20

#: Seconds by which the engine may act late on a busy machine.
_PROMPT = 10.0


@pytest.fixture(scope="module")
def service(lab: Lab) -> Iterator[Service]:
    """The service, with prices that follow what projects accept and reject."""
    settings: dict[str, dict[str, object]] = {
        "scheduling": {"policy_pricing": "adaptive"},
        "service": {"quote_lifetime": _LIFETIME},
    }
    with running_service(lab, settings=settings) as started:
        yield started


def _terms(service: Service, start: str, end: str) -> Document:
    """Return the terms of a lease of the whole site with a server."""
    nodes = [{"count": _NODES, "resources": QUARTER}]
    return {
        "name": "all of it",
        "start_date": start,
        "end_date": end,
        "nodes": nodes,
        "servers": [{**service.template(), "count": 1}],
    }


def _quote(service: Service, user: User, **terms: object) -> Document:
    answer = service.ask(user, "POST", "quotes", dict(terms))
    assert answer.ok, answer.text
    found: Document = answer.json()["quote"]
    return found


def _rate(service: Service) -> float:
    """Return the present rate of a node per hour."""
    (start, _), (end, _) = in_seconds(86_400), in_seconds(86_400 + 3_600)
    terms = _terms(service, start, end)
    return float(_quote(service, service.ada, **terms)["price"]) / _NODES


def _answer(service: Service, user: User, lease_id: str, answer: str) -> int:
    return service.ask(user, "POST", f"leases/{lease_id}/action", {answer: {}}).status_code


def _began(service: Service, lease_id: str) -> list[str]:
    """Return what exists of a lease in Nova."""
    aggregates = service.admin.compute("GET", "/os-aggregates")["aggregates"]
    servers = [str(each["id"]) for each in service.servers(service.ada)]
    return servers + [each["name"] for each in aggregates if lease_id in each["name"]]


def test_quotes_are_accepted_refused_and_expire(service: Service, leases: list[Document]) -> None:
    """The rate goes up after an accept and down after a reject, and an offer's capacity is reserved."""
    ada, bob = service.ada, service.bob
    assert _rate(service) == pytest.approx(1.0)

    # An offer that is accepted. Its start is so near that a lease without an offer would be prepared at once.
    (start, start_at), (end, _) = in_seconds(PREPARATION + 12), in_seconds(PREPARATION + 42)
    offer = _quote(service, ada, **_terms(service, start, end), hold=True)
    lease = {"id": offer["lease_id"]}
    leases.append(lease)
    assert offer["granted"]
    assert offer["price"] == pytest.approx(_NODES * 30 / 3600)
    assert in_epoch(offer["expires_at"]) <= min(time.time() + _LIFETIME, start_at)
    shown = service.show(lease)
    assert (shown["price"], shown["expires_at"]) == (offer["price"], offer["expires_at"])
    assert not _quote(service, bob, **_terms(service, start, end))["granted"]
    assert service.request(bob, **{**_terms(service, start, end), "servers": []}).status_code == 409
    assert _answer(service, bob, offer["lease_id"], "accept") in (403, 404)
    assert _began(service, offer["lease_id"]) == []
    assert _answer(service, ada, offer["lease_id"], "accept") == 200
    assert _rate(service) == pytest.approx(1.5)
    service.becomes(lease, "active")
    assert start_at <= service.became(lease, "active") < start_at + _PROMPT
    assert [server["status"] for server in service.servers(ada)] == ["ACTIVE"]
    service.becomes(lease, "done")
    assert wait_until(lambda: _began(service, offer["lease_id"]) == [], LIMIT)

    # An offer that is rejected: its place is free at once.
    (start, _), (end, _) = in_seconds(600), in_seconds(1_200)
    rejected = _quote(service, ada, **_terms(service, start, end), hold=True)
    leases.append({"id": rejected["lease_id"]})
    assert rejected["price"] == pytest.approx(1.5 * _NODES * 600 / 3600)
    assert not _quote(service, bob, **_terms(service, start, end))["granted"]
    assert _answer(service, ada, rejected["lease_id"], "reject") == 200
    assert service.state({"id": rejected["lease_id"]}) == "rejected-by-user"
    assert _quote(service, bob, **_terms(service, start, end))["granted"]
    assert _rate(service) == pytest.approx(1.25)

    # An offer that expires, although a lease would have been prepared long before.
    (start, _), (end, _) = in_seconds(PREPARATION + 2), in_seconds(PREPARATION + 600)
    expired = _quote(service, ada, **_terms(service, start, end), hold=True)
    leases.append({"id": expired["lease_id"]})
    ends_at = in_epoch(expired["expires_at"])
    while time.time() < ends_at - 1:
        assert _began(service, expired["lease_id"]) == []
        time.sleep(0.5)
    service.becomes({"id": expired["lease_id"]}, "rejected-by-user")
    assert ends_at <= service.became({"id": expired["lease_id"]}, "rejected-by-user") < ends_at + _PROMPT
    assert service.history({"id": expired["lease_id"]})[-1]["reason"] == "its quote has expired"
    assert _answer(service, ada, expired["lease_id"], "accept") == 409
    assert _rate(service) == pytest.approx(1.125)
    assert service.servers(ada) == []

    # Revenue by project.
    usage = service.ask(ada, "GET", "usage").json()["usage"][0]
    assert usage["revenue"]["earned"] == pytest.approx(offer["price"], abs=1e-5)
    missed = rejected["price"] + expired["price"]
    assert usage["revenue"]["missed"]["rejected_by_user"] == pytest.approx(missed, abs=1e-5)


def test_what_costs_too_much_is_refused(service: Service, leases: list[Document]) -> None:
    """The answer 409 states the price; the trust for its servers is deleted."""
    (start, _), (end, _) = in_seconds(600), in_seconds(600 + 3_600)
    terms = {**_terms(service, start, end), "kind": "reservation"}
    price = _quote(service, service.ada, **terms)["price"]
    refused = service.request(service.ada, **terms, max_price=price / 2)
    assert refused.status_code == 409
    assert f"its price is {price:.12g}" in refused.json()["error_message"]
    assert refused.json()["field"] == "max_price"
    assert service.left() == []
    made = service.lease(service.ada, **terms, max_price=_quote(service, service.ada, **terms)["price"])
    leases.append(made)
    assert made["price"] == made["max_price"]
