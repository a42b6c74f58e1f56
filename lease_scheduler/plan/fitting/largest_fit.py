"""Largest fit: as many nodes as fit, if a request gives a range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseRequest


def with_counts(request: LeaseRequest, counts: tuple[int, ...]) -> LeaseRequest:
    """Return the request with other numbers of nodes, one for each node set."""
    nodes = tuple(
        node_set if node_set.count == count else replace(node_set, count=count)
        for node_set, count in zip(request.nodes, counts, strict=True)
    )
    return replace(request, nodes=nodes)


def check_least(request: LeaseRequest, least: tuple[int, ...]) -> None:
    """Check the minimum numbers of nodes of a request.

    :param least: for each node set, the smallest acceptable number of nodes
    :raises InvalidValueError: there is not one number for each node set, or one is not from 1 to the set's count
    """
    if len(least) != len(request.nodes):
        raise InvalidValueError("least", f"must be {len(request.nodes)} numbers, one for each node set")
    for node_set, fewest in zip(request.nodes, least, strict=True):
        if not 1 <= fewest <= node_set.count:
            raise InvalidValueError("least", f"must be from 1 to {node_set.count}, not {fewest}")


def most_that_fits(
    request: LeaseRequest, least: tuple[int, ...], fits: Callable[[LeaseRequest], bool]
) -> LeaseRequest | None:
    """Return the request with as many nodes as fit, or None if not even the smallest acceptable numbers do.

    If all nodes fit, all are taken. Else each node set gets its minimum; then one set after the other, in the order of
    the request, gets as many nodes as fit in addition. The number is found by bisection: one node more would not fit.

    :param least: for each node set, the smallest acceptable number of nodes
    :param fits: returns whether a request has a place
    """
    return request if fits(request) else fewer_that_fit(request, least, fits)


def fewer_that_fit(
    request: LeaseRequest, least: tuple[int, ...], fits: Callable[[LeaseRequest], bool]
) -> LeaseRequest | None:
    """Return the same as ``most_that_fits`` for a request of which it is known that not all nodes fit."""
    counts = least
    best = with_counts(request, counts)
    if best == request or not fits(best):
        return None
    for index, node_set in enumerate(request.nodes):
        enough, too_many = counts[index], node_set.count + 1
        while too_many - enough > 1:
            middle = (enough + too_many) // 2
            tried = (*counts[:index], middle, *counts[index + 1 :])
            if fits(with_counts(request, tried)):
                enough, counts = middle, tried
            else:
                too_many = middle
        best = with_counts(request, counts)
    return best
