"""Configured enforcement filters, and their source of limits in Keystone."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from oslo_config import cfg

from lease_scheduler.cmd.configuration import PROJECT
from lease_scheduler.cmd.sessions import session_of
from lease_scheduler.conf import enforcement
from lease_scheduler.model.errors import EngineUnavailableError, InvalidValueError
from lease_scheduler.service.requests.enforcement.base import FilterOptions, UsageFilter
from lease_scheduler.service.requests.enforcement.loading import load_filters

LOG = logging.getLogger(__name__)

_GROUP = enforcement.GROUP.name


def filters(conf: cfg.ConfigOpts) -> list[UsageFilter]:
    """Return the enabled filters, in order.

    :raises InvalidValueError: a filter does not exist, or one of its options is wrong
    """
    values = {option.dest: conf[_GROUP][option.dest] for option in enforcement.OPTIONS}
    keystone = KeystoneLimits(conf) if values["limits_source"] == "keystone" else None
    return load_filters(
        values["enabled_filters"],
        FilterOptions(
            values,
            lambda: session_of(conf, _GROUP, "external_service_cafile"),
            None if keystone is None else keystone.of_project,
        ),
    )


class KeystoneLimits:
    """Limits of projects in Keystone, read by oslo.limit.

    :param conf: the configuration whose files contain the group ``oslo_limit``
    :raises InvalidValueError: the group has no credentials
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        # oslo.limit reads only the global configuration object.
        from oslo_limit import limit

        cfg.CONF(
            [],
            project=PROJECT,
            default_config_files=list(conf.config_file or ()),
            default_config_dirs=list(conf.config_dir or ()),
        )
        if not cfg.CONF.oslo_limit.auth_type and not cfg.CONF.oslo_limit.auth_section:
            raise InvalidValueError("oslo_limit.auth_type", "is needed with [enforcement] limits_source = keystone")
        self._make = limit.Enforcer
        self._lifetime: int = conf[_GROUP].limits_lifetime
        self._lock = Lock()
        self._enforcer: Any = None
        self._made = 0.0

    def of_project(self, project_id: str, names: Sequence[str]) -> Mapping[str, int]:
        """Return the limits of a project by name.

        :raises EngineUnavailableError: Keystone does not answer at present
        """
        with self._lock:
            try:
                if self._enforcer is None or time.monotonic() - self._made >= self._lifetime:
                    # An enforcer caches the limits that it has read forever, so it is replaced after the lifetime.
                    self._enforcer, self._made = self._make(lambda *_: {}), time.monotonic()
                return dict(self._enforcer.get_project_limits(project_id, list(names)))
            except Exception as error:
                self._enforcer = None
                LOG.warning("limits of project %s: %s", project_id, error)
                raise EngineUnavailableError("the limits of the project cannot be read from Keystone") from error
