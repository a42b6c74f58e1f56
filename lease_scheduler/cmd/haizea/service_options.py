"""Translation of a haizea.conf into the service's options for an interactive simulation (haizea F19, F93)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oslo_config import cfg

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.options.loading import override
from lease_scheduler.haizea.configuration.haizea_conf import InteractiveConf

_BOUNDS = ("max_duration", "max_lead_time", "max_held_offers", "max_unaccepted_time")


def service_configuration(haizea: InteractiveConf, database: Path, api_port: int) -> cfg.ConfigOpts:
    """Return the service's options for a haizea.conf.

    :param database: file of the database; the simulated cloud is stored beside it
    :raises InvalidValueError: the file asks for something that the service does not support
    """
    state = database.with_name(f"{database.name}.d")
    defaults: dict[tuple[str, str], Any] = {
        ("api", "auth_strategy"): "noauth",
        ("api", "port"): api_port,
        ("service", "cloud"): "simulated",
        ("service", "state_path"): str(state),
        ("database", "connection"): f"sqlite:///{database}",
        # Hosts come from the site that the file describes; they may differ from each other.
        ("simulated_cloud", "hosts"): 0,
        ("engine", "reconcile_interval"): float(max(1, haizea.wakeup_interval)),
        ("engine", "planning_lead"): haizea.non_schedulable_interval,
        # Haizea's leases may have no end, and the site has only one user.
        **{("enforcement", name): -1 for name in _BOUNDS},
    }
    # The configuration files of a service on this machine must not affect the simulation.
    conf = configuration.load([], defaults, program="haizea", find_files=False)
    for name, text in haizea.overrides.items():
        override(conf, name, text)
    configuration.check(conf)
    return conf
