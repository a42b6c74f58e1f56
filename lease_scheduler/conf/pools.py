"""Group ``pools``: the pools of hosts of a site. Each pool also has a group of its own, ``pool:<name>``."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy

from oslo_config import cfg, types

from lease_scheduler.conf import policy, scheduling

GROUP = cfg.OptGroup("pools", title="Pools of hosts with their own policies")

#: Regular expression that names of pools match.
NAME = "[a-z0-9][a-z0-9_-]{0,63}"

#: Prefix of the name of a pool's own group.
PREFIX = "pool:"

OPTIONS: list[cfg.Opt] = [
    cfg.ListOpt(
        "names",
        default=[],
        item_type=types.String(regex=f"^{NAME}$"),
        help="Names of the pools, in the order in which a request that names none is tried in them. Every host is in "
        "exactly one pool, and every lease has all its hosts in one pool. Hosts, addresses and leases for which "
        "nothing else is said are in the first. With an empty list, the site has one pool without a name.",
    ),
]

#: Groups whose options each pool may override: name of the group -> options.
OVERRIDDEN = {scheduling.GROUP.name: scheduling.OPTIONS, policy.GROUP.name: policy.OPTIONS}

_OWN: list[cfg.Opt] = [
    cfg.ListOpt(
        "hosts",
        default=[],
        help="Patterns of the names of hosts that join this pool when they are added to the site without naming a "
        "pool, such as gpu-*. The first pool with a pattern that matches gets the host. They change nothing for hosts "
        "that are in a pool already.",
    ),
    cfg.ListOpt(
        "projects",
        default=[],
        mutable=True,
        help="Ids of the projects that may use this pool. With neither projects nor roles, all projects may.",
    ),
    cfg.ListOpt(
        "roles",
        default=[],
        mutable=True,
        help="Roles in Keystone whose holders may use this pool for their projects, such as gpu-user.",
    ),
]


def options_of_pool() -> list[cfg.Opt]:
    """Return the options of a pool's group: its own, and those of ``scheduling`` and ``policy`` without defaults."""
    return [*_OWN, *(_unset(option) for options in OVERRIDDEN.values() for option in options)]


def _unset(option: cfg.Opt) -> cfg.Opt:
    """Return a copy of an option that has no value unless it is set."""
    copied = copy(option)
    copied.default, copied.deprecated_opts = None, []
    return copied


def groups_of(names: Iterable[str]) -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return the groups of pools and their options.

    :param names: names of the pools
    """
    return [(cfg.OptGroup(PREFIX + name, title=f"Pool {name}"), options_of_pool()) for name in names]


def sample() -> tuple[cfg.OptGroup, list[cfg.Opt]]:
    """Return an example of the group of a pool, for the sample configuration."""
    group = cfg.OptGroup(
        f"{PREFIX}example",
        title="One pool",
        help="Pool example, if [pools] names has it. It may also set any option of [scheduling] and [policy], such as "
        "policy_preemption or pricing_rate. Options that it does not set are those of the site.",
    )
    return group, _OWN
