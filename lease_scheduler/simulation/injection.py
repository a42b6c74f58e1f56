"""Injection: merging the leases of further workloads into a base workload.

See Sotomayor 2010, appendix A.3.1 (haizea F27).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: Added k times to the ids of the k-th injected workload, as in Haizea, unless there are ids as large as that.
ID_OFFSET = 1_000_000


def inject(base: Workload, *injected: Workload) -> Workload:
    """Merge workloads by the instant of submission; at equal instants the base comes first, then in the order given.

    The name and the site are those of the base. The attributes of all workloads are merged; those of the base take
    precedence. The ids of the k-th injected workload grow by k times 1,000,000, or by more millions if there are larger
    ids before it. An id that is not a number gets the suffix ``+<this number>``.

    :raises InvalidValueError: two leases would have the same id
    """
    leases = list(base.leases)
    attributes: dict[str, str] = {}
    offset = 0
    for workload in injected:
        offset = max(offset + ID_OFFSET, (_largest(leases) // ID_OFFSET) * ID_OFFSET + ID_OFFSET)
        leases += [_shifted(lease, offset) for lease in workload.leases]
        attributes = {**workload.attributes, **attributes}
    repeated = [name for name, count in Counter(lease.request.lease_id for lease in leases).items() if count > 1]
    if repeated:
        raise InvalidValueError(
            "lease_id", f"after injection two leases are {repeated[0]!r}; renumber one of the files"
        )
    merged = tuple(sorted(leases, key=lambda lease: lease.request.submitted))
    return replace(base, leases=merged, attributes={**attributes, **base.attributes})


def _largest(leases: Iterable[WorkloadLease]) -> int:
    ids = (lease.request.lease_id for lease in leases)
    return max((int(each) for each in ids if each.isascii() and each.isdigit()), default=0)


def _shifted(lease: WorkloadLease, offset: int) -> WorkloadLease:
    old = lease.request.lease_id
    new = str(int(old) + offset) if old.isascii() and old.isdigit() else f"{old}+{offset}"
    return replace(lease, request=replace(lease.request, lease_id=new))
