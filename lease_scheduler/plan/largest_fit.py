"""As many nodes as there is room for, where a consumer gives a range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseRequest


def with_counts(request: LeaseRequest, counts: tuple[int, ...]) -> LeaseRequest:
    """The request with other numbers of VMs, one for each node set."""
    nodes = tuple(
        node_set if node_set.count == count else replace(node_set, count=count)
        for node_set, count in zip(request.nodes, counts, strict=True)
    )
    return replace(request, nodes=nodes)


def check_least(request: LeaseRequest, least: tuple[int, ...]) -> None:
    """Refuse a range that makes no sense.

    :param least: for each node set the fewest VMs that will do
    :raises InvalidValueError: it is not one number for each node set, of at least 1 and at most its count
    """
    if len(least) != len(request.nodes):
        raise InvalidValueError("least", f"must be {len(request.nodes)} numbers, one for each node set")
    for node_set, fewest in zip(request.nodes, least, strict=True):
        if not 1 <= fewest <= node_set.count:
            raise InvalidValueError("least", f"must be from 1 to {node_set.count}, not {fewest}")


def most_that_fits(
    request: LeaseRequest, least: tuple[int, ...], fits: Callable[[LeaseRequest], bool]
) -> LeaseRequest | None:
    """The request with as many VMs as fit, none if not even the least do.

    If all fit, all are taken. Else every node set gets its least, and then one after the other in their order as many
    as fit beside what the ones before it got: by bisection, so that one VM more does not fit. Who wants a set served
    first names it first.

    :param least: for each node set the fewest VMs that will do
    :param fits: whether a request has a place
    """
    if fits(request):
        return request
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
