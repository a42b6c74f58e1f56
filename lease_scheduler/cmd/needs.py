"""The configured source of needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from oslo_config import cfg
from stevedore import DriverManager, ExtensionManager
from stevedore.exception import NoMatches

from lease_scheduler.cloud.needs.base import AgentTimes, NeedsOptions, NeedsSource
from lease_scheduler.conf import needs
from lease_scheduler.model.errors import InvalidValueError

NAMESPACE = "lease_scheduler.needs"

#: Value of the option that selects no source: leases need what they declare.
_DECLARED = "declared"


def needs_source(conf: cfg.ConfigOpts, shares: AgentTimes, adapter: Callable[[str], Any]) -> NeedsSource | None:
    """Return the source of needs, or None if leases need what they declare.

    :param adapter: see ``NeedsOptions``
    :raises InvalidValueError: there is no such source, or one of its options is wrong
    """
    group = needs.GROUP.name
    name = conf[group].source
    if name == _DECLARED:
        return None
    if name == "agent" and conf.agent.secret is None:
        raise InvalidValueError(f"{group}.source", "agent needs agents on compute hosts: set [agent] secret")
    values = {option.dest: conf[group][option.dest] for option in needs.OPTIONS}
    try:
        options = NeedsOptions(values, shares, adapter)
        found: Any = DriverManager(NAMESPACE, name, invoke_on_load=True, invoke_args=(options,)).driver
    except NoMatches:
        known = ", ".join([_DECLARED, *sorted(ExtensionManager(NAMESPACE, invoke_on_load=False).names())])
        raise InvalidValueError(f"{group}.source", f"there is no source {name!r}; installed are: {known}") from None
    return cast(NeedsSource, found)
