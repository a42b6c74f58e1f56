"""Images that hosts fetch into their caches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lease_scheduler.rehearsal.cloud.nova.compute.computes import Computes
from lease_scheduler.rehearsal.cloud.nova.records import Host, HostAggregate
from lease_scheduler.rehearsal.cloud.nova.store import Store


def cache_images(
    computes: Computes, store: Store, aggregate: HostAggregate, images: Sequence[str], request_id: str
) -> None:
    """Have the hosts of an aggregate fetch images, and tell how far they have come."""
    hosts = [store.hosts[name] for name in aggregate.hosts if store.is_up(store.hosts[name])]
    waiting = {each.name for each in hosts}
    more = {"total": len(hosts), "images_cached": [], "images_failed": []}
    store.notices.caching("start", aggregate, request_id, None, index=0, **more)

    def fetched(host: Host) -> None:
        waiting.discard(host.name)
        has = host.runs
        if has:
            host.cached_images.update(images)
        told = {"images_cached": list(images) if has else [], "images_failed": [] if has else list(images)}
        index = len(hosts) - len(waiting)
        store.notices.caching("progress", aggregate, request_id, host.name, index=index, total=len(hosts), **told)
        if not waiting:
            store.notices.caching("end", aggregate, request_id, None, index=index, **more)

    for host in hosts:
        is_new = not host.cached_images.issuperset(images)
        seconds = computes.seconds("cache_image" if is_new else "message")
        store.timing.call_later(seconds, partial(fetched, host))
