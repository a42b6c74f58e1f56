"""The configured meter, and the options of idle leases."""

from __future__ import annotations

from typing import Any, cast

from oslo_config import cfg
from stevedore import DriverManager, ExtensionManager
from stevedore.exception import NoMatches

from lease_scheduler.cloud.capabilities import is_absent
from lease_scheduler.cloud.meters.base import Meter, MeterOptions, ServerSource
from lease_scheduler.conf import idle
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.service.upkeep.idle.deciding import IdleOptions

NAMESPACE = "lease_scheduler.meter"

#: Value of the option that selects no meter.
_NONE = "none"


def meter(conf: cfg.ConfigOpts, cloud: ServerSource) -> Meter | None:
    """Return the meter, or None if nothing is measured.

    :raises InvalidValueError: there is no such meter, or one of its options is wrong
    """
    group = idle.GROUP.name
    name = conf[group].meter
    if name == _NONE:
        return None
    if is_absent(cloud):
        raise InvalidValueError(
            f"{group}.meter", "the driver of this cloud does not tell what servers use (capability usage); set none"
        )
    values = {option.dest: conf[group][option.dest] for option in idle.OPTIONS}
    try:
        options = MeterOptions(values, cloud)
        found: Any = DriverManager(NAMESPACE, name, invoke_on_load=True, invoke_args=(options,)).driver
    except NoMatches:
        known = ", ".join([_NONE, *sorted(ExtensionManager(NAMESPACE, invoke_on_load=False).names())])
        raise InvalidValueError(f"{group}.meter", f"there is no meter {name!r}; installed are: {known}") from None
    return cast(Meter, found)


def idle_options(conf: cfg.ConfigOpts) -> IdleOptions:
    """Return the options of idle leases, such as when their projects are told and when they are ended."""
    group = conf[idle.GROUP.name]
    return IdleOptions(
        interval=group.interval,
        notify_after=group.notify_after,
        end_after=group.end_after,
        settling_time=group.settling_time,
        exempt=frozenset(group.exempt_project_ids),
    )
