"""All options, for programs and for the generator of the sample configuration."""

from __future__ import annotations

from oslo_config import cfg

from lease_scheduler.conf import (
    accounting,
    agent,
    api,
    approval,
    blazar,
    enforcement,
    engine,
    gateway,
    haizea,
    idle,
    image_transfer,
    metrics,
    needs,
    nova,
    page,
    policy,
    pools,
    power,
    scheduling,
    service,
    simulated_cloud,
    simulation,
    tenant_notifications,
)

_MODULES = (
    service,
    api,
    page,
    scheduling,
    policy,
    pools,
    enforcement,
    approval,
    engine,
    idle,
    power,
    tenant_notifications,
    metrics,
    nova,
    blazar,
    simulated_cloud,
    simulation,
    image_transfer,
    haizea,
    accounting,
    agent,
    needs,
    gateway,
)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return the groups and their options, without those of pools and members."""
    return [(module.GROUP, module.OPTIONS) for module in _MODULES]


def sample_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return the groups and options for oslo-config-generator, including those that libraries register."""
    later = {module.GROUP.name: module.PLUGIN_OPTIONS for module in (nova, haizea)}
    found: list[tuple[cfg.OptGroup, list[cfg.Opt]]] = []
    for group, options in list_opts():
        found.append((group, [*options, *later.get(group.name, [])]))
        if group is pools.GROUP:
            found.append(pools.sample())
        if group is gateway.GROUP:
            found.append(gateway.sample())
    return found


def all_opts(conf: cfg.ConfigOpts) -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return the groups and their options, including those of the pools and members that a configuration names."""
    return [*list_opts(), *_named_groups(conf)]


def register(conf: cfg.ConfigOpts) -> None:
    """Register all options with a configuration object, except those of pools and members, whose names come later."""
    _register(conf, list_opts())


def register_named(conf: cfg.ConfigOpts) -> None:
    """Register the options of the configured pools, and of the members of a gateway, after the files have been read.

    :raises ValueError: a name of a pool, or the members, are not valid
    """
    _register(conf, _named_groups(conf))


def _named_groups(conf: cfg.ConfigOpts) -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    return [*pools.groups_of(dict.fromkeys(conf.pools.names)), *gateway.groups_of(conf.gateway.members)]


def _register(conf: cfg.ConfigOpts, groups: list[tuple[cfg.OptGroup, list[cfg.Opt]]]) -> None:
    for group, options in groups:
        # A group object keeps its options and their overrides, so each configuration needs a group object of its own.
        conf.register_group(cfg.OptGroup(group.name, title=group.title))
        conf.register_opts(options, group=group.name)
