"""The simulator's options as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, cast

from oslo_config import cfg

from lease_scheduler.cloud.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.cmd.engine_options import engine_options
from lease_scheduler.conf import opts
from lease_scheduler.conf.unknown import all_names, files_of, refuse_unknown_options
from lease_scheduler.conf.values import planning_options, policy_options, transfer_options
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.overheads import OverheadOptions
from lease_scheduler.simulation.settings import FailureHandling, RunSettings, StopWhen


def load_configuration(config_files: Iterable[Path], overrides: Mapping[str, str]) -> cfg.ConfigOpts:
    """Return the configuration of a run.

    :param config_files: files in oslo.config's format; later ones take precedence
    :param overrides: ``group.option`` -> text; these take precedence over files
    :raises InvalidValueError: naming the option that is unknown or has a bad value
    """
    conf = cfg.ConfigOpts()
    opts.register(conf)
    try:
        conf(args=[], project="lease-scheduler", default_config_files=[str(path) for path in config_files])
    except cfg.Error as error:
        raise InvalidValueError("--config-file", str(error)) from error
    refuse_unknown_options(files_of(conf))
    for name, text in overrides.items():
        override(conf, name, text)
    _check_values(conf)
    return conf


def override(conf: cfg.ConfigOpts, name: str, text: str) -> None:
    """Set one option.

    :param name: ``group.option``, where the option may have its deprecated name
    :param text: the value, as in a configuration file
    :raises InvalidValueError: the option does not exist, or the text is not a valid value for it
    """
    group, _, option = name.partition(".")
    known = {group.name: options for group, options in opts.list_opts()}
    declared = next((o for o in known.get(group, ()) if option in all_names(o)), None)
    if declared is None:
        close = sorted(f"{g}.{o.dest}" for g, os in known.items() for o in os if o.dest == option or g == group)
        raise InvalidValueError(name, f"there is no such option; known are {', '.join(close or sorted(known))}")
    try:
        value = declared.type(text)
        if isinstance(declared, cfg.MultiOpt):
            value = [*conf[group][declared.dest], value]
        conf.set_override(declared.dest, value, group=group)
    except ValueError as error:
        raise InvalidValueError(name, str(error)) from error


def _check_values(conf: cfg.ConfigOpts) -> None:
    """Read every option once, so that a bad value in a file is refused at start."""
    for group, options in opts.list_opts():
        for option in options:
            try:
                conf[group.name][option.dest]
            except (cfg.Error, ValueError) as error:
                raise InvalidValueError(f"{group.name}.{option.name}", str(error)) from error


def run_settings(conf: cfg.ConfigOpts) -> RunSettings:
    """Return the settings of a run.

    :raises InvalidValueError: options contradict each other
    """
    group = conf.simulation
    stop_when = StopWhen(group.stop_when)
    if (stop_when is StopWhen.EXACT) != (group.stop_when_time is not None):
        raise InvalidValueError("simulation.stop_when_time", "goes with simulation.stop_when = exact, and only with it")
    return RunSettings(
        planning=planning_options(conf),
        engine=engine_options(conf, explain_refusals=conf.engine.explain_refusals),
        admission=conf.scheduling.policy_admission,
        preemption=conf.scheduling.policy_preemption,
        host_selection=conf.scheduling.policy_host_selection,
        mapper=conf.scheduling.policy_mapper,
        pricing=conf.scheduling.policy_pricing,
        penalty=conf.scheduling.policy_penalty,
        policy_options=policy_options(conf),
        deadline_preemption=conf.scheduling.deadline_placement == "deadline",
        transfers=transfer_options(conf),
        cloud=CloudBehaviour(
            boot_time=group.boot_time,
            image_bandwidth=group.image_bandwidth,
            suspend_factor=group.suspend_factor,
            resume_factor=group.resume_factor,
            stop_factor=group.stop_factor,
            transfer_factor=group.transfer_factor,
            spread=group.operation_spread,
            image_transfer_factor=group.image_transfer_factor,
            image_transfer_failure_probability=group.image_transfer_failures,
            boot_failure_probability=group.boot_failures,
            resume_failure_probability=group.resume_failures,
            host_failures=tuple(_host_failure(text) for text in group.host_failure),
            seed=group.seed,
        ),
        stop_when=stop_when,
        stop_time=group.stop_when_time,
        check_invariants=group.check_invariants,
        probes=tuple(conf.accounting.probes) + (("disk-usage",) if group.probe_disk_usage else ()),
        attributes=dict(conf.accounting.attributes),
        failure_handling=FailureHandling(group.failure_handling),
    )


def _host_failure(text: str) -> HostFailure:
    parts = text.split(":")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts) or int(parts[0]) < 1 or int(parts[2]) < 1:
        raise InvalidValueError("simulation.host_failure", f"must be <host>:<second>:<seconds>, not {text!r}")
    return HostFailure(int(parts[0]) - 1, int(parts[1]), int(parts[2]))


def overhead_options(conf: cfg.ConfigOpts) -> OverheadOptions:
    """Return the options for the overheads of virtual machines."""
    group = conf.simulation
    return OverheadOptions(
        runtime_slowdown_percent=group.runtime_slowdown_percent,
        boot_shutdown_s=group.boot_shutdown_overhead,
        applies_to=cast(Literal["none", "besteffort", "all"], group.add_overhead),
        slowdown_mode=cast(Literal["requested-and-actual", "legacy"], group.slowdown_mode),
        override_memory_mb=None if group.override_memory < 1 else group.override_memory,
    )
