from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.records.messages import Message
from lease_scheduler.records.subscriptions import Delivery, SubscriptionRecord
from lease_scheduler.service.telling.subscriptions.base import NotDeliveredError
from lease_scheduler.service.telling.subscriptions.signature import new_secret, signed_headers
from lease_scheduler.service.telling.subscriptions.urls import UrlRules
from lease_scheduler.service.telling.subscriptions.webhook import Webhooks
from tests.servers.certificates import self_signed

_LIMIT = 30.0
_OPEN = UrlRules(networks=(ip_network("127.0.0.0/8"),))
_DELIVERY = Delivery("id-1", "one", Message("lease.create", {"lease_id": "a", "name": "\u00e4"}), 1)


def _to(url: str) -> SubscriptionRecord:
    return SubscriptionRecord("one", "project", "user", "webhook", url, 1, secret=new_secret())


@contextmanager
def _answering(
    answer: Callable[[socket.socket], None], files: tuple[Path, Path] | None = None
) -> Iterator[tuple[str, list[bytes]]]:
    """A server that reads requests, and lets a function answer them. Yield its URL and the requests.

    :param files: its certificate and key, if it speaks HTTPS
    """
    context = None
    if files is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    plain, _ = server.accept()
                    with plain, suppress(OSError):
                        plain.settimeout(_LIMIT)
                        connection = plain if context is None else context.wrap_socket(plain, server_side=True)
                        with connection:
                            heard.append(_read(connection))
                            answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        scheme = "http" if context is None else "https"
        yield f"{scheme}://{'127.0.0.1' if context is None else 'localhost'}:{server.getsockname()[1]}", heard
        server.shutdown(socket.SHUT_RDWR)
    thread.join(_LIMIT)


def _read(connection: socket.socket) -> bytes:
    read = b""
    while b"\r\n\r\n" not in read:
        read += connection.recv(65_536)
    head, _, body = read.partition(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:"))
    while len(body) < length:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


def _saying(text: str) -> Callable[[socket.socket], None]:
    return lambda connection: connection.sendall(text.encode())


def test_the_request_is_what_the_documentation_says() -> None:
    with _answering(_saying("HTTP/1.1 204 No Content\r\n\r\n")) as (url, heard):
        subscription = _to(f"{url}/leases?a=b")
        Webhooks(_OPEN, _LIMIT).send(subscription, _DELIVERY)
    head, _, body = heard[0].partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers: dict[str, Any] = dict(line.split(": ", 1) for line in lines)
    assert first == "POST /leases?a=b HTTP/1.1"
    assert json.loads(body) == {
        "message_id": "id-1",
        "event_type": "lease.create",
        "payload": {"lease_id": "a", "name": "\u00e4"},
    }
    assert (headers["Content-Type"], headers["Host"]) == ("application/json", url.removeprefix("http://"))
    assert abs(int(headers["Webhook-Timestamp"]) - time.time()) < _LIMIT
    assert subscription.secret is not None
    expected = signed_headers(subscription.secret, "id-1", int(headers["Webhook-Timestamp"]), body)
    assert {name: headers[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("HTTP/1.1 500 Oops\r\n\r\n", "status 500"),
        ("HTTP/1.0 404 Not Found\r\n\r\n", "status 404"),
        ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", "status 302; redirects are not followed"),
        ("SSH-2.0-OpenSSH\r\n", "its answer is not HTTP"),
        ("HTTP/1.1 200" + "0" * 2_000, "its answer is not HTTP"),
        ("", "closed the connection"),
    ],
)
def test_only_success_confirms(answer: str, error: str) -> None:
    with _answering(_saying(answer)) as (url, heard):
        with pytest.raises(NotDeliveredError, match=error):
            Webhooks(_OPEN, _LIMIT).send(_to(url), _DELIVERY)
        assert len(heard) == 1


def test_a_receiver_that_answers_byte_by_byte_is_cut_off() -> None:
    """The time is limited as a whole, not for each byte."""

    def drip(connection: socket.socket) -> None:
        for byte in b"HTTP/1.1 200 OK":
            connection.sendall(bytes([byte]))
            time.sleep(0.2)

    with _answering(drip) as (url, _), pytest.raises(NotDeliveredError, match="did not answer within 0.5 s"):
        Webhooks(_OPEN, 0.5).send(_to(url), _DELIVERY)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "[::ffff:127.0.0.1]", "2130706433"]
)
def test_no_connection_is_made_to_an_address_that_is_not_public(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its name is; the number is 127.0.0.1, as resolvers read it."""

    def connect(*arguments: object) -> None:
        raise AssertionError(arguments)

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(NotDeliveredError, match="^the address of the host is not public, and the operator"):
        Webhooks(UrlRules(allows_http=True), _LIMIT).send(_to(f"http://{host}:9/"), _DELIVERY)


def test_the_name_is_resolved_once_and_the_checked_address_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name may resolve to another address a moment later."""
    name, resolve, asked = "hooks.example.org", socket.getaddrinfo, list[str]()

    def resolving(host: str, *arguments: Any, **options: Any) -> Any:
        asked.append(host)
        return resolve("127.0.0.1" if host == name else host, *arguments, **options)

    with _answering(_saying("HTTP/1.1 200 OK\r\n\r\n")) as (url, heard):
        port = url.rpartition(":")[2]
        monkeypatch.setattr(socket, "getaddrinfo", resolving)
        rules = UrlRules(networks=_OPEN.networks, allows_http=True)
        Webhooks(rules, _LIMIT).send(_to(f"http://{name}:{port}/"), _DELIVERY)
    assert asked == [name, "127.0.0.1"]
    assert f"Host: {name}:{port}".encode() in heard[0]


def test_what_the_operator_forbids_later_is_not_sent() -> None:
    rules = UrlRules(("https://hooks.example.org",), _OPEN.networks)
    with pytest.raises(NotDeliveredError, match="target: must begin with one of: https://hooks.example.org"):
        Webhooks(rules, _LIMIT).send(_to("http://127.0.0.1:9/"), _DELIVERY)


def test_a_closed_port_and_an_unknown_name() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(NotDeliveredError, match="^the receiver cannot be reached: Connection refused$"):
        Webhooks(_OPEN, _LIMIT).send(_to(f"http://127.0.0.1:{port}/"), _DELIVERY)
    with pytest.raises(NotDeliveredError, match="^the name of the host cannot be resolved$"):
        Webhooks(_OPEN, _LIMIT).send(_to("https://nothing.invalid/"), _DELIVERY)


def test_a_certificate_must_be_trusted_and_be_that_of_the_host(tmp_path: Path) -> None:
    files = self_signed(tmp_path)
    rules = UrlRules(networks=(*_OPEN.networks, ip_network("::1/128")))
    with _answering(_saying("HTTP/1.1 200 OK\r\n\r\n"), files) as (url, heard):
        with pytest.raises(NotDeliveredError, match="^the certificate is not trusted: self"):
            Webhooks(rules, _LIMIT).send(_to(url), _DELIVERY)
        trusting = Webhooks(rules, _LIMIT, str(files[0]))
        with pytest.raises(NotDeliveredError, match="^the certificate is not trusted: IP address mismatch"):
            trusting.send(_to(url.replace("localhost", "127.0.0.1")), _DELIVERY)
        assert heard == []
        trusting.send(_to(url), _DELIVERY)
        assert len(heard) == 1
