"""Fewest preemptions, from what members publish of their load."""

from __future__ import annotations

from collections.abc import Mapping

from lease_scheduler.federation.members import Arrivals, MemberDescription, PublishedLoad, together
from lease_scheduler.federation.routing.allocation.base import AllocationPolicy, Shares, in_proportion
from lease_scheduler.federation.routing.question import Question
from lease_scheduler.federation.routing.queueing_model import LEAST_TIME, Cluster, best_division
from lease_scheduler.federation.routing.state import RoutingState


class PreemptionAware(AllocationPolicy):
    """Preemption-aware policy PAP: divides requests for the least mean response time (Amini Salehi 2012, algorithm 2).

    External requests that take long on average are those that are preempted often, so few are preempted. The figures
    are those that members publish. What external requests need at a member that has had none is what they need at all
    members. As long as no member has had any, each gets requests in proportion to its capacity.
    """

    def allocate(self, question: Question, state: RoutingState) -> Shares:
        """See ``AllocationPolicy.allocate``."""
        loads = {
            name: PublishedLoad() if member.load is None else member.load for name, member in question.members.items()
        }
        everywhere = together([load.all_external for load in loads.values()])
        clusters = {
            name: cluster
            for name, member in question.members.items()
            if (cluster := as_cluster(member, loads[name], everywhere)) is not None
        }
        if not clusters:
            return in_proportion(question.sizes)
        rates = best_division(everywhere.rate, tuple(clusters.values())).rates
        if not any(rates):
            return in_proportion(question.sizes)
        return in_proportion(dict(zip(clusters, rates, strict=True)))


def as_cluster(member: MemberDescription, load: PublishedLoad, everywhere: Arrivals) -> Cluster | None:
    """Return a member as one server, or None if it cannot serve external requests or nothing is known of them.

    The server works through the most contended resource class: a request of some amount for some seconds takes it the
    share of the amount in the capacity, times the seconds (section 4.3.1).

    :param load: its load
    :param everywhere: external requests at all members
    """
    local, known = load.local, load.all_external
    if not known.rate or not any(known.work.values()):
        known = everywhere
    demands, speeds = {}, {}
    for name, work in known.work.items():
        if work:
            speeds[name] = member.capacity.get(name, 0) * member.speed
            if not speeds[name]:
                return None
            demands[name] = (known.rate * work + local.rate * local.work.get(name, 0.0)) / speeds[name]
    if not demands:
        return None
    scarcest = max(demands, key=demands.__getitem__)
    if known.work[scarcest] / speeds[scarcest] < LEAST_TIME:
        return None
    return Cluster(*_moments(known, scarcest, speeds), local.rate, *_moments(local, scarcest, speeds))


def _moments(arrivals: Arrivals, name: str, speeds: Mapping[str, float]) -> tuple[float, float]:
    """Return the mean service time in seconds, and the mean of its square."""
    mean = arrivals.work.get(name, 0.0) / speeds[name]
    # Both are running means that were rounded, so the square may fall short of what the mean requires.
    return mean, max(mean**2, arrivals.squares.get(name, 0.0) / speeds[name] ** 2)
