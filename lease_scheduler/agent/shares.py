"""The weight that each server of a host gets."""

from __future__ import annotations

from collections.abc import Mapping

from lease_scheduler.agent.hypervisor import RunningServer, Scale
from lease_scheduler.agent.protocol import CPU_WEIGHT


def wanted_shares(
    servers: Mapping[str, RunningServer], weights: Mapping[str, int], cpus: float, scale: Scale
) -> dict[str, int]:
    """Return server -> weight in the units of the hypervisor.

    Servers that the order does not name get the weight of all their CPUs. If the sum exceeds what the host has, only
    named servers get less. If no server on the host is named, all have the weights that Nova gave them.

    :param weights: server -> weight; one CPU has ``CPU_WEIGHT``
    :param cpus: number of CPUs that may be promised on the host
    """
    named = {server_id: weights[server_id] for server_id in servers if server_id in weights}
    if not named:
        return {server_id: server.usual_shares for server_id, server in servers.items()}
    full = {server_id: CPU_WEIGHT * server.vcpus for server_id, server in servers.items() if server_id not in named}
    left = max(0.0, CPU_WEIGHT * cpus - sum(full.values()))
    part = min(1.0, left / sum(named.values()))
    found = {server_id: float(weight) for server_id, weight in full.items()}
    found |= {server_id: weight * part for server_id, weight in named.items()}
    unit = min(scale.cpu / CPU_WEIGHT, scale.highest / max(found.values()))
    return {server_id: max(scale.lowest, int(weight * unit)) for server_id, weight in found.items()}
