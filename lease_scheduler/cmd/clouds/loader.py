"""Loads the cloud that the configuration names."""

from __future__ import annotations

from oslo_config import cfg
from stevedore import DriverManager
from stevedore.exception import NoMatches

from lease_scheduler.cloud.configured import ConfiguredCloud
from lease_scheduler.model.errors import InvalidValueError

NAMESPACE = "lease_scheduler.cloud"


def configured_cloud(conf: cfg.ConfigOpts) -> ConfiguredCloud:
    """Return the cloud that ``[service] cloud`` names.

    :raises InvalidValueError: no entry point has this name, or it is not a ``ConfiguredCloud``
    """
    name = conf.service.cloud
    try:
        found: object = DriverManager(NAMESPACE, name).driver
    except NoMatches:
        raise InvalidValueError("service.cloud", f"there is no cloud driver {name!r}") from None
    if not (isinstance(found, type) and issubclass(found, ConfiguredCloud)):
        raise InvalidValueError(
            "service.cloud", f"the entry point {name!r} of {NAMESPACE} must be a subclass of {ConfiguredCloud.__name__}"
        )
    return found(conf)
