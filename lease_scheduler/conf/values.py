"""From options to plain values; what does not go together is refused here."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg

from lease_scheduler.conf import policy
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.plan.options import (
    Estimate,
    Exclusion,
    Migration,
    PlanningOptions,
    PreemptAt,
    ShelvedSize,
    Suspension,
)
from lease_scheduler.plan.transfers.options import Mechanism, Reuse, TransferOptions


def planning_options(conf: cfg.ConfigOpts) -> PlanningOptions:
    """The options of the planner.

    :raises InvalidValueError: options that do not go together
    """
    group = conf.scheduling
    return PlanningOptions(
        backfilling_limit=_backfilling_limit(group.backfilling, group.backfilling_reservations),
        suspension=Suspension(group.suspension),
        suspend_rate=group.suspend_rate,
        resume_rate=group.resume_rate,
        exclusion=Exclusion(group.suspend_resume_exclusion),
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
        preemption_grace=group.preemption_grace,
        slack_threshold=group.slack_threshold,
        least_slack_first=group.least_slack_first,
    )


def transfer_options(conf: cfg.ConfigOpts) -> TransferOptions | None:
    """How disk images get to hosts, none if that is nobody's business."""
    group = conf.image_transfer
    if group.lease_preparation == "unmanaged":
        return None
    return TransferOptions(
        bandwidth=group.bandwidth,
        mechanism=Mechanism(group.transfer_mechanism),
        reuse=Reuse(group.diskimage_reuse),
        cache_size_mb=None if group.diskimage_cache_size < 0 else group.diskimage_cache_size,
        avoid_redundant=group.avoid_redundant_transfers,
        force_seconds=group.force_imagetransfer_time,
        keep_replanned=group.keep_replanned,
        copy_on_write=group.copy_on_write,
        required=group.required,
        host_cache_age=group.host_cache_age,
    )


def _backfilling_limit(backfilling: str, reservations: int | None) -> int | None:
    if backfilling == "intermediate" and reservations is None:
        raise InvalidValueError("scheduling.backfilling_reservations", "is needed with backfilling = intermediate")
    if backfilling != "intermediate" and reservations is not None:
        raise InvalidValueError(
            "scheduling.backfilling_reservations", f"has no meaning with backfilling = {backfilling}; remove it"
        )
    return {"off": 0, "aggressive": 1, "intermediate": reservations, "conservative": None}[backfilling]


def policy_options(conf: cfg.ConfigOpts) -> dict[str, str]:
    """The options of all policies as text."""
    values: dict[str, Any] = {
        option.name: conf.policy[option.name] for option in policy.OPTIONS if option.name != "extra"
    }
    return {**{name: str(value) for name, value in values.items()}, **conf.policy.extra}
