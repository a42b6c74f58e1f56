"""The choice of the pool for a request that names none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lease_scheduler.engine.pools.engines import PoolEngines, PoolName
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import Lease
from lease_scheduler.plan.explaining.explain import Refusal
from lease_scheduler.service.core.terms import Terms


def in_pool(engines: PoolEngines, terms_in: Callable[[PoolName], Terms], pools: Sequence[PoolName]) -> Terms:
    """Return the terms of a request in the first pool that grants it.

    If no pool grants it, return its terms in the first pool where they are valid, with the refusals of the others.

    :param terms_in: returns the terms in a pool
    :param pools: the pools that may be used, in the order in which they are tried; at least one
    :raises InvalidValueError: the terms are contradictory in every pool
    """
    if len(pools) == 1:
        return terms_in(pools[0])
    errors: list[InvalidValueError] = []
    refused: list[tuple[Terms, Refusal]] = []
    for pool in pools:
        try:
            terms = terms_in(pool)
        except InvalidValueError as error:
            errors.append(error)
            continue
        refusal = engines.quote(terms.request, terms.least).refusal
        if refusal is None:
            return terms
        refused.append((terms, refusal))
    if not refused:
        raise errors[0]
    (first, _), *others = refused
    return replace(first, elsewhere=tuple(refusal for _, refusal in others))


def reason_in(lease: Lease) -> str:
    """Return the reason of a lease, with its pool if the site has several."""
    pool = lease.request.pool
    return lease.reason if pool is None else f"pool {pool}: {lease.reason}"


def everywhere(refusal: Refusal, terms: Terms) -> Refusal:
    """Return the refusal of a request together with those of the other pools that it could use."""
    if not terms.elsewhere:
        return refusal
    found = (refusal, *terms.elsewhere)
    # ``Refusal.anonymous`` removes only the hosts of the refusal itself, so the other texts must name none.
    others = (each.anonymous for each in terms.elsewhere)
    return replace(
        refusal,
        message="; ".join((refusal.message, *others)),
        # An alternative of another pool can be granted there, as the project's next request is tried in every pool.
        alternatives=tuple(dict.fromkeys(near for each in found for near in each.alternatives)),
    )
