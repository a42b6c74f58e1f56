"""The policies of an engine: one of each family. The families are declared here, and nowhere else."""

# ruff: noqa: RUF009 - ``family`` returns a field

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from lease_scheduler.policy.admission.accept_all import AcceptAll
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.assurance.base import AssurancePolicy
from lease_scheduler.policy.assurance.none import NoAssurance
from lease_scheduler.policy.base import Policy
from lease_scheduler.policy.duration.base import DurationPolicy
from lease_scheduler.policy.duration.requested import Requested
from lease_scheduler.policy.families import Family, families_of, family
from lease_scheduler.policy.fractional.base import FractionalPolicy
from lease_scheduler.policy.fractional.none import NoFractional
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy
from lease_scheduler.policy.host_selection.greedy import GreedySelection
from lease_scheduler.policy.mapper.base import MapperPolicy
from lease_scheduler.policy.mapper.greedy import GreedyMapper
from lease_scheduler.policy.penalty.base import PenaltyPolicy
from lease_scheduler.policy.penalty.none import NoPenalty
from lease_scheduler.policy.power.base import PowerPolicy
from lease_scheduler.policy.power.none import NoPower
from lease_scheduler.policy.preemption.base import PreemptionPolicy
from lease_scheduler.policy.preemption.by_kind import ByKind
from lease_scheduler.policy.pricing.base import PricingPolicy
from lease_scheduler.policy.pricing.free import Free
from lease_scheduler.policy.queueing.base import QueueingPolicy
from lease_scheduler.policy.queueing.fifo import Fifo
from lease_scheduler.policy.relocation.base import RelocationPolicy
from lease_scheduler.policy.relocation.none import NoRelocation


@dataclass(frozen=True)
class PolicySet:
    """One policy of each family.

    A family that is left out has its default policy, without options. The order of the families is that of the options
    and of outcomes: policies that observe are told in this order.
    """

    admission: AdmissionPolicy = family("accept-all", AcceptAll, "which requests are planned at all")
    host_selection: HostSelectionPolicy = family("greedy", GreedySelection, "in which order hosts are filled")
    preemption: PreemptionPolicy = family("by-kind", ByKind, "which leases may be preempted for a request")
    mapper: MapperPolicy = family("greedy", GreedyMapper, "how the nodes of a lease are distributed over hosts")
    queueing: QueueingPolicy = family("fifo", Fifo, "in which order queued best-effort leases get places")
    duration: DurationPolicy = family(
        "requested",
        Requested,
        "for how long best-effort leases are expected to run, which may be shorter than requested",
    )
    pricing: PricingPolicy = family("free", Free, "what leases cost", "With free, leases have no prices.")
    penalty: PenaltyPolicy = family("none", NoPenalty, "what the provider owes for terms that were not kept")
    power: PowerPolicy = family("none", NoPower, "how many hosts sleep, and how many wake for leases that wait")
    assurance: AssurancePolicy = family(
        "none",
        NoAssurance,
        "for how long preemptible leases are promised to run",
        "With none, nothing is promised.",
    )
    relocation: RelocationPolicy = family(
        "none",
        NoRelocation,
        "which running leases move to other hosts although they could stay",
        "Only leases that are preemptible and have the preemption mode migrate are moved.",
    )
    fractional: FractionalPolicy = family(
        "none",
        NoFractional,
        "how fluid leases, which have a min_yield, share CPU",
        "With none, requests for such leases are refused; with dfrs, [policy] fractional_algorithm also decides "
        "where they run.",
    )

    @cached_property
    def in_order(self) -> tuple[Policy, ...]:
        """The policies in the order of the families."""
        return tuple(self.by_family().values())

    def by_family(self) -> dict[str, Policy]:
        """Return the policies by the names of their families, in the order of the families."""
        return {name: getattr(self, name) for name in FAMILIES}


#: The families by name, in the order in which they are declared.
FAMILIES: Mapping[str, Family] = families_of(PolicySet, "lease_scheduler.policy")


def default_names() -> dict[str, str]:
    """Return the name of the default policy of each family."""
    return {each.name: each.default for each in FAMILIES.values()}
