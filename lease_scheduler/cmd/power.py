"""The configured power driver, and how often it is asked."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from keystoneauth1.session import Session
from oslo_config import cfg
from stevedore import DriverManager, ExtensionManager
from stevedore.exception import NoMatches

from lease_scheduler.cloud.power.base import PowerDriver, PowerDriverOptions
from lease_scheduler.cloud.power.keeper import PowerTimes
from lease_scheduler.cmd.sessions import session_of
from lease_scheduler.conf import power
from lease_scheduler.model.errors import InvalidValueError

NAMESPACE = "lease_scheduler.power"


def power_driver(conf: cfg.ConfigOpts) -> PowerDriver:
    """Return the power driver. It makes no connection before it is asked.

    :raises InvalidValueError: there is no such driver, or one of its options is wrong
    """
    group = power.GROUP.name
    name = conf[group].driver
    values = {option.dest: conf[group][option.dest] for option in power.OPTIONS}
    options = PowerDriverOptions(values, partial(_session, conf))
    try:
        found: Any = DriverManager(NAMESPACE, name, invoke_on_load=True, invoke_args=(options,)).driver
    except NoMatches:
        known = ", ".join(sorted(ExtensionManager(NAMESPACE, invoke_on_load=False).names()))
        raise InvalidValueError(f"{group}.driver", f"there is no driver {name!r}; installed are: {known}") from None
    return cast(PowerDriver, found)


def _session(conf: cfg.ConfigOpts) -> Session:
    """Return a session with the credentials of the group.

    :raises InvalidValueError: there are no credentials, or they are incomplete
    """
    group = power.GROUP.name
    found = session_of(conf, group, "ironic_cafile", conf[group].driver_timeout)
    if found.auth is None:
        raise InvalidValueError(
            f"{group}.auth_type", f"is needed with driver = {conf[group].driver}; or auth_section = nova"
        )
    return found


def power_times(conf: cfg.ConfigOpts) -> PowerTimes:
    """Return the intervals and time limits of checks of hosts that wake or fall asleep."""
    group = conf[power.GROUP.name]
    return PowerTimes(interval=group.poll_interval, patience=group.sleep_timeout, shutdown=1.5 * group.shutdown_time)
