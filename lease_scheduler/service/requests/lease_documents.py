"""The documents of leases, with what projects asked for, and their translation into terms to plan with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from lease_scheduler.engine.pools.engines import PoolName
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.planned_end import planned_end
from lease_scheduler.model.resources import HOST_SHARE, WHOLE_HOST
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.service.core.pool_choice import in_pool
from lease_scheduler.service.core.terms import Pool, Terms, build_terms, lease_document
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.requests.approvals import check_change
from lease_scheduler.service.requests.cloud_limits import check_cloud_can
from lease_scheduler.service.requests.enforcement.bounds import check_terms, with_duration
from lease_scheduler.service.requests.enforcement.peers import (
    capacity_of,
    check_peer,
    check_project,
    leases_of_peer,
)
from lease_scheduler.service.requests.missing import check_site_has
from lease_scheduler.service.requests.server_templates import (
    check_bootable,
    check_images,
    check_images_exist,
    check_servers,
)


class LeaseDocuments:
    """The documents of live leases. Use it inside a transaction of the site.

    :param site: the plan of the site
    """

    def __init__(self, site: SiteTransactions) -> None:
        self._site = site

    def of(self, lease_id: str) -> LeaseDocument:
        """Return the document of a live lease.

        :raises RefusedError: there is no such lease
        """
        document = self._site.work.documents.get(lease_id)
        if document is None:
            raise RefusedError(404, f"there is no live lease {lease_id}")
        return document

    def expected(self, lease_id: str, changes: Document) -> tuple[Lease, LeaseDocument]:
        """Return a live lease and its document, if it has the version that the changes expect.

        :raises RefusedError: there is no such lease, or it has another version
        """
        document = self.of(lease_id)
        expected = changes.get("version")
        if expected is not None and expected != self._site.store.version(lease_id):
            raise RefusedError(409, f"lease {lease_id} was changed meanwhile; read it again", "version")
        return self._site.work.leases[lease_id], document

    def terms(self, lease: Document) -> Terms:
        """Return the terms that a new lease asks for.

        :raises InvalidValueError: they are contradictory
        :raises RefusedError: they exceed a bound, or ask for what the site does not have
        """
        if lease.get("maintenance"):
            terms = self._terms_in(lease, self._site.pools.first)
            pool = self._site.pools.of_hosts(self._site.records.hosts.values(), terms.request.nodes)
            terms = _in_pool(terms, pool)
        else:
            terms = self._terms_somewhere(lease)
        return replace(terms, document=self._site.ends.chosen(terms.document, terms.request))

    def _terms_somewhere(self, lease: Document) -> Terms:
        """Return the terms of a new lease in one of the pools that it may use."""
        site = self._site
        built: dict[PoolName, Terms] = {}

        def terms_in(pool: PoolName) -> Terms:
            nested = site.records.nested_in(pool)
            alike = next((terms for other, terms in built.items() if site.records.nested_in(other) == nested), None)
            terms = self._terms_in(lease, pool) if alike is None else _in_pool(alike, pool)
            built[pool] = terms
            if terms.request.duration >= UNLIMITED and site.engine.policies(pool).pricing.charges:
                raise InvalidValueError("duration", "is needed here, because leases have prices; give one")
            return terms

        return in_pool(site.engine, terms_in, site.pools.usable(lease))

    def _terms_in(self, lease: Document, pool_name: PoolName) -> Terms:
        """Return the terms of a new lease in a pool."""
        site = self._site
        hides_private = not (lease.get("sees_private") or lease.get("maintenance"))
        pool = site.pool(pool_name, hides_private=hides_private)
        terms = build_terms(lease, pool, site.work.now)
        check_site_has(lease, pool)
        check_cloud_can(site.driver, terms.request, terms.document)
        check_servers(terms.document.servers, terms.request.nodes)
        check_images_exist(terms.document.servers, terms.document.project_id, site.images.facts)
        self._check_bootable(terms.document, terms.request.nodes)
        self._check_usable(lease, pool, terms)
        if not terms.document.maintenance:
            bounds = site.options.bounds.of_project(terms.document.project_id)
            terms = replace(terms, request=with_duration(bounds, terms.request))
            check_terms(bounds, terms.request, None, site.work.now)
            self._check_project(terms.request, terms.document.project_id)
            self._check_peer(terms.request)
        return _in_pool(terms, pool_name)

    def _check_project(self, request: LeaseRequest, project_id: str) -> None:
        """Refuse a new lease for a project for which its peer may not request any.

        :raises RefusedError: 403, naming the project
        """
        named = (request.on_behalf_of or {}).get("project_id")
        if named is None:
            return
        if request.origin is None or named != project_id:
            raise InvalidValueError("on_behalf_of.project_id", "must be the project of the lease, requested by a peer")
        check_project(self._site.peers.of(request.origin), request.origin, named)

    def _check_peer(self, request: LeaseRequest) -> None:
        """Refuse a lease with which its peer would exceed its limits.

        :raises RefusedError: 403, naming the limit
        """
        site = self._site
        if request.origin is None:
            return
        others = leases_of_peer(site.work.leases.values(), request.origin, request.lease_id)
        capacity = capacity_of(site.records.site())
        check_peer(site.peers.of(request.origin), request, others, capacity, site.work.now)

    def _check_bootable(self, document: LeaseDocument, nodes: Sequence[NodeSet]) -> None:
        """Refuse servers that Nova would not boot.

        :raises InvalidValueError: naming what is missing
        """
        check_bootable(document.servers, nodes, document.reservations)
        check_images(document.servers, nodes, document.reservations, self._site.images.facts)

    def _check_usable(self, lease: Document, pool: Pool, terms: Terms) -> None:
        """Refuse devices that servers could not use.

        Whole hosts without templates of servers are not checked, as projects choose the flavors of servers there.

        :raises InvalidValueError: naming them
        """
        for position, reservation in enumerate(lease["reservations"]):
            flavor = pool.flavors.get(reservation.get("flavor_id") or "")
            if flavor is not None and flavor.problem is not None:
                raise InvalidValueError(f"reservations[{position}].flavor_id", flavor.problem)
        for node_set in terms.request.nodes:
            if terms.document.servers or node_set.resources.get(HOST_SHARE) != WHOLE_HOST:
                for group in node_set.groups:
                    problem = self._site.driver.devices.problem(group)
                    if problem is not None:
                        raise InvalidValueError("nodes.groups", problem)

    def new_terms(self, lease: Lease, document: LeaseDocument, changes: Document) -> tuple[LeaseRequest, Terms]:
        """Return the changed request of a lease, and the terms built from its changed document.

        Unlike the terms, the request keeps nodes and image sizes that the changes do not touch, and the start of a
        lease that has begun.
        """
        site = self._site
        now = site.work.now
        merged = {**lease_document(lease, document), **{k: v for k, v in changes.items() if v is not None}}
        if "end" in changes:
            merged["duration"] = changes.get("duration")
        named = {each["id"]: each for each in changes.get("reservations") or ()}
        merged["reservations"] = [
            {
                **record.terms,
                **{k: v for k, v in named.get(record.reservation_id, {}).items() if k not in ("id", "resource_type")},
                "id": record.reservation_id,
                "resource_type": record.resource_type,
            }
            for record in document.reservations
        ]
        unknown = set(named) - {record.reservation_id for record in document.reservations}
        if unknown:
            raise RefusedError(400, f"reservation {sorted(unknown)[0]} does not belong to the lease", "reservations")
        has_begun = lease.active_since is not None or lease.is_prepared or lease.lease_id in site.engine.operations
        since = _counted_from(lease, now) if has_begun else now
        pool = site.pool(lease.request.pool, hides_private=not changes.get("sees_private"))
        terms = build_terms(merged, pool, since, lease.request.submitted)
        request = terms.request
        if named and lease.active_since is not None:
            _check_sizes_kept(document, terms.document)
        if named:
            check_site_has(merged, pool)
            self._check_bootable(terms.document, request.nodes)
            self._check_usable(merged, pool, terms)
        if not named:
            # Keep the chosen hosts unless the reservation itself changes.
            request = replace(request, nodes=lease.request.nodes)
        else:
            request = replace(request, nodes=_with_known_sizes(lease.request.nodes, request.nodes))
        if has_begun and "start" not in changes:
            request = replace(request, start=lease.request.start)
        check_cloud_can(site.driver, request, terms.document)
        if not document.maintenance:
            bounds = site.options.bounds.of_project(document.project_id)
            check_terms(bounds, request, lease.request, now)
            self._check_peer(request)
        check_change(site, lease, document, request)
        return request, terms

    def renewed(self, document: LeaseDocument, terms: Terms, changes: Document) -> LeaseDocument:
        """Return the document with the reservations of new terms."""
        named = {each["id"] for each in changes.get("reservations") or ()}
        now = self._site.work.now
        return replace(
            document,
            reservations=tuple(
                replace(
                    new, created_at=old.created_at, updated_at=now if new.reservation_id in named else old.updated_at
                )
                for new, old in zip(terms.document.reservations, document.reservations, strict=True)
            ),
        )


def _in_pool(terms: Terms, pool: PoolName) -> Terms:
    return replace(terms, request=replace(terms.request, pool=pool))


def _counted_from(lease: Lease, now: int) -> int:
    """Return the instant from which the duration of a started lease counts.

    A late start does not move the end of a reservation or an immediate lease.
    """
    if lease.kind is LeaseKind.RESERVATION and lease.request.start is not None:
        return lease.request.start
    end = planned_end(lease)
    if lease.kind is LeaseKind.IMMEDIATE and end is not None:
        return end - lease.request.duration
    return now


def _check_sizes_kept(before: LeaseDocument, after: LeaseDocument) -> None:
    """Refuse other sizes for servers that may be running, as these keep the sizes with which they were booted.

    :raises RefusedError: 409, as in Blazar
    """
    for old, new in zip(before.reservations, after.reservations, strict=True):
        sizes = _sizes(old.terms), _sizes(new.terms)
        changed = sorted(key for key in sizes[0] if sizes[0][key] != sizes[1][key])
        if changed:
            raise RefusedError(
                409,
                f"{changed[0]} of an active lease cannot be changed, only its number of nodes; ask for another lease",
                "reservations",
            )


def _sizes(terms: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: terms.get(key) for key in ("vcpus", "memory_mb", "disk_gb", "affinity")}
    found |= {key: terms.get(key) or None for key in ("ephemeral_gb", "extra_specs")}
    for key in ("resources", "least_resources", "exclusive"):
        found[key] = [nodes.get(key) or None for nodes in terms.get("nodes") or ()]
    return found


def _with_known_sizes(old: tuple[NodeSet, ...], new: tuple[NodeSet, ...]) -> tuple[NodeSet, ...]:
    """Return the new node sets, keeping the known image sizes of each set that is otherwise unchanged."""
    pairs = zip_longest(old[: len(new)], new)
    return tuple(
        before if before is not None and replace(after, boots=before.boots) == before else after
        for before, after in pairs
    )
