"""Conditions for a calibration: free hosts, enough quota, and nothing left over from an earlier run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from novaclient.exceptions import NotFound, NoUniqueMatch

from lease_scheduler.calibration.servers import ours
from lease_scheduler.cloud.nova.api.listing import all_flavors
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.nova.aggregates import BLAZAR_OWNER, LEASE_ID, read_coming

#: Limits of a project: name of the limit in Nova, name of its usage, and how much of it a server takes.
_LIMITS = (
    ("maxTotalInstances", "totalInstancesUsed", lambda flavor: 1),
    ("maxTotalCores", "totalCoresUsed", lambda flavor: flavor.vcpus),
    ("maxTotalRAMSize", "totalRAMUsed", lambda flavor: flavor.ram),
)
_UNLIMITED = -1


def services(nova: Any, names: Sequence[str], aggregate: str | None) -> list[str]:
    """Return the names of the compute services of hosts, in order.

    :param names: names of compute hosts, or of their services
    :param aggregate: name of a host aggregate whose hosts are added, or None
    :raises InvalidValueError: a host or the aggregate does not exist, or a host is not up and enabled
    """
    wanted = list(dict.fromkeys(names))
    if aggregate is not None:
        members = [host for each in nova.aggregates.list() if each.name == aggregate for host in each.hosts]
        if not members:
            raise InvalidValueError("--aggregate", f"there is no host aggregate {aggregate!r} with hosts")
        wanted += sorted(set(members) - set(wanted))
    by_hypervisor = {each.hypervisor_hostname: each.service["host"] for each in nova.hypervisors.list()}
    known = {each.host: each for each in nova.services.list(binary="nova-compute")}
    found = []
    for name in wanted:
        service = known.get(by_hypervisor.get(name, name))
        if service is None:
            raise InvalidValueError("--hosts", f"there is no compute host {name!r}")
        if service.state != "up" or service.status != "enabled":
            raise InvalidValueError("--hosts", f"{name} is {service.state} and {service.status}; leave it out")
        found.append(str(service.host))
    return list(dict.fromkeys(found))


def check_free(nova: Any, hosts: Collection[str]) -> None:
    """Check that the hosts are free.

    :param hosts: names of compute services
    :raises InvalidValueError: a host has servers, has a lease, or will have a lease soon
    """
    hint = "name other hosts, or say --busy-hosts"
    for aggregate in nova.aggregates.list():
        taken = sorted(set(aggregate.hosts) & set(hosts))
        if taken and (LEASE_ID in aggregate.metadata or BLAZAR_OWNER in aggregate.metadata):
            raise InvalidValueError("--hosts", f"{taken[0]} has a lease ({aggregate.name}); {hint}")
        coming = sorted(set(read_coming(aggregate.metadata)) & set(hosts))
        if coming:
            raise InvalidValueError("--hosts", f"a lease begins soon on {coming[0]}; {hint}")
    for host in sorted(hosts):
        found = nova.servers.list(search_opts={"all_tenants": 1, "host": host}, limit=1)
        if found:
            raise InvalidValueError("--hosts", f"{host} has servers, e.g. {found[0].id}; {hint}")


def check_left(nova: Any) -> None:
    """Check that no other calibration runs, and that none has left servers behind.

    :raises InvalidValueError: there are servers of another calibration
    """
    found = ours(nova)
    if found:
        raise InvalidValueError(
            "--clean", f"{len(found)} servers of another calibration exist; if it has ended, run with --clean"
        )


def check_quota(nova: Any, flavor: Any, most: int) -> None:
    """Check that the servers fit into the quota of the project.

    :param most: largest number of servers at a time
    :raises InvalidValueError: they do not fit
    """
    limits = {each.name: each.value for each in nova.limits.get().absolute}
    for limit, used, of_one in _LIMITS:
        allowed = limits.get(limit, _UNLIMITED)
        needed = limits.get(used, 0) + most * of_one(flavor)
        if allowed != _UNLIMITED and needed > allowed:
            raise InvalidValueError(
                "--at-once",
                f"{most} servers at a time exceed the quota of the project: {limit} is {allowed}, {needed} is needed",
            )


def find_flavor(nova: Any, wanted: str) -> Any:
    """Return the flavor with an id or a name.

    :raises InvalidValueError: there is none, or there are several
    """
    found = [each for each in all_flavors(nova) if wanted in (each.id, each.name)]
    if len(found) != 1:
        what = "there is none" if not found else f"there are {len(found)}"
        raise InvalidValueError("--flavor", f"{what} with the id or name {wanted!r}")
    return found[0]


def find_image(nova: Any, wanted: str) -> str:
    """Return the id of the image with an id or a name.

    :raises InvalidValueError: there is none, or there are several
    """
    try:
        return str(nova.glance.find_image(wanted).id)
    except NotFound:
        raise InvalidValueError("--image", f"there is none with the id or name {wanted!r}") from None
    except NoUniqueMatch as error:
        raise InvalidValueError("--image", f"there are several with the name {wanted!r}; give the id") from error
