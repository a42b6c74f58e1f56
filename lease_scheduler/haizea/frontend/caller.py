"""Calls of Haizea's XML-RPC methods, for its commands."""

from __future__ import annotations

import http.client
import xmlrpc.client
from collections.abc import Iterable
from typing import Any
from xml.parsers import expat

from lease_scheduler.model.errors import InvalidValueError, LeaseSchedulerError

#: Seconds to wait for an answer.
_TIMEOUT = 120.0


class CallRefusedError(LeaseSchedulerError):
    """The server has understood a call, and refuses it."""


class _Transport(xmlrpc.client.Transport):
    """A transport with a time limit for answers."""

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        """Return the connection for a call."""
        connection = super().make_connection(host)
        connection.timeout = _TIMEOUT
        return connection


class _SafeTransport(xmlrpc.client.SafeTransport):
    """A TLS transport with a time limit for answers."""

    def make_connection(self, host: Any) -> http.client.HTTPSConnection:
        """Return the connection for a call."""
        connection = super().make_connection(host)
        connection.timeout = _TIMEOUT
        return connection


def call(server: str, method: str, *parameters: Any) -> Any:
    """Call a method and return its result.

    :param server: URL, http or https
    :raises InvalidValueError: the server cannot be reached, or does not speak XML-RPC
    :raises CallRefusedError: the server refuses the call
    """
    try:
        transport = _SafeTransport() if server.startswith("https:") else _Transport()
        with xmlrpc.client.ServerProxy(server, transport, allow_none=True) as proxy:
            return getattr(proxy, method)(*parameters)
    except xmlrpc.client.Fault as fault:
        raise CallRefusedError(" ".join(str(fault.faultString).split())) from fault
    except xmlrpc.client.ProtocolError as error:
        raise InvalidValueError("--server", f"{server} answers HTTP {error.errcode} {error.errmsg}") from error
    except (OSError, http.client.HTTPException, xmlrpc.client.Error, expat.ExpatError, ValueError) as error:
        raise InvalidValueError("--server", f"{server} does not answer as an XML-RPC server: {error}") from error


def texts(answer: Any) -> Iterable[str]:
    """Return the answer if it is a list of texts.

    :raises InvalidValueError: the answer is something else
    """
    if not isinstance(answer, list) or not all(isinstance(each, str) for each in answer):
        raise InvalidValueError("--server", "the server does not answer as Haizea does")
    return answer
