"""All options, for the sample generator and for whoever reads them."""

from __future__ import annotations

from oslo_config import cfg

from lease_scheduler.conf import (
    accounting,
    api,
    blazar,
    enforcement,
    engine,
    haizea,
    image_transfer,
    metrics,
    nova,
    policy,
    scheduling,
    service,
    simulated_cloud,
    simulation,
)

_MODULES = (
    service,
    api,
    scheduling,
    policy,
    enforcement,
    engine,
    metrics,
    nova,
    blazar,
    simulated_cloud,
    simulation,
    image_transfer,
    haizea,
    accounting,
)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Groups and their options, as ``register`` makes them known."""
    return [(module.GROUP, module.OPTIONS) for module in _MODULES]


def sample_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Groups and options, in the form that oslo-config-generator wants, with those that libraries register later."""
    later = {module.GROUP.name: module.PLUGIN_OPTIONS for module in (nova, haizea)}
    return [(group, [*options, *later.get(group.name, [])]) for group, options in list_opts()]


def register(conf: cfg.ConfigOpts) -> None:
    """Make all options known to a configuration object."""
    for group, options in list_opts():
        # A group object keeps what is registered with it, overrides included; each configuration needs its own.
        conf.register_group(cfg.OptGroup(group.name, title=group.title))
        conf.register_opts(options, group=group.name)
