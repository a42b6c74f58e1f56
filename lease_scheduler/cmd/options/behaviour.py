"""Configured behaviour of simulated clouds, for the service and for the simulator."""

from __future__ import annotations

from oslo_config import cfg

from lease_scheduler.engine.behaviour import CloudBehaviour, HostFailure
from lease_scheduler.model.errors import InvalidValueError


def service_behaviour(conf: cfg.ConfigOpts) -> CloudBehaviour:
    """Return the behaviour of the service's simulated cloud, from group ``simulated_cloud``."""
    group = conf.simulated_cloud
    return CloudBehaviour(
        boot_time=group.boot_time,
        image_bandwidth=group.image_bandwidth,
        suspend_factor=group.late_factor,
        resume_factor=group.late_factor,
        spread=group.spread,
        boot_failure_probability=group.failure_probability,
    )


def simulator_behaviour(conf: cfg.ConfigOpts) -> CloudBehaviour:
    """Return the behaviour of the cloud in a run of the simulator, from group ``simulation``.

    :raises InvalidValueError: a host failure has the wrong format
    """
    group = conf.simulation
    return CloudBehaviour(
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
    )


def _host_failure(text: str) -> HostFailure:
    parts = text.split(":")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts) or int(parts[0]) < 1 or int(parts[2]) < 1:
        raise InvalidValueError("simulation.host_failure", f"must be <host>:<second>:<seconds>, not {text!r}")
    return HostFailure(int(parts[0]) - 1, int(parts[1]), int(parts[2]))
