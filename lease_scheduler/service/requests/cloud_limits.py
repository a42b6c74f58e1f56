"""Refusals of terms that the cloud's driver cannot carry out."""

from __future__ import annotations

from lease_scheduler.cloud.capabilities import is_absent
from lease_scheduler.cloud.driver import Ability, Driver
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST
from lease_scheduler.records.documents import LeaseDocument


def check_cloud_can(driver: Driver, request: LeaseRequest, document: LeaseDocument) -> None:
    """Refuse terms that need an ability or a capability that the driver does not have.

    :raises InvalidValueError: names the field, and what to ask for instead
    """
    problem = _problem(driver, request, document)
    if problem is not None:
        raise InvalidValueError(*problem)


def _problem(driver: Driver, request: LeaseRequest, document: LeaseDocument) -> tuple[str, str] | None:
    """Return the field that asks for too much, with what to do about it, or None."""
    lacks = frozenset(Ability) - driver.abilities
    needs_address = any(FLOATING_IP in nodes.needs for nodes in request.nodes)
    if needs_address and Ability.FLOATING_IPS in lacks:
        return "reservations.resource_type", "this cloud leases no floating IPs; leave them out"
    needs_part = any(
        nodes.needs.get(HOST_SHARE) != WHOLE_HOST for nodes in request.nodes if FLOATING_IP not in nodes.needs
    )
    if needs_part and Ability.PARTS_OF_HOSTS in lacks:
        return "nodes.exclusive", "this cloud leases whole hosts only; set it to true"
    if document.servers and Ability.BOOTING in lacks:
        return "servers", "this cloud boots no servers; leave them out"
    if document.on_end == "shelve" and Ability.SUSPENDING in lacks:
        return "on_end", "this cloud shelves no servers; say delete, or keep"
    if request.preemptible and request.preemption_mode.saves_state and Ability.SUSPENDING in lacks:
        return "preemption_mode", "this cloud suspends no servers; say delete, or none"
    needs_images = document.on_end == "snapshot" or document.saved_nodes(by_default=False)
    if needs_images and Ability.SNAPSHOTS in lacks:
        return "on_end", "this cloud makes no images of servers; say delete"
    if any(nodes.fluid for nodes in request.nodes) and is_absent(driver.shares):
        return "min_yield", "this cloud divides no CPUs among servers; leave it out"
    return None
