"""What controllers and pairs need, out of records, leases at the site and the queue. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lease_scheduler.guest.interfaces import QueueView
from lease_scheduler.guest.nodes import Lease, LeaseState, Margins, Node, NodeState, Offer, ends_soon
from lease_scheduler.guest.records import LeaseRecord, Stage
from lease_scheduler.guest.values import Holding, Job

#: Seconds that a node is wanted without a job until it counts as one that is wanted for itself. In between are jobs
#: that have just been cancelled.
_GRACE = 10


def holdings_of(
    records: Sequence[LeaseRecord],
    leases: Mapping[str, Lease],
    nodes: Sequence[Node],
    view: QueueView,
    now: int,
    margins: Margins,
) -> list[Holding]:
    """Return the leases as controllers see them.

    :param leases: those that the site knows and that have not ended
    """
    used = Counter(node.lease_id for node in nodes)
    busy = Counter(node.lease_id for node in nodes if _has_jobs(node, view))
    found = []
    for each in records:
        lease = leases.get(each.id)
        is_leaving = each.stage is Stage.ENDING or (
            each.stage is Stage.ASKED and (lease is None or ends_soon(lease, now, margins))
        )
        found.append(
            Holding(
                each.id,
                each.units,
                max(0, each.units - used[each.id]),
                busy[each.id],
                each.term,
                each.term if lease is None else lease.seconds,
                None if lease is None else lease.end,
                each.job,
                is_leaving,
            )
        )
    return found


def _has_jobs(node: Node, view: QueueView) -> bool:
    """Return whether a node runs jobs, or is about to: jobs wait for a node that joins."""
    if node.state is NodeState.JOINING:
        return True
    seen = view.nodes.get(node.name)
    return node.state is NodeState.JOINED and seen is not None and bool(seen.jobs)


def offers_of(
    records: Sequence[LeaseRecord], leases: Mapping[str, Lease], nodes: Sequence[Node], now: int, margins: Margins
) -> list[Offer]:
    """Return the leases that have started, stay for a while, and have nodes that no node of the queue uses."""
    used = Counter(node.lease_id for node in nodes)
    found = []
    for each in records:
        lease = leases.get(each.id)
        if lease is None or lease.state is not LeaseState.ACTIVE or each.stage is Stage.ENDING:
            continue
        if each.units > used[each.id] and not ends_soon(lease, now, margins):
            found.append(Offer(each.id, each.units - used[each.id], each.job))
    return found


def waiting_jobs(nodes: Sequence[Node], view: QueueView, now: int) -> list[Job]:
    """Return the jobs with nodes that have no lease yet, with the number of these as their width.

    A node that the queue wants for some time without a job counts as a job of one node without a time limit.
    """
    missing = [each for each in nodes if each.state is NodeState.WANTED]
    widths = Counter(view.job_nodes[each.name] for each in missing if each.name in view.job_nodes)
    found = [replace(job, width=widths[job.id]) for job in view.jobs if widths[job.id]]
    alone = [each.name for each in missing if each.name not in view.job_nodes and now - each.since >= _GRACE]
    return [*found, *(Job(f"node/{name}", 1) for name in alone)]
