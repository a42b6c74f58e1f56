"""What leases will still use according to the plan, and its sums by period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lease_scheduler.model.holding import Closing
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.occupation import occupation
from lease_scheduler.model.planned_end import planned_end
from lease_scheduler.model.resources import FLOATING_IP, HOST_SHARE, WHOLE_HOST
from lease_scheduler.service.requests.enforcement.periods import Period, split

#: Key of the number of nodes among amounts of resource classes; no resource class has a small letter.
NODES = "nodes"

#: Seconds for which budgets look ahead: ten years. Only leases without an end last longer.
HORIZON = 10 * 366 * 86_400


@dataclass(frozen=True)
class Claim:
    """Amounts that a lease is to use in ``[start, end)``.

    :ivar amounts: resource class, or ``NODES`` -> amount of all its nodes together
    """

    start: int
    end: int
    amounts: Mapping[str, int]


def claims(lease: Lease, hosts: Sequence[Mapping[str, int]], now: int) -> list[Claim]:
    """Return what a lease will use from now on, according to the plan.

    As in usage records, running, suspending and resuming count, but booting does not. Work that has no place yet counts
    as if it directly followed the planned work, or began now.

    :param hosts: capacity of each host of the site, by number
    """
    found = []
    is_saved = lease.saved_on is not None
    for holding in lease.holdings:
        start = holding.start if is_saved else holding.run_start
        is_saved = holding.closing is Closing.SUSPEND
        # The shutdown does not count, so that a lease of an hour fits into a budget of an hour.
        end = holding.end if is_saved else holding.run_end
        found.append(Claim(start, end, _amounts(lease.request, [hosts[number] for number in holding.assignment])))
    done = planned_end(lease)
    if done is None:
        start = max(now, lease.request.start or now)
        rest = lease.request.duration - lease.accumulated
        found.append(Claim(start, start + rest, _amounts_anywhere(lease, hosts)))
    elif done > lease.holdings[-1].end:
        found.append(Claim(lease.holdings[-1].end, done, _amounts_anywhere(lease, hosts)))
    cut = (Claim(max(now, each.start), min(now + HORIZON, each.end), each.amounts) for each in found)
    return [each for each in cut if each.start < each.end]


def _amounts(request: LeaseRequest, hosts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Return what a lease uses on these hosts, one for each of its nodes."""
    count, amounts = occupation([(each.count, each.needs) for each in request.nodes], hosts)
    return {**amounts, NODES: count}


def _amounts_anywhere(lease: Lease, hosts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Return the most that a lease may use while its hosts are not known.

    Before its first start it may get its maximum number of nodes. A whole host counts as the largest of each class.
    """
    is_open = not lease.holdings and lease.started is None
    largest: Counter[str] = Counter()
    for capacity in hosts:
        largest |= Counter(capacity)
    del largest[FLOATING_IP]
    total: Counter[str] = Counter()
    for each in lease.request.nodes:
        count = each.most if is_open else each.count
        is_whole = each.needs.get(HOST_SHARE) == WHOLE_HOST
        for name, amount in (largest if is_whole else each.needs).items():
            total[name] += count * amount
        total[NODES] += 0 if FLOATING_IP in each.needs else count
    del total[HOST_SHARE]
    return dict(total)


def shortened(found: Iterable[Claim], seconds: int) -> list[Claim]:
    """Return claims without their last seconds."""
    kept = []
    for each in sorted(found, key=lambda claim: claim.end, reverse=True):
        cut = min(seconds, each.end - each.start)
        seconds -= cut
        if each.start < each.end - cut:
            kept.append(replace(each, end=each.end - cut))
    return kept


def by_period(period: Period, found: Iterable[Claim]) -> Counter[tuple[int, str]]:
    """Return amount-seconds by the start of the period and the resource class."""
    total: Counter[tuple[int, str]] = Counter()
    for each in found:
        for start, seconds in split(period, each.start, each.end):
            for name, amount in each.amounts.items():
                total[start, name] += seconds * amount
    return total
