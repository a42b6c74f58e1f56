"""The settings of a run, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from lease_scheduler.cloud.behaviour import CloudBehaviour
from lease_scheduler.engine.power_options import PowerOptions
from lease_scheduler.engine.state import EngineOptions
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.transfers.options import TransferOptions


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
    :ivar admission: name of the admission policy
    :ivar preemption: name of the preemption policy
    :ivar host_selection: name of the host selection policy
    :ivar mapper: name of the mapper
    :ivar queueing: name of the queueing policy
    :ivar duration: name of the duration policy
    :ivar assurance: name of the assurance policy
    :ivar pricing: name of the pricing policy
    :ivar penalty: name of the penalty policy
    :ivar flow_weights: weights of flows, by name
    :ivar power: name of the power policy
    :ivar relocation: name of the relocation policy
    :ivar fractional: name of the fractional policy
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
    admission: str = "accept-all"
    preemption: str = "by-kind"
    host_selection: str = "greedy"
    mapper: str = "greedy"
    queueing: str = "fifo"
    duration: str = "requested"
    assurance: str = "none"
    pricing: str = "free"
    penalty: str = "none"
    flow_weights: Mapping[str, float] = field(default_factory=dict)
    power: str = "none"
    relocation: str = "none"
    fractional: str = "none"
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
