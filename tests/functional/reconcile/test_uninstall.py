"""Uninstalling the service from a cloud: what ends, what is given back, and what operators do by mistake."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import pytest

from lease_scheduler.cloud.orders import Removal
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.requests.series import SeriesKeeper
from lease_scheduler.service.requests.uninstall import Uninstall, lines
from tests.functional.lease_document import lease_document
from tests.servers.base import wait_until

from .conftest import HOUR, LIMIT, Service

MakeService = Callable[..., Service]


def _uninstall(service: Service) -> Uninstall:
    pool = PoolKeeper(service.engine)
    return Uninstall(service.engine, service.leases, pool, SeriesKeeper(service.site, service.leases))


def _series(service: Service, starts: list[int]) -> str:
    first = lease_document("weekly", "reservation", 1, start=starts[0], end=starts[0] + HOUR)
    said = {"id": str(uuid4()), "name": "weekly", "project_id": first["project_id"], "user_id": first["user_id"]}
    series = {**said, "rule": "FREQ=DAILY", "starts": starts, "lease": first}
    made = SeriesKeeper(service.site, service.leases).create({}, series)
    assert made["refused"] == []
    return str(made["series_id"])


def _with_address(service: Service) -> str:
    """Create a lease of a floating IP of the pool."""
    network = str(uuid4())
    values = {"floating_network_id": network, "floating_ip_address": "192.0.2.7"}
    PoolKeeper(service.engine).create_floatingip({}, values)
    reservation = {
        "id": str(uuid4()),
        "resource_type": "virtual:floatingip",
        "network_id": network,
        "amount": 1,
        "required_floatingips": [],
    }
    return service.ask("reservation", 1, 30 * HOUR, reservations=[reservation])


def _until_over(uninstall: Uninstall, **said: bool) -> Mapping[str, Any]:
    end = time.monotonic() + LIMIT
    while True:
        answer = uninstall.go_on({}, **said)
        if answer["is_over"]:
            return answer
        assert time.monotonic() < end, answer
        time.sleep(0.05)


def _nothing_is_left(service: Service) -> None:
    site = service.site
    assert (site.records.hosts, site.records.floating_ips, site.records.series) == ({}, {}, {})
    assert service.reader.hosts() == []
    assert service.store.load().floating_ips == ()
    assert service.cloud.footprints() == []
    assert not site.engine.live_leases()


def test_leases_series_hosts_and_addresses(make_service: MakeService) -> None:
    service = make_service()
    running = service.ask("immediate", 1, 30 * HOUR)
    address = _with_address(service)
    assert wait_until(service.is_in(running, "active"), LIMIT)
    assert wait_until(service.is_in(address, "active"), LIMIT)
    now = service.site.clock.now()
    series = _series(service, [now + 40 * HOUR, now + 64 * HOUR])
    uninstall = _uninstall(service)
    listed = lines(uninstall.list({}))
    for text in (f"lease {running}", f"series {series}", "host compute-1", "floating IP 192.0.2.7"):
        assert any(text in each for each in listed)
    before = (
        dict(service.site.records.hosts),
        dict(service.site.records.floating_ips),
        dict(service.site.records.series),
    )
    with pytest.raises(RefusedError, match="4 leases are not over, 1 series go on"):
        uninstall.go_on({})
    assert (service.site.records.hosts, service.site.records.floating_ips, service.site.records.series) == before
    assert service.is_in(running, "active")()
    _until_over(uninstall, end_leases=True)
    _nothing_is_left(service)
    # Twice, with and without the option.
    assert uninstall.go_on({})["is_over"]
    assert uninstall.go_on({}, end_leases=True)["is_over"]


def test_a_series_between_two_of_its_leases_is_a_reason_to_refuse(make_service: MakeService) -> None:
    """None of its leases is live, but it would create others on hosts that are gone."""
    service = make_service()
    now = service.site.clock.now()
    _series(service, [now + 40 * HOUR])
    (lease_id,) = [lease.lease_id for lease in service.site.engine.live_leases()]
    service.leases.delete({}, lease_id, "")
    uninstall = _uninstall(service)
    with pytest.raises(RefusedError, match="1 series go on"):
        uninstall.go_on({})
    assert len(service.site.records.hosts) == 2
    _until_over(uninstall, end_leases=True)
    _nothing_is_left(service)


def test_whoever_is_killed_in_the_middle_goes_on(make_service: MakeService) -> None:
    """Wherever that was: the next engine knows what is left."""
    first = make_service(before_step=lambda order, step: isinstance(order, Removal))
    lease_id = first.ask("immediate", 2, 30 * HOUR)
    address = _with_address(first)
    assert wait_until(first.is_in(lease_id, "active"), LIMIT)
    assert wait_until(first.is_in(address, "active"), LIMIT)
    # Its leases end, and nothing of them is removed yet.
    assert not _uninstall(first).go_on({}, end_leases=True)["is_over"]
    first.engine.close()
    second = make_service()
    # One host of two is given back.
    assert wait_until(lambda: not second.site.engine.live_leases(), LIMIT)
    assert wait_until(lambda: not second.site.work.intents.open_intents(), LIMIT)
    PoolKeeper(second.engine).delete_host({}, str(next(iter(second.site.records.hosts))))
    second.engine.close()
    third = make_service()
    _until_over(_uninstall(third))
    _nothing_is_left(third)
    assert third.is_in(lease_id, "cancelled")()


def test_nothing_ends_where_the_pool_is_another_one(make_service: MakeService, monkeypatch: pytest.MonkeyPatch) -> None:
    service = make_service()
    lease_id = service.ask("immediate", 1, 30 * HOUR)
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)
    monkeypatch.setattr(service.cloud.uninstall, "problem", lambda: "the pool is aggregate freepool and not ssd")
    uninstall = _uninstall(service)
    refused = "nothing is removed: the pool is aggregate freepool and not ssd"
    with pytest.raises(RefusedError, match=refused):
        uninstall.go_on({}, end_leases=True)
    with pytest.raises(RefusedError, match=refused):
        uninstall.list({})
    assert service.is_in(lease_id, "active")()
    assert len(service.site.records.hosts) == 2
