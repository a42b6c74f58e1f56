"""The engine's side of the requests: an oslo.messaging RPC server, which runs only while the engine leads."""

from __future__ import annotations

import logging
from typing import Any

import oslo_messaging

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import EngineUnavailableError, RefusedError
from lease_scheduler.rpc.interface import VERSION, Methods, topic

LOG = logging.getLogger(__name__)


class _Endpoint:
    """One remote method for all requests. It returns errors as plain values, as drivers differ in their exceptions."""

    target = oslo_messaging.Target(version=VERSION)

    def __init__(self, methods: Methods) -> None:
        self._methods = methods

    def request(self, context: dict[str, Any], name: str, arguments: dict[str, Any]) -> Document:
        """Answer a request: ``{"answer": ...}``, or ``{"error": ...}`` if it is refused."""
        try:
            return {"answer": self._methods[name](context, **arguments)}
        except RefusedError as error:
            return {
                "error": {
                    "code": error.code,
                    "message": error.message,
                    "field": error.field,
                    "alternatives": [dict(alternative) for alternative in error.alternatives],
                    "reason": error.reason,
                }
            }
        except EngineUnavailableError as error:
            return {"error": {"code": 503, "message": str(error), "field": None, "alternatives": []}}
        except Exception:
            LOG.exception("request %s failed", name)
            return {"error": {"code": 500, "message": "Internal Server Error", "field": None, "alternatives": []}}


def rpc_server(transport: Any, site: str, server: str, methods: Methods) -> Any:
    """Return an RPC server that answers requests for a site.

    :param transport: oslo.messaging transport
    :param site: name of the site
    :param server: name of this engine, unique among all engines
    :param methods: methods that answer the requests
    """
    target = oslo_messaging.Target(topic=topic(site), server=server)
    return oslo_messaging.get_rpc_server(transport, target, [_Endpoint(methods)])
