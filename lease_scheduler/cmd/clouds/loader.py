"""Loading of the configured cloud."""

from __future__ import annotations

import logging

from oslo_config import cfg
from stevedore import DriverManager
from stevedore.exception import NoMatches

from lease_scheduler.cloud.configured import ConfiguredCloud
from lease_scheduler.model.errors import InvalidValueError

LOG = logging.getLogger(__name__)

NAMESPACE = "lease_scheduler.cloud"


def configured_cloud(conf: cfg.ConfigOpts) -> ConfiguredCloud:
    """Return the cloud that ``[service] cloud`` names.

    :raises InvalidValueError: the option is not set, no entry point has this name, or it is not a ``ConfiguredCloud``
    """
    name = conf.service.cloud
    if not name:
        # There is no default: with the option forgotten, tenants would be promised hosts that do not exist.
        raise InvalidValueError("service.cloud", "is needed: nova, or simulated for a service without real hosts")
    try:
        found: object = DriverManager(NAMESPACE, name).driver
    except NoMatches:
        raise InvalidValueError("service.cloud", f"there is no cloud driver {name!r}") from None
    if not (isinstance(found, type) and issubclass(found, ConfiguredCloud)):
        raise InvalidValueError(
            "service.cloud", f"the entry point {name!r} of {NAMESPACE} must be a subclass of {ConfiguredCloud.__name__}"
        )
    return found(conf)


def warn_of_simulation(conf: cfg.ConfigOpts) -> None:
    """Log which part of the configured cloud is simulated, if any is."""
    simulated = configured_cloud(conf).simulated
    if simulated is not None:
        LOG.warning("%s", simulated)
