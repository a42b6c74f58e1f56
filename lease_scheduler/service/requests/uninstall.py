"""Removal of the service from a cloud: leases end, hosts leave the pool, and what was made for leases is removed.

Each call does what is possible at once and returns what is left; call it until nothing is left. There is no state
between calls, so an interrupted removal is simply started again.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from lease_scheduler.cloud.differences import Difference, Problem
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.interfaces import ServiceStore
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.requests.series import SeriesKeeper
from lease_scheduler.service.site_engine import SiteEngine
from lease_scheduler.service.upkeep.reconcile import nobody, settled

LOG = logging.getLogger(__name__)

_REASON = "the reservation service is uninstalled"


class Uninstall:
    """Operations that list or remove what the service has in a cloud.

    :param engine: compares leases and cloud
    :param leases: ends the leases
    :param pool: removes the hosts and addresses
    :param series: ends the series
    """

    def __init__(self, engine: SiteEngine, leases: Leases, pool: PoolKeeper, series: SeriesKeeper) -> None:
        self._site = engine.plan
        self._reconciler = engine.reconciler
        self._leases = leases
        self._pool = pool
        self._series = series

    @answers(EngineRequests.list_installed)
    def list(self, context: Document) -> dict[str, Any]:
        """Return what would end and what would be removed, without changing anything."""
        return list_all(self._site)

    @answers(EngineRequests.uninstall)
    def go_on(self, context: Document, *, end_leases: bool = False, keep_providers: bool = False) -> dict[str, Any]:
        """Do what is possible at once, and return what is left.

        :param end_leases: whether to end live leases and series now
        :param keep_providers: whether to keep the empty resource providers of slots
        :raises RefusedError: ``end_leases`` is false and there are live leases or series, or the driver cannot tell
            what is ours
        """
        site = self._site
        refuse_mistakes(site)
        with site.lock:
            live = [lease.lease_id for lease in site.engine.live_leases()]
            series = list(site.records.series)
        if not end_leases:
            refuse_live_leases(site)
        for series_id in series if end_leases else ():
            self._series.delete(context, series_id)
        for lease_id in live:
            if site.engine.lease(lease_id) is not None:
                self._leases.delete(context, lease_id, _REASON)
        with site.lock:
            busy = {intent.lease_id for intent in site.work.intents.open_intents()}
            left = len(site.engine.live_leases())
        if not left and not busy:
            self._give_hosts_back(context)
            # Compare again, because leftovers of the leases may still have been in use at the last comparison.
            found = [each for each in self._reconciler.reconcile().differences if each.problem is Problem.LEFT_OVER]
            if not found:
                hosts = site.driver.uninstall.leave(keep_providers=keep_providers)
                return {"is_over": True, "leases": 0, "operations": 0, "left_over": 0, "reload": sorted(hosts)}
            return {"is_over": False, "leases": 0, "operations": 0, "left_over": len(found), "reload": []}
        return {"is_over": False, "leases": left, "operations": len(busy), "left_over": 0, "reload": []}

    def _give_hosts_back(self, context: Document) -> None:
        with self._site.lock:
            floating_ips, hosts = list(self._site.records.floating_ips), list(self._site.records.hosts)
        for floating_ip_id in floating_ips:
            self._pool.delete_floatingip(context, floating_ip_id)
        for host_id in hosts:
            self._pool.delete_host(context, str(host_id))


def refuse_mistakes(site: SiteTransactions) -> None:
    """Ensure that only what is ours will be removed.

    :raises RefusedError: the driver cannot tell what is ours
    """
    problem = site.driver.uninstall.problem()
    if problem is not None:
        raise RefusedError(409, f"nothing is removed: {problem}")


def refuse_live_leases(site: SiteTransactions) -> None:
    """Ensure that there are no live leases and no series.

    :raises RefusedError: there are some
    """
    with site.lock:
        live, series = len(site.engine.live_leases()), len(site.records.series)
    if live or series:
        said = f"{live} leases are not over" + (f", {series} series go on" if series else "")
        raise RefusedError(409, f"{said}; wait for them, or have them end (--end-leases)")


def list_all(site: SiteTransactions) -> dict[str, Any]:
    """Return all live leases, series, hosts, addresses, and things in the cloud that were made for leases.

    :raises RefusedError: the driver cannot tell what is ours
    """
    refuse_mistakes(site)
    with site.lock:
        leases = [
            {
                "id": lease.lease_id,
                "name": site.work.documents[lease.lease_id].name,
                "project_id": site.work.documents[lease.lease_id].project_id,
                "state": lease.state.value,
            }
            for lease in site.engine.live_leases()
        ]
        series = [{"id": each.series_id, "name": each.name} for each in site.records.series.values()]
        hosts = sorted(host.name for host in site.records.hosts.values())
        floating_ips = sorted(ip.floating_ip_address for ip in site.records.floating_ips.values())
    # Without the lock, as the cloud may take long.
    things = [*site.driver.repair.differences([], {}, hosts)]
    return {
        "leases": leases,
        "series": series,
        "hosts": hosts,
        "floating_ips": floating_ips,
        "things": [
            {"kind": each.kind.value, "name": each.name, "lease_id": each.lease_id, "detail": each.detail}
            for each in _belonging_to_leases(site, things)
        ],
    }


def _belonging_to_leases(site: SiteTransactions, things: list[Difference]) -> list[Difference]:
    """Return the things that belong to leases of this service, live or ended."""
    ours: set[str] = set()
    with site.lock:
        documents = list(site.work.documents.values())
    for document in documents:
        ours |= {record.reservation_id for record in document.reservations}
        if document.trust_id is not None:
            ours.add(document.trust_id)
    nothing = nobody(site.engine.site, site.clock.now())
    found = [each for each in things if each.problem is Problem.LEFT_OVER]
    return settled(found, nothing, nothing, _Known(site.store, ours))


@dataclass(frozen=True)
class _Known:
    """View of the store in which all leases have ended.

    :ivar ours: ids of trusts and reservations of live leases, which count as ended here
    """

    store: ServiceStore
    ours: Collection[str]

    def of_leases_that_are_over(self, ids: Collection[str]) -> frozenset[str]:
        return self.store.of_leases_that_are_over(ids).union(self.ours)

    def known_trusts(self, ids: Collection[str]) -> frozenset[str]:
        return self.store.known_trusts(ids)


def lines(found: Mapping[str, Any]) -> list[str]:
    """Return what ``list_all`` has found as lines of text."""
    leases = [f"lease {each['id']} ({each['name']}, {each['state']}) ends" for each in found["leases"]]
    leases += [f"series {each['id']} ({each['name']}) ends" for each in found["series"]]
    hosts = [f"host {name} leaves the pool" for name in found["hosts"]]
    addresses = [f"floating IP {address} leaves the pool" for address in found["floating_ips"]]
    things = [f"{each['kind']} {each['name']} is removed" for each in found["things"]]
    return [*leases, *hosts, *addresses, *things]
