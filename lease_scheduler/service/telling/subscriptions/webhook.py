"""The driver that sends notifications as signed HTTP requests.

The project that subscribes chooses the URL, and so where the engine connects to. Therefore the address to which the
name resolves is checked, and the connection is made to this very address. Only the status of the answer is read, and
redirects are not followed.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import SplitResult, urlsplit

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.records.subscriptions import Delivery, SubscriptionRecord
from lease_scheduler.service.telling.subscriptions.base import NotDeliveredError
from lease_scheduler.service.telling.subscriptions.signature import signed_headers
from lease_scheduler.service.telling.subscriptions.urls import UrlRules, check_url, may_be_reached, port_of

#: The status line of an answer, and its maximum length in bytes.
_STATUS = re.compile(rb"HTTP/1\.[01] ([2-5]\d\d)[ \r\n]")
_LONGEST_LINE = 1_024


class Webhooks:
    """Driver that sends notifications as HTTP requests.

    :param rules: what the operator allows; checked again at every attempt, as the operator may have changed it
    :param timeout: real seconds that a request may take from connecting to the status of the answer, without name
        resolution
    :param authorities: file of CA certificates to trust; empty for those of the system
    """

    def __init__(self, rules: UrlRules, timeout: float, authorities: str = "") -> None:
        self._rules = rules
        self._timeout = timeout
        self._context = ssl.create_default_context(cafile=authorities or None)

    def send(self, subscription: SubscriptionRecord, delivery: Delivery) -> None:
        """Send a delivery. Every status from 200 to 299 confirms it.

        :raises NotDeliveredError: there was no such answer, or the operator does not allow the URL
        """
        assert subscription.secret is not None
        try:
            check_url(subscription.target, self._rules, "target")
        except InvalidValueError as error:
            raise NotDeliveredError(str(error)) from error
        body = body_of(delivery)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "lease-scheduler",
            "Connection": "close",
            **signed_headers(subscription.secret, delivery.delivery_id, int(time.time()), body),
        }
        with _plain_errors(self._timeout):
            status = self._post(urlsplit(subscription.target), body, headers)
        if not 200 <= status < 300:
            hint = "; redirects are not followed" if 300 <= status < 400 else ""
            raise NotDeliveredError(f"the receiver answered with the status {status}{hint}")

    def _post(self, url: SplitResult, body: bytes, headers: dict[str, str]) -> int:
        host, port = url.hostname or "", port_of(url)
        addresses = self._addresses(host, port)
        end = time.monotonic() + self._timeout
        with _connected(addresses, port, end) as plain:
            connection = (
                HTTPSConnection(host, port, context=self._context)
                if url.scheme == "https"
                else HTTPConnection(host, port)
            )
            plain.settimeout(_left(end))
            connection.sock = self._context.wrap_socket(plain, server_hostname=host) if url.scheme == "https" else plain
            try:
                connection.sock.settimeout(_left(end))
                path = (url.path or "/") + (f"?{url.query}" if url.query else "")
                connection.request("POST", path, body, headers)
                return _status(connection.sock, end)
            finally:
                connection.close()

    def _addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host.

        :raises NotDeliveredError: requests may not be sent to one of them
        """
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        if not all(may_be_reached(address, self._rules.networks) for address in addresses):
            raise NotDeliveredError("the address of the host is not public, and the operator does not allow it")
        return addresses


def body_of(delivery: Delivery) -> bytes:
    """Return the body of the request, the same at every attempt."""
    message = delivery.message
    document = {
        "message_id": delivery.delivery_id,
        "event_type": message.event_type,
        "payload": dict(message.payload),
    }
    return json.dumps(document).encode()


@contextmanager
def _connected(addresses: list[str], port: int, end: float) -> Iterator[socket.socket]:
    """Connect to the first of these addresses that answers."""
    for number, address in enumerate(addresses, start=1):
        try:
            made = socket.create_connection((address, port), _left(end))
        except OSError:
            if number == len(addresses):
                raise
            continue
        with made:
            yield made
        return


def _status(connection: socket.socket, end: float) -> int:
    """Return the status of the answer, reading no more than its beginning.

    The limit is on the whole time, since a receiver could otherwise keep the thread by sending a byte now and then.
    """
    read = b""
    while b"\n" not in read and len(read) < _LONGEST_LINE:
        connection.settimeout(_left(end))
        part = connection.recv(_LONGEST_LINE)
        if not part:
            break
        read += part
    found = _STATUS.match(read)
    if found is None:
        raise NotDeliveredError("the receiver closed the connection, or its answer is not HTTP")
    return int(found[1])


def _left(end: float) -> float:
    """Return the seconds that are left.

    :raises TimeoutError: none are
    """
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


@contextmanager
def _plain_errors(timeout: float) -> Iterator[None]:
    """Turn errors of the network into texts for the project."""
    try:
        yield
    except TimeoutError as error:
        raise NotDeliveredError(f"the receiver did not answer within {timeout:g} s") from error
    except socket.gaierror as error:
        raise NotDeliveredError("the name of the host cannot be resolved") from error
    except ssl.SSLCertVerificationError as error:
        raise NotDeliveredError(f"the certificate is not trusted: {error.verify_message}") from error
    except (OSError, UnicodeError, HTTPException) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        raise NotDeliveredError(f"the receiver cannot be reached: {why}") from error
