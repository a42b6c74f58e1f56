"""Resources that a lease occupies, for accounting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST


def occupation(
    nodes: Iterable[tuple[int, Mapping[str, int]]], hosts: Iterable[Mapping[str, int]]
) -> tuple[int, dict[str, int]]:
    """Return how many nodes run, and how much of each resource class they occupy.

    A node on an exclusive host occupies all that the host has. Floating IPs do not count as nodes, but what they occupy
    does.

    :param nodes: for each node set, the number of nodes and what each of them needs
    :param hosts: capacity of the host of each node, in the order of the node sets
    :return: number of nodes, and class -> amount
    """
    count = 0
    amounts: Counter[str] = Counter()
    needs = [needed for number, needed in nodes for _ in range(number)]
    for needed, capacity in zip(needs, hosts, strict=True):
        count += FLOATING_IP not in needed
        is_whole = needed.get(HOST_SHARE) == WHOLE_HOST
        amounts.update({name: capacity[name] for name in capacity} if is_whole else needed)
    del amounts[HOST_SHARE]
    return count, dict(amounts)
