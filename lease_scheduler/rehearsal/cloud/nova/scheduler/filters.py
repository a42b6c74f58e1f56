"""Nova's filters, as far as operators of leases use them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lease_scheduler.rehearsal.cloud.nova.scheduler.host_states import HostState
from lease_scheduler.rehearsal.cloud.nova.scheduler.requests import PlacementRequest
from lease_scheduler.rehearsal.cloud.nova.store import Store

#: Returns whether a server may get a host.
Filter = Callable[[Store, HostState, PlacementRequest], bool]

_SCOPE = "aggregate_instance_extra_specs"
_TENANT = "filter_tenant_id"


def _is_up_and_enabled(store: Store, host: HostState, request: PlacementRequest) -> bool:
    return host.is_up and host.enabled


def _group_hosts(store: Store, request: PlacementRequest, policy: str) -> set[str] | None:
    """Return the hosts of the other members of the server group of a policy, or None if the server is in none."""
    group = store.groups.get(request.server.group_id or "")
    if group is None or group.policy != policy:
        return None
    others = (
        store.servers[member] for member in group.members if member in store.servers and member != request.server.id
    )
    return {host for each in others if not each.deleted and (host := each.host or each.planned) is not None}


def _together(store: Store, host: HostState, request: PlacementRequest) -> bool:
    return host.host in (_group_hosts(store, request, "affinity") or {host.host})


def _apart(store: Store, host: HostState, request: PlacementRequest) -> bool:
    return host.host not in (_group_hosts(store, request, "anti-affinity") or ())


def _has_extra_specs(store: Store, host: HostState, request: PlacementRequest) -> bool:
    """Return whether the aggregates of a host have what the extra specs of a flavor name."""
    for key, value in request.wanted.extra_specs.items():
        scope, _, name = key.rpartition(":")
        if scope not in ("", _SCOPE):
            continue
        said = [each.metadata[name] for each in host.aggregates if name in each.metadata]
        if value not in said:
            return False
    return True


def _admits_project(store: Store, host: HostState, request: PlacementRequest) -> bool:
    wanted = [
        project.strip()
        for each in host.aggregates
        for key, projects in each.metadata.items()
        if key.startswith(_TENANT)
        for project in projects.split(",")
    ]
    return not wanted or request.project_id in wanted


def _admits_all(store: Store, host: HostState, request: PlacementRequest) -> bool:
    """Admit every host: Placement has counted the devices already."""
    return True


#: Name in Nova -> filter.
FILTERS: Mapping[str, Filter] = {
    "ComputeFilter": _is_up_and_enabled,
    "ServerGroupAffinityFilter": _together,
    "ServerGroupAntiAffinityFilter": _apart,
    "AggregateInstanceExtraSpecsFilter": _has_extra_specs,
    "AggregateMultiTenancyIsolation": _admits_project,
    "PciPassthroughFilter": _admits_all,
}
