"""The agent's side of the messages: an oslo.messaging RPC server."""

from __future__ import annotations

import logging
from typing import Any

import oslo_messaging

from lease_scheduler.agent import protocol
from lease_scheduler.agent.keeper import WeightKeeper

LOG = logging.getLogger(__name__)


class _Endpoint:
    """One remote method, whose argument and result are signed messages."""

    target = oslo_messaging.Target(version=protocol.VERSION)

    def __init__(self, site: str, host: str, key: str, keeper: WeightKeeper) -> None:
        self._site = site
        self._host = host
        self._key = key
        self._keeper = keeper

    def request(self, context: dict[str, Any], message: Any) -> protocol.Document:
        """Answer a request. A request that is not authentic changes nothing, and its answer reveals nothing."""
        try:
            request = protocol.unpack_request(message, self._key, self._site, self._host)
        except protocol.NotAuthenticError as error:
            LOG.warning("a request was refused: %s; see [agent] host_key and secret", error)
            return {"refused": "not authentic"}
        return protocol.pack_answer(self._keeper.answer(request), self._key)


def agent_server(transport: Any, site: str, host: str, key: str, keeper: WeightKeeper) -> Any:
    """Return an RPC server that answers requests to the agent of a host.

    :param host: name of its compute service
    :param key: key of the host
    """
    target = oslo_messaging.Target(topic=protocol.topic(site), server=host)
    return oslo_messaging.get_rpc_server(transport, target, [_Endpoint(site, host, key, keeper)])
