"""Operations that add hosts and addresses to the site, change them and remove them."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from uuid import uuid4

from lease_scheduler.cloud.facts import Hypervisor
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.power import PowerState
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.requests.host_records import host_record, is_true, properties_asked_for, properties_of
from lease_scheduler.service.site_engine import SiteEngine

LOG = logging.getLogger(__name__)


class PoolKeeper:
    """Operations on the hosts and addresses of the site.

    :param engine: has the cloud follow the pool
    """

    def __init__(self, engine: SiteEngine) -> None:
        self._site = engine.plan
        self._follow_pool = engine.reconciler.follow_pool

    # -- hosts -----------------------------------------------------------------------------------------------

    @answers(EngineRequests.create_host)
    def create_host(self, context: Document, host: Document, *, pool: str | None = None) -> Document:
        """Add a compute host to the site, with properties set by the operator.

        :param pool: name of its pool; None for the pool that follows from the configuration
        :raises RefusedError: there is no such host in the cloud, or it is already in the pool
        """
        site = self._site
        wanted = str(host["name"]) if host.get("name") else self._name_of(str(host.get("id", "")))
        properties = properties_of({key: value for key, value in host.items() if key not in ("name", "id", "trust_id")})
        hypervisors = self._hypervisors([wanted])
        with site.request(context):
            (host_id,) = self._register(hypervisors, properties, host.get("trust_id"), pool)
        self._follow_pool()
        return {"host_id": host_id}

    def _name_of(self, hypervisor_id: str) -> str:
        """Return the name of the compute host with this id in the cloud, or the id itself if there is none.

        Blazar's clients send either a name or an id.
        """
        found = (each.name for each in self._site.driver.hypervisors() if each.hypervisor_id == hypervisor_id != "")
        return next(found, hypervisor_id)

    @answers(EngineRequests.create_hosts)
    def create_hosts(self, context: Document, names: Sequence[str], *, pool: str | None = None) -> Document:
        """Add many compute hosts to the site at once: all of them or none.

        :param pool: as in ``create_host``
        :raises RefusedError: as in ``create_host``
        """
        hypervisors = self._hypervisors(names)
        with self._site.request(context):
            host_ids = self._register(hypervisors, {}, None, pool)
        self._follow_pool()
        return {"host_ids": host_ids}

    def _hypervisors(self, names: Sequence[str]) -> list[Hypervisor]:
        """Return what the cloud reports of hosts to be added to the pool.

        :raises RefusedError: a host does not exist or has servers
        """
        known = {each.name: each for each in self._site.driver.hypervisors(names)}
        for name in names:
            if name not in known:
                raise RefusedError(404, f"there is no compute host {name} in the cloud", "name")
            if known[name].servers:
                raise RefusedError(409, f"host {name} has servers; empty it first", "name")
        return [known[name] for name in names]

    def _register(
        self,
        hypervisors: Sequence[Hypervisor],
        properties: Mapping[str, str],
        trust_id: str | None,
        pool: str | None = None,
    ) -> list[str]:
        site = self._site
        taken = {host.name for host in site.records.hosts.values()}
        for hypervisor in hypervisors:
            if hypervisor.name in taken:
                raise RefusedError(409, f"host {hypervisor.name} is in the pool already", "name")
            taken.add(hypervisor.name)
        records = [
            replace(
                host_record(host_id, hypervisor, properties, site.work.now, trust_id),
                pool=site.pools.of_new(hypervisor.name, pool),
            )
            for host_id, hypervisor in zip(site.records.next_host_ids(len(hypervisors)), hypervisors, strict=True)
        ]
        for record in records:
            site.records.put_host(record)
        site.change_site()
        return [str(record.host_id) for record in records]

    def discover(self) -> None:
        """Register hosts that an operator has added to the pool in the cloud, except those with servers."""
        site = self._site
        try:
            names = site.driver.pool() - {host.name for host in list(site.records.hosts.values())}
            found = list(site.driver.hypervisors(names)) if names else []
        except Exception:
            LOG.exception("the cloud could not be asked for new hosts; it is tried again")
            return
        for hypervisor in found:
            if hypervisor.servers:
                LOG.warning("host %s is not taken into the pool: it has servers", hypervisor.name)
                continue
            with site.transaction():
                if all(host.name != hypervisor.name for host in site.records.hosts.values()):
                    LOG.info("host %s is taken into the pool", hypervisor.name)
                    self._register([hypervisor], {}, None)

    def refresh(self, names: Collection[str]) -> None:
        """Update the records and the plan with what the cloud now reports of these hosts."""
        site = self._site
        found = {each.name: each for each in site.driver.hypervisors(names)}
        with site.transaction():
            changed = False
            for host in list(site.records.hosts.values()):
                if host.name not in found:
                    continue
                now = host_record(host.host_id, found[host.name], host.properties, host.created_at, host.trust_id)
                current = replace(
                    now,
                    reservable=host.reservable,
                    out_until=host.out_until,
                    power=host.power,
                    updated_at=host.updated_at,
                    pool=host.pool,
                )
                if current != host:
                    LOG.info("host %s has changed: %s", host.name, dict(current.capacity))
                    site.records.put_host(replace(current, updated_at=site.work.now))
                    changed = True
            if changed:
                site.change_site()

    @answers(EngineRequests.update_host)
    def update_host(self, context: Document, host_id: str, values: Document, *, pool: str | None = None) -> Document:
        """Set properties of a host. The value None removes one.

        :param pool: name of the pool to which it is moved; None to leave it where it is
        :raises RefusedError: a lease was placed by a property that would change, or holds a host that would be moved
        """
        site = self._site
        with site.request(context):
            host = self._host(host_id)
            reservable = values.get("reservable", host.reservable)
            changes = {key: value for key, value in values.items() if key not in ("name", "reservable")}
            gone = {key for key, value in changes.items() if value is None}
            given = properties_of({key: value for key, value in changes.items() if value is not None})
            missing = sorted(gone - set(host.properties))
            if missing:
                raise RefusedError(404, f"host {host.name} has no property {missing[0]}", missing[0])
            changed = {key for key in given if host.properties.get(key) not in (None, given[key])} | gone
            self._refuse_if_needed(host, changed)
            kept = {key: value for key, value in host.properties.items() if key not in gone}
            updated = replace(
                host,
                properties={**kept, **given},
                reservable=is_true(reservable),
                updated_at=site.work.now,
                pool=host.pool if pool is None else site.pools.named(pool),
            )
            if updated.pool != host.pool:
                _refuse_if_not_awake(host)
                self._refuse_if_held(host, with_saved=True)
            site.records.put_host(updated)
            if updated.reservable != host.reservable or updated.pool != host.pool:
                site.change_site()
            return {"host_id": host_id}

    def _refuse_if_needed(self, host: HostRecord, changed: set[str]) -> None:
        """Refuse to change a property by which the host was chosen for a live lease."""
        if not changed:
            return
        number = self._site.store.units.number(str(host.host_id))
        for lease in self._site.engine.live_leases():
            if not any(number in reservation.assignment for reservation in lease.holdings):
                continue
            for record in self._site.work.documents[lease.lease_id].reservations:
                used = changed & properties_asked_for(record.terms)
                if used:
                    raise RefusedError(
                        409, f"property {sorted(used)[0]} is needed by lease {lease.lease_id}", sorted(used)[0]
                    )

    @answers(EngineRequests.delete_host)
    def delete_host(self, context: Document, host_id: str) -> Document:
        """Remove a host from the pool.

        :raises RefusedError: a lease holds it, now or later
        """
        site = self._site
        with site.request(context):
            host = self._host(host_id)
            _refuse_if_not_awake(host)
            self._refuse_if_held(host, with_saved=False)
            site.records.remove_host(host.host_id)
            site.change_site()
        self._follow_pool()
        return {}

    def _refuse_if_held(self, host: HostRecord, *, with_saved: bool) -> None:
        """Refuse to take a host away from a live lease that holds it, now or later.

        :param with_saved: whether a lease that only has saved memory there counts, too
        :raises RefusedError: 409, names the lease
        """
        number = self._site.store.units.number(str(host.host_id))
        for lease in self._site.engine.live_leases():
            is_saved = with_saved and number in (lease.saved_on or ())
            if is_saved or any(number in held.assignment for held in lease.holdings):
                raise RefusedError(409, f"host {host.name} is held by lease {lease.lease_id}; move or delete it first")

    def _host(self, host_id: str) -> HostRecord:
        host = self._site.records.hosts.get(int(host_id)) if host_id.isdigit() else None
        if host is None:
            raise RefusedError(404, f"there is no host {host_id} in the pool")
        return host

    # -- hosts that sleep ------------------------------------------------------------------------------------

    @answers(EngineRequests.sleep_host)
    def sleep_host(self, context: Document, host_id: str) -> Document:
        """Let a host sleep until a lease needs it.

        :raises RefusedError: a lease holds it now or soon, or it is out of service
        """
        site = self._site
        with site.request(context):
            host = self._host(host_id)
            try:
                site.engine.of_host(host.name).hosts.sleep(host.name)
            except InvalidValueError as error:
                raise RefusedError(409, f"host {host.name} cannot sleep: it {error.problem}") from error
        return {}

    @answers(EngineRequests.wake_host)
    def wake_host(self, context: Document, host_id: str) -> Document:
        """Wake a host that sleeps."""
        site = self._site
        with site.request(context):
            host = self._host(host_id)
            site.engine.of_host(host.name).hosts.wake(host.name)
        return {}

    @answers(EngineRequests.update_property)
    def update_property(self, context: Document, resource_type: str, name: str, private: bool) -> Document:
        """Show a property to all projects, or to administrators only."""
        site = self._site
        with site.request(context):
            if not any(name in host.properties for host in site.records.hosts.values()):
                raise RefusedError(404, f"no host has a property {name}", "name")
            site.records.set_private(resource_type, name, private)
            return {}

    # -- floating IPs ----------------------------------------------------------------------------------------

    @answers(EngineRequests.create_floatingip)
    def create_floatingip(self, context: Document, values: Document) -> Document:
        """Add an address to the pool.

        :raises RefusedError: it is not an IP address, or it is already in the pool
        """
        site = self._site
        text = values["floating_ip_address"]
        try:
            address = str(ipaddress.ip_address(text))
        except ValueError as error:
            raise RefusedError(400, f"{text} is not an IP address", "floating_ip_address") from error
        with site.request(context):
            if any(known.floating_ip_address == address for known in site.records.floating_ips.values()):
                raise RefusedError(409, f"floating IP {address} is in the pool already", "floating_ip_address")
            record = FloatingIpRecord(
                str(uuid4()),
                values["floating_network_id"],
                address,
                site.work.now,
                pool=site.pools.of_new(address, values.get("pool")),
            )
            site.records.put_floating_ip(record)
            site.change_site()
            return {"floatingip_id": record.floating_ip_id}

    @answers(EngineRequests.delete_floatingip)
    def delete_floatingip(self, context: Document, floatingip_id: str) -> Document:
        """Remove an address from the pool.

        :raises RefusedError: a lease holds it, now or later
        """
        site = self._site
        with site.request(context):
            record = site.records.floating_ips.get(floatingip_id)
            if record is None:
                raise RefusedError(404, f"there is no floating IP {floatingip_id} in the pool")
            number = site.store.units.number(floatingip_id)
            if any(number in r.assignment for lease in site.engine.live_leases() for r in lease.holdings):
                raise RefusedError(409, f"floating IP {record.floating_ip_address} is held by a lease")
            site.records.remove_floating_ip(floatingip_id)
            site.change_site()
            return {}


def _refuse_if_not_awake(host: HostRecord) -> None:
    """Refuse to take a host away unless it is awake.

    :raises RefusedError: 409, names its power state
    """
    if host.power is not None and host.power.state is not PowerState.AWAKE:
        raise RefusedError(409, f"host {host.name} is {host.power.state.value}; wake it first")
