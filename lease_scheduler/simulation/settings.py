"""The settings of a run, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.engine.power_options import PowerOptions
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.transfers.options import TransferOptions
from lease_scheduler.policy.policy_set import default_names


class StopWhen(Enum):
    """The condition that ends a run (haizea F91)."""

    ALL_LEASES_DONE = "all-leases-done"
    BEST_EFFORT_SUBMITTED = "besteffort-submitted"
    BEST_EFFORT_DONE = "besteffort-done"
    EXACT = "exact"


class FailureHandling(Enum):
    """The effect of a failed lease on the run (haizea F17)."""

    CANCEL = "cancel"
    EXIT = "exit"
    EXIT_RAISE = "exit-raise"


@dataclass(frozen=True)
class RunSettings:
    """The settings of a run.

    :ivar planning: options of the planner
    :ivar engine: options of the engine
    :ivar policies: name of a policy by family; a family that is left out has its default policy
    :ivar flow_weights: weights of flows, by name
    :ivar policy_options: options of the policies
    :ivar deadline_preemption: whether deadline leases may preempt each other (``[scheduling] deadline_placement``)
    :ivar transfers: how disk images get to hosts; None if all hosts have all images
    :ivar cloud: how the simulated cloud deviates from the plan
    :ivar stop_when: condition that ends the run
    :ivar stop_time: instant of the end with ``EXACT``
    :ivar check_invariants: whether to check the plan at every step (slow)
    :ivar probes: names of the probes that observe the run
    :ivar attributes: attributes that identify the run in its accounting, e.g. ``profile``
    :ivar failure_handling: effect of a failed lease on the run
    """

    planning: PlanningOptions = field(default_factory=PlanningOptions)
    engine: EngineOptions = field(default_factory=lambda: EngineOptions(power=PowerOptions(confirms=False)))
    policies: Mapping[str, str] = field(default_factory=default_names)
    flow_weights: Mapping[str, float] = field(default_factory=dict)
    policy_options: Mapping[str, str] = field(default_factory=dict)
    deadline_preemption: bool = True
    transfers: TransferOptions | None = None
    cloud: CloudBehaviour = field(default_factory=CloudBehaviour)
    stop_when: StopWhen = StopWhen.ALL_LEASES_DONE
    stop_time: int | None = None
    check_invariants: bool = False
    probes: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    failure_handling: FailureHandling = FailureHandling.CANCEL

    def with_policies(self, **names: str) -> RunSettings:
        """Return these settings with other policies of some families.

        :param names: name of a policy by family
        """
        return replace(self, policies={**self.policies, **names})
