"""Names and values of the columns of Haizea's result files (haizea F90; Sotomayor 2010, appendix A.6).

Times are in s. A value that cannot be measured is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lease_scheduler.model.delays import bounded_slowdown, waiting_time
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.states import LeaseState
from lease_scheduler.simulation import metrics

#: A value of a file; None for an empty cell.
Cell = str | int | float | None

#: Columns of all files that identify the run.
COMMON_COLUMNS = ("profile", "tracefile", "annotationfile", "injectfile")

PERRUN_COLUMNS = (
    "Total requested leases",
    "Total accepted AR",
    "Total best-effort completed",
    "Total completed leases",
    "Total rejected AR",
    "Total rejected leases (by user)",
    "Total rejected leases",
    "all-best-effort",
    "Revenue",
    "Surcharge",
    "Missed revenue (undercharging)",
    "Missed revenue (reject)",
    "Missed revenue (reject by user)",
    "Missed revenue (total)",
)

#: Columns of the per-lease file that come from the extras of requests, where generators and readers of logs put them.
EXTRA_COLUMNS = (
    "simul_start_delta",
    "simul_userrate",
    "simul_deadline_tau",
    "rate",
    "rejected_price",
    "SWF_group",
    "SWF_waittime",
    "SWF_runtime",
    "SWF_execnumber",
    "SWF_avgcputime",
    "SWF_queue",
)

PERLEASE_COLUMNS = (
    "lease_id",
    "Waiting time",
    "Slowdown",
    "State",
    "Number of nodes",
    "Requested duration",
    "Actual duration",
    "Start",
    "Deadline",
    "Price",
    *EXTRA_COLUMNS,
)

COUNTER_COLUMNS = ("time", "value", "average")

#: Haizea's value for the price of a lease whose user declined the price.
_REFUSED = -1


def delays(lease: Lease) -> dict[str, Cell]:
    """Return the waiting time and the bounded slowdown of a lease (haizea F83)."""
    found: dict[str, Cell] = {
        "Waiting time": waiting_time(lease),
        "Slowdown": bounded_slowdown(lease, lease.accumulated),
    }
    return {name: value for name, value in found.items() if value is not None}


def outcome(lease: Lease) -> dict[str, Cell]:
    """Return the requested terms of a lease and its outcome.

    As in Haizea's files, ``Start`` is the time from submission to requested start, and ``Deadline`` the time from
    requested start to deadline.
    """
    request = lease.request
    found: dict[str, Cell] = {
        "State": lease.state.value.replace("-", " ").capitalize(),
        "Number of nodes": request.node_count,
        "Requested duration": request.duration,
        "Actual duration": lease.accumulated,
    }
    if request.start is not None:
        found["Start"] = request.start - request.submitted
    if request.deadline is not None:
        found["Deadline"] = request.deadline - (request.start or 0)
    return found


def price(lease: Lease) -> dict[str, Cell]:
    """Return the price of a lease and its rate, and the price that its user declined, if any (haizea F78)."""
    request, asked = lease.request, lease.grant.price
    if asked is None:
        return {}
    found: dict[str, Cell] = {"Price": asked}
    if request.node_hours:
        found["rate"] = asked / request.node_hours
    if lease.state is LeaseState.REJECTED_BY_USER:
        found |= {"Price": _REFUSED, "rejected_price": asked}
    # Values in the workload take precedence.
    return {name: value for name, value in found.items() if name not in request.extras}


def all_counts(leases: Sequence[Lease]) -> dict[str, Cell]:
    """Return the numbers of leases by outcome; rejections by users are counted separately."""
    total = metrics.count_leases(leases)
    return {
        "Total requested leases": total.requested,
        "Total completed leases": total.done,
        "Total rejected leases (by user)": total.rejected_by_user,
        "Total rejected leases": total.rejected - total.rejected_by_user,
    }


def reservation_counts(leases: Sequence[Lease]) -> dict[str, Cell]:
    """Return the numbers of reservations that were accepted and that the provider rejected."""
    counts = metrics.count_leases(of_kind(leases, LeaseKind.RESERVATION))
    return {"Total accepted AR": counts.accepted, "Total rejected AR": counts.rejected - counts.rejected_by_user}


def best_effort_counts(leases: Sequence[Lease]) -> dict[str, Cell]:
    """Return the number of best-effort leases that are done."""
    return {"Total best-effort completed": metrics.count_leases(of_kind(leases, LeaseKind.BEST_EFFORT)).done}


def money(leases: Sequence[Lease]) -> dict[str, Cell]:
    """Return earned and missed revenue, not normalised (haizea F82); empty if no lease has a price.

    Surcharges are included in prices, so their column is 0.
    """
    found = metrics.revenue(leases)
    if found is None:
        return {}
    return {
        "Revenue": found.earned,
        "Surcharge": 0.0,
        "Missed revenue (undercharging)": found.undercharged,
        "Missed revenue (reject)": found.rejected,
        "Missed revenue (reject by user)": found.rejected_by_user,
        "Missed revenue (total)": found.missed,
    }


def of_kind(leases: Iterable[Lease], kind: LeaseKind) -> Iterator[Lease]:
    """Return the leases of a kind."""
    return (lease for lease in leases if lease.kind is kind)
