"""Options of the engine, for the service and for the simulator."""

from __future__ import annotations

from oslo_config import cfg

from lease_scheduler.conf.values import operation_quantile
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.engine.power_options import PowerOptions
from lease_scheduler.engine.relocation_options import RelocationOptions


def engine_options(
    conf: cfg.ConfigOpts,
    *,
    explain_refusals: bool,
    preparation_time: int = 0,
    keeps_saved_work: bool = False,
    confirms_power: bool = True,
) -> EngineOptions:
    """Return the options of the engine.

    The parameters are options that are not in the configuration; see ``EngineOptions``.

    :param confirms_power: see ``PowerOptions.confirms``
    """
    group = conf.engine
    return EngineOptions(
        planning_lead=group.planning_lead,
        boot_attempts=group.boot_attempts,
        preparation_time=preparation_time,
        host_repair_time=group.host_repair_time,
        explain_refusals=explain_refusals,
        breach_tolerance=group.breach_tolerance,
        refund_share=conf.scheduling.refund_share,
        operation_quantile=operation_quantile(conf),
        power=_power_options(conf, confirms=confirms_power),
        keeps_saved_work=keeps_saved_work,
        relocation=RelocationOptions(
            interval=conf.scheduling.relocation_interval,
            budget=conf.scheduling.relocation_budget,
            rest=conf.scheduling.relocation_rest,
        ),
    )


def _power_options(conf: cfg.ConfigOpts, *, confirms: bool) -> PowerOptions:
    group = conf.power
    return PowerOptions(
        wake_time=group.wake_time,
        shutdown_time=group.shutdown_time,
        margin=group.wake_margin,
        sleep_horizon=group.sleep_horizon,
        minimum_on_time=group.minimum_on_time,
        spare_hosts=group.spare_hosts,
        interval=group.decision_interval,
        confirms=confirms,
    )
