"""Options of the simulator."""

from __future__ import annotations

from typing import Literal, cast

from oslo_config import cfg

from lease_scheduler.cmd.options.behaviour import simulator_behaviour
from lease_scheduler.cmd.options.engine import engine_options
from lease_scheduler.conf.values import flow_weights, planning_options, policy_names, policy_options, transfer_options
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.overheads import OverheadOptions
from lease_scheduler.simulation.settings import FailureHandling, RunSettings, StopWhen


def run_settings(conf: cfg.ConfigOpts) -> RunSettings:
    """Return the settings of a run.

    :raises InvalidValueError: options contradict each other
    """
    group = conf.simulation
    if conf.pools.names:
        raise InvalidValueError("pools.names", "is for the service; a simulated site has one pool, so leave it out")
    stop_when = StopWhen(group.stop_when)
    if (stop_when is StopWhen.EXACT) != (group.stop_when_time is not None):
        raise InvalidValueError("simulation.stop_when_time", "goes with simulation.stop_when = exact, and only with it")
    return RunSettings(
        planning=planning_options(conf),
        # Simulated hosts report no power states, and are always in time.
        engine=engine_options(conf, explain_refusals=conf.engine.explain_refusals, confirms_power=False),
        policies=policy_names(conf),
        flow_weights=flow_weights(conf),
        policy_options=policy_options(conf),
        deadline_preemption=conf.scheduling.deadline_placement == "deadline",
        transfers=transfer_options(conf),
        cloud=simulator_behaviour(conf),
        stop_when=stop_when,
        stop_time=group.stop_when_time,
        check_invariants=group.check_invariants,
        probes=tuple(conf.accounting.probes) + (("disk-usage",) if group.probe_disk_usage else ()),
        attributes=dict(conf.accounting.attributes),
        failure_handling=FailureHandling(group.failure_handling),
    )


def overhead_options(conf: cfg.ConfigOpts) -> OverheadOptions:
    """Return the options of the overheads of servers."""
    group = conf.simulation
    return OverheadOptions(
        runtime_slowdown_percent=group.runtime_slowdown_percent,
        boot_shutdown_s=group.boot_shutdown_overhead,
        applies_to=cast(Literal["none", "besteffort", "all"], group.add_overhead),
        slowdown_mode=cast(Literal["requested-and-actual", "legacy"], group.slowdown_mode),
        override_memory_mb=None if group.override_memory < 1 else group.override_memory,
    )
