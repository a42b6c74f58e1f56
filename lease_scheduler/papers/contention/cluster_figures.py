"""The metrics of chapter 4 of Amini Salehi 2012 (section 4.4.1; contention 4.7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lease_scheduler.federation.negotiation.record import Stage
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.request_types import RequestType, request_type
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation.grid.grid import GridResult, Outcome


def figures(result: GridResult) -> dict[str, Any]:
    """Return the metrics, as JSON values.

    * ``awrt_s`` is equation 4.24. Clusters without best-effort leases have no response time, so they do not count.
      ``awrt_of_all_s`` does not divide the leases by cluster.
    * ``utilisation_percent`` is equation 4.22. The overhead is what VMs held hosts for beyond the work that was done:
      resumptions, and work that was lost or charged.
    * ``response_s`` is the mean response time of all external leases.
    """
    sites = result.sites
    local = [lease for site in sites.values() for lease in site.leases if lease.request.origin is None]
    granted = [outcome for outcome in result.outcomes if outcome.lease is not None]
    done = [lease for site in sites.values() for lease in site.leases if lease.state is LeaseState.DONE]
    useful = sum(lease.request.node_count * lease.request.duration for lease in done)
    held = sum(len(each.assignment) * (each.end - each.start) for site in sites.values() for each in site.occupations)
    best_effort = [outcome for outcome in granted if outcome.request.kind is LeaseKind.BEST_EFFORT]
    responses = [_response(outcome) for outcome in granted]
    of_cluster = {name: [outcome for outcome in best_effort if outcome.site == name] for name in sites if best_effort}
    used = {name: found for name, found in of_cluster.items() if found}
    nodes = sum(len(sites[name].site) for name in used)
    fixed = [outcome for outcome in result.outcomes if request_type(outcome.request) is RequestType.NON_PREEMPTABLE]
    return {
        "vm_preemptions": _counted(result, "preempted_nodes"),
        "lease_preemptions": _counted(result, "preempted_leases"),
        "utilisation_percent": 100 * (1 - (held - useful) / useful),
        "awrt_s": sum(len(sites[name].site) * _weighted_response(found) for name, found in used.items()) / nodes,
        "awrt_of_all_s": _weighted_response(best_effort),
        "response_s": sum(responses) / len(responses),
        "fixed_rejected_percent": _percent(fixed),
        "external_rejected_percent": _percent(result.outcomes),
        "local_rejected_percent": 100 * sum(_was_rejected(lease) for lease in local) / max(1, len(local)),
        "local": len(local),
        "external": len(result.outcomes),
        "asked_more_than_once": sum(len(outcome.asked) > 1 for outcome in result.outcomes),
        "wall_s": next(iter(sites.values())).wall_s,
    }


def _counted(result: GridResult, name: str) -> int:
    return sum(site.counters.get(name, 0) for site in result.sites.values())


def _response(outcome: Outcome) -> int:
    """Return the seconds from the arrival at the gateway to the end of the lease."""
    assert outcome.lease is not None
    assert outcome.lease.ended is not None
    return outcome.lease.ended - outcome.request.submitted


def _weighted_response(outcomes: Iterable[Outcome]) -> float:
    """Return the mean response time, weighted by nodes times duration (equation 4.23)."""
    weights = [(each.request.node_count * each.request.duration, _response(each)) for each in outcomes]
    return sum(weight * seconds for weight, seconds in weights) / sum(weight for weight, _ in weights)


def _percent(outcomes: Sequence[Outcome]) -> float:
    return 100 * sum(each.stage is Stage.REFUSED for each in outcomes) / max(1, len(outcomes))


def _was_rejected(lease: Lease) -> bool:
    return lease.state is LeaseState.REJECTED
