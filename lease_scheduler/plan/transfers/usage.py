"""Disk usage of images on hosts (haizea F85)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.transfers.images import ImagePlan


def disk_usage(images: ImagePlan, leases: Mapping[str, Lease]) -> dict[int, int]:
    """Return the MB used on each host: the images in its pool, and a disk for each node that has its image there.

    With copy-on-write, a node on a host whose pool has its image needs no disk of its own.

    :param leases: live leases by id
    """
    usage: Counter[int] = Counter()
    own: dict[str, set[int]] = {lease_id: set(hosts) for lease_id, hosts in images.copies.items()}
    for host, pool in images.pools.items():
        for entry in pool:
            usage[host] += entry.image.size_mb
            if not images.options.copy_on_write:
                for lease_id in entry.users:
                    own.setdefault(lease_id, set()).add(host)
    for lease_id, hosts in own.items():
        lease = leases.get(lease_id)
        if lease is None or lease.request.software is None:
            continue
        assigned = lease.saved_on or (lease.holdings[0].assignment if lease.holdings else ())
        nodes = Counter(assigned)
        for host in hosts:
            # A copy that waits for its lease to return exists once.
            usage[host] += lease.request.software.size_mb * max(1, nodes[host])
    return dict(usage)
