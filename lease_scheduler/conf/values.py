"""Conversion of options into plain values, and refusal of combinations that make no sense."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from oslo_config import cfg

from lease_scheduler.conf import policy
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.power import Watts
from lease_scheduler.model.weights import checked_weight
from lease_scheduler.plan.options import (
    Estimate,
    Exclusion,
    Migration,
    PlanningOptions,
    PreemptAt,
    RoomLead,
    ShelvedSize,
    Suspension,
)
from lease_scheduler.plan.transfers.options import Mechanism, Reuse, TransferOptions
from lease_scheduler.policy.policy_set import FAMILIES


def planning_options(conf: cfg.ConfigOpts) -> PlanningOptions:
    """Return the options of the planner.

    :raises InvalidValueError: options contradict each other
    """
    group = conf.scheduling
    return PlanningOptions(
        backfilling_limit=_backfilling_limit(group.backfilling, group.backfilling_reservations),
        suspension=Suspension(group.suspension),
        planned_suspension=None if group.planned_suspension is None else Suspension(group.planned_suspension),
        suspend_rate=group.suspend_rate,
        resume_rate=group.resume_rate,
        exclusion=Exclusion(group.suspend_resume_exclusion),
        shelve_rate=group.shelve_rate,
        unshelve_rate=group.unshelve_rate,
        shelve_exclusion=None if group.shelve_exclusion is None else Exclusion(group.shelve_exclusion),
        override_suspend_time=group.override_suspend_time,
        override_resume_time=group.override_resume_time,
        stop_time=group.stop_time,
        shelved_size=ShelvedSize(group.shelved_size),
        suspend_estimate=Estimate(group.suspend_estimate),
        suspend_buffer=group.suspend_buffer,
        enactment_overhead=group.enactment_overhead,
        shutdown_time=group.shutdown_time,
        scheduling_threshold_factor=group.scheduling_threshold_factor,
        force_scheduling_threshold=group.force_scheduling_threshold,
        migration=Migration(group.migration),
        migration_bandwidth=group.migration_bandwidth,
        migrate_disks=conf.image_transfer.lease_preparation != "unmanaged" and conf.image_transfer.migrate_disks,
        preempt_at=PreemptAt(group.preempt_at),
        room_lead=RoomLead.LOSE if group.room_lead is None else RoomLead(group.room_lead),
        preemption_grace=group.preemption_grace,
        slack_threshold=group.slack_threshold,
        least_slack_first=group.least_slack_first,
    )


def live_planning_options(conf: cfg.ConfigOpts) -> PlanningOptions:
    """Return the options of the planner of a real site.

    :raises InvalidValueError: as in ``planning_options``, or an option is for simulations only
    """
    options = planning_options(conf)
    if options.room_lead is RoomLead.CHARGE:
        raise InvalidValueError("scheduling.room_lead", "charge is for simulations; take strict or lose")
    return options if conf.scheduling.room_lead is not None else replace(options, room_lead=RoomLead.STRICT)


def operation_quantile(conf: cfg.ConfigOpts) -> float | None:
    """Return the share of operations that must finish in time, or None if buffers are fixed."""
    group = conf.scheduling
    return float(group.operation_buffer_quantile) if group.operation_buffer == "observed" else None


def transfer_options(conf: cfg.ConfigOpts) -> TransferOptions | None:
    """Return the options of image transfers, or None if transfers are not planned."""
    group = conf.image_transfer
    if group.lease_preparation == "unmanaged":
        return None
    return TransferOptions(
        bandwidth=group.bandwidth,
        mechanism=Mechanism.MULTICAST if group.transfer_mechanism is None else Mechanism(group.transfer_mechanism),
        reuse=Reuse(group.diskimage_reuse),
        cache_size_mb=None if group.diskimage_cache_size < 0 else group.diskimage_cache_size,
        avoid_redundant=group.avoid_redundant_transfers,
        force_seconds=group.force_imagetransfer_time,
        keep_replanned=group.keep_replanned,
        copy_on_write=group.copy_on_write,
        required=group.required,
        host_cache_age=group.host_cache_age,
    )


#: Options of group ``image_transfer`` that only simulations use, with their defaults. On a real site, boots fetch
#: missing images, and each host decides itself which images it keeps.
_IN_SIMULATIONS = {
    "diskimage_reuse": "none",
    "diskimage_cache_size": -1,
    "avoid_redundant_transfers": True,
    "keep_replanned": True,
    "copy_on_write": False,
}


def ahead_options(conf: cfg.ConfigOpts) -> TransferOptions | None:
    """Return the options of image transfers ahead of boots in the service, or None if there are none.

    :raises InvalidValueError: an option is for simulations only
    """
    options = transfer_options(conf)
    if options is None:
        return None
    group = conf.image_transfer
    for name, default in _IN_SIMULATIONS.items():
        if group[name] != default:
            raise InvalidValueError(f"image_transfer.{name}", "is for simulations; leave it out of the service's file")
    # Each host fetches an image by itself, so hosts count one after the other, unless the operator has set multicast,
    # because the image store serves many hosts as fast as one.
    mechanism = Mechanism.UNICAST if group.transfer_mechanism is None else options.mechanism
    return replace(options, required=False, mechanism=mechanism)


def _backfilling_limit(backfilling: str, reservations: int | None) -> int | None:
    if backfilling == "intermediate" and reservations is None:
        raise InvalidValueError("scheduling.backfilling_reservations", "is needed with backfilling = intermediate")
    if backfilling != "intermediate" and reservations is not None:
        raise InvalidValueError(
            "scheduling.backfilling_reservations", f"has no meaning with backfilling = {backfilling}; remove it"
        )
    return {"off": 0, "aggressive": 1, "intermediate": reservations, "conservative": None}[backfilling]


def watts(conf: cfg.ConfigOpts) -> Watts:
    """Return the default watts of hosts.

    :raises InvalidValueError: a host would take more asleep than awake
    """
    group = conf.power
    if group.watts_asleep > group.watts_awake:
        raise InvalidValueError("power.watts_asleep", f"must be at most watts_awake, which is {group.watts_awake:g}")
    return Watts(group.watts_awake, group.watts_asleep)


def flow_weights(conf: cfg.ConfigOpts) -> dict[str, float]:
    """Return the configured weights of flows.

    :raises InvalidValueError: a weight is not a number from ``LEAST_WEIGHT`` to ``MOST_WEIGHT``
    """
    found = {}
    for name, text in conf.scheduling.flow_weights.items():
        found[name] = checked_weight(f"scheduling.flow_weights: {name}", text)
    return found


def policy_names(conf: cfg.ConfigOpts) -> dict[str, str]:
    """Return the name of the selected policy, by family."""
    return {family.name: conf.scheduling[family.option] for family in FAMILIES.values()}


def policy_options(conf: cfg.ConfigOpts) -> dict[str, str]:
    """Return the options of all policies as text."""
    values: dict[str, Any] = {
        option.name: conf.policy[option.name] for option in policy.OPTIONS if option.name != "extra"
    }
    return {**{name: str(value) for name, value in values.items()}, **conf.policy.extra}
