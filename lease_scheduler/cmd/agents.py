"""Configured client, secret and key for the messages between engine and agents."""

from __future__ import annotations

import re
from typing import Any

from oslo_config import cfg

from lease_scheduler.agent.protocol import SECRET_LENGTH, host_key
from lease_scheduler.model.errors import InvalidValueError


def agent_client(conf: cfg.ConfigOpts) -> Any:
    """Return a client of the agents of the site, or None if no secret is configured, so that there are no agents.

    :raises InvalidValueError: an option is wrong
    """
    found = agent_secret(conf)
    if found is None:
        return None
    from lease_scheduler.cmd.messaging import rpc_transport

    # Must come after messaging, which selects the threads of oslo.service before oslo.messaging is imported.
    from lease_scheduler.agent.client import AgentClient  # isort: skip

    return AgentClient(rpc_transport(conf), conf.service.site, found, conf.agent.answer_timeout)


def agent_secret(conf: cfg.ConfigOpts) -> str | None:
    """Return the secret of the site, or None if there is none.

    :raises InvalidValueError: it is too short, or the intervals of engine and agents contradict each other
    """
    group = conf.agent
    if group.renew_interval > group.expire_after / 2:
        raise InvalidValueError("agent.renew_interval", "must be at most half of expire_after")
    if group.secret is not None and len(group.secret) < SECRET_LENGTH:
        raise InvalidValueError(
            "agent.secret", f"must have at least {SECRET_LENGTH} characters, e.g. the output of: openssl rand -hex 32"
        )
    return group.secret  # type: ignore[no-any-return]


def agent_key(conf: cfg.ConfigOpts) -> str:
    """Return the key of this host.

    :raises InvalidValueError: there is none, or another option is wrong
    """
    secret, group = agent_secret(conf), conf.agent
    key: str | None = group.host_key
    if key is not None:
        # With a short key, such as an empty one, others could sign orders.
        if not re.fullmatch("[0-9a-f]{64}", key):
            raise InvalidValueError(
                "agent.host_key", f"must be what this prints: lease-scheduler-manage agent key {group.host}"
            )
        return key
    if secret is None:
        raise InvalidValueError(
            "agent.host_key", f"is needed; where the engine is: lease-scheduler-manage agent key {group.host}"
        )
    return host_key(secret, conf.service.site, group.host)
