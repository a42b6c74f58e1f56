"""Division of CPU among fluid leases whose needs are known (Stillwell 2010, sections 3.1, 4.4.7 and 7.2.2; dfrs A32).

VCPU that no lease holds are first divided by needs. What is left then goes to all fluid leases, up to what they
declared, so that no CPU time stays idle while a lease could use it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lease_scheduler.fractional.arrays import Booleans, Floats, Integers
from lease_scheduler.policy.fractional.base import FluidNodes


def divided(
    share: Callable[[FluidNodes], Floats], nodes: FluidNodes, held: Integers, parts: Floats, tried: Booleans
) -> tuple[Floats, Floats]:
    """Return the yield of each lease, and the part of its VCPU that it is given, both from 0 to 1.

    :param share: division by the policy; see ``FractionalPolicy.scaled_yields``
    :param nodes: nodes whose ``needs`` are the VCPU that they declared beyond those that they hold
    :param held: VCPU that each node holds, shape (nodes,)
    :param parts: part of its VCPU that each lease needs, more than 0, shape (leases,)
    :param tried: whether each lease is on trial, and is served first with all that it declared, shape (leases,)
    """
    declared = held + nodes.needs
    need = parts[nodes.leases] * declared
    given = held.astype(float)
    left = np.maximum(nodes.free, 0.0)
    is_tried = tried[nodes.leases]
    for who, wanted in (
        (is_tried, declared),
        (~is_tried, np.minimum(need, declared)),
        (np.ones(len(declared), np.bool_), declared),
    ):
        beyond = np.where(who, np.maximum(wanted - given, 0.0), 0.0)
        scaled = share(FluidNodes(left, nodes.hosts, nodes.leases, beyond, nodes.count))
        more = scaled[nodes.leases] * beyond
        given += more
        left = np.maximum(left - np.bincount(nodes.hosts, weights=more, minlength=len(left)), 0.0)
    return _least(nodes, given, need), _least(nodes, given, declared)


def _least(nodes: FluidNodes, given: Floats, whole: Floats) -> Floats:
    """Return, for each lease, the smallest part of the whole that one of its nodes is given, at most 1."""
    part = np.divide(given, whole, out=np.ones(len(given)), where=whole > 0)
    least = np.ones(nodes.count)
    np.minimum.at(least, nodes.leases, part)
    return least
