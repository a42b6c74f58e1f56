"""Options of pools: those that a pool sets itself, and those of the site for all others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from oslo_config import cfg

from lease_scheduler.conf.pools import OVERRIDDEN, PREFIX
from lease_scheduler.conf.values import live_planning_options
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.pools import PoolRule

#: Option -> other option on which its meaning depends. A pool that sets the other one does not inherit the first.
_BELONGS_TO = {"backfilling_reservations": "backfilling"}


def pool_rules(conf: cfg.ConfigOpts) -> tuple[PoolRule, ...]:
    """Return, for each pool, which projects may use it, in the configured order; empty if the site is not divided."""
    return tuple(
        PoolRule(
            name,
            frozenset(conf[PREFIX + name].projects),
            # The API compares roles without regard to case.
            frozenset(role.lower() for role in conf[PREFIX + name].roles),
        )
        for name in conf.pools.names
    )


def host_patterns(conf: cfg.ConfigOpts, pool: str) -> tuple[str, ...]:
    """Return the patterns of the names of hosts that join a pool."""
    return tuple(conf[PREFIX + pool].hosts)


def conf_of_pool(conf: cfg.ConfigOpts, pool: str) -> cfg.ConfigOpts:
    """Return the configuration of a pool. It always has the present values, even after files were reloaded."""
    return cast(cfg.ConfigOpts, _ConfOfPool(conf, PREFIX + pool))


@contextmanager
def naming(pool: str) -> Iterator[None]:
    """Add the name of the pool to errors about options within the block.

    :raises InvalidValueError: the error of the block, with the name
    """
    try:
        yield
    except InvalidValueError as error:
        raise InvalidValueError(f"pool {pool}: {error.field}", error.problem) from error


def check_pools(conf: cfg.ConfigOpts) -> None:
    """Refuse pools whose options contradict each other.

    :raises InvalidValueError: the error names pool and option
    """
    names = conf.pools.names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidValueError("pools.names", f"{twice[0]} is there twice")
    for pool in names:
        with naming(pool):
            live_planning_options(conf_of_pool(conf, pool))


class _ConfOfPool:
    """A configuration in which the options of a pool override those of some groups."""

    def __init__(self, conf: cfg.ConfigOpts, group: str) -> None:
        self._conf = conf
        self._group = group

    def __getitem__(self, name: str) -> Any:
        if name in OVERRIDDEN:
            return _Overridden(self._conf[name], self._conf[self._group])
        return self._conf[name]

    def __getattr__(self, name: str) -> Any:
        return self[name] if name in OVERRIDDEN else getattr(self._conf, name)


class _Overridden:
    """A group with the options that a pool sets, and those of the site for all others."""

    def __init__(self, site: Any, pool: Any) -> None:
        self._site = site
        self._pool = pool

    def __getitem__(self, name: str) -> Any:
        own = self._pool[name]
        other = _BELONGS_TO.get(name)
        if own is not None or (other is not None and self._pool[other] is not None):
            return own
        return self._site[name]

    def __getattr__(self, name: str) -> Any:
        return self[name]
