"""The XML-RPC protocol, and requests that do not conform to it (haizea F23)."""

from __future__ import annotations

import io
import xmlrpc.client
from collections.abc import Callable
from typing import Any

import pytest
from keystoneauth1.exceptions import ConnectFailure
from osc_lib.exceptions import CommandError

from lease_scheduler.haizea.frontend.application import MAXIMUM_BODY, Application
from lease_scheduler.model.errors import InvalidValueError


def _add(first: int, second: int) -> int:
    return first + second


def _fail(error: Exception) -> Any:
    raise error


_METHODS: dict[str, Callable[..., Any]] = {
    "add": _add,
    "echo": lambda value: value,
    "bad_value": lambda: _fail(InvalidValueError("field", "is wrong; take 1")),
    "refused": lambda: _fail(CommandError("no room \x01 (HTTP 409)")),
    "away": lambda: _fail(ConnectFailure("nobody\nthere")),
    "broken": lambda: _fail(KeyError("secret")),
}


def _send(body: bytes, **environ: Any) -> tuple[str, bytes]:
    told: list[str] = []
    everything: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/RPC2",
        "CONTENT_TYPE": "text/xml",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        **environ,
    }
    content = b"".join(Application(_METHODS)(everything, lambda status, headers: told.append(status)))
    return told[0], content


def _call(name: str, *parameters: Any) -> Any:
    status, content = _send(xmlrpc.client.dumps(parameters, name, allow_none=True).encode())
    assert status == "200 OK"
    return xmlrpc.client.loads(content)[0][0]


def _fault(body: bytes) -> xmlrpc.client.Fault:
    status, content = _send(body)
    assert status == "200 OK"
    with pytest.raises(xmlrpc.client.Fault) as caught:
        xmlrpc.client.loads(content)
    return caught.value


def test_calls_return_values() -> None:
    assert _call("add", 2, 3) == 5
    assert _call("echo", None) is None
    assert _call("echo", "Köln <&>") == "Köln <&>"


@pytest.mark.parametrize(
    ("name", "parameters", "code", "message"),
    [
        ("subtract", (), -32601, "there is no method 'subtract'; known are add, echo"),
        ("system.listMethods", (), -32601, "there is no method"),
        ("__init__", (), -32601, "there is no method"),
        ("add", (1,), -32602, "add takes (first, second): missing a required argument: 'second'"),
        ("add", (1, 2, 3), -32602, "too many positional arguments"),
        ("bad_value", (), -32602, "field: is wrong; take 1"),
        ("refused", (), -32500, "no room ? (HTTP 409)"),
        ("away", (), -32300, "the reservation service does not answer: nobody there"),
    ],
)
def test_faults_have_a_code_and_a_message(name: str, parameters: tuple[Any, ...], code: int, message: str) -> None:
    fault = _fault(xmlrpc.client.dumps(parameters, name).encode())
    assert fault.faultCode == code
    assert message in fault.faultString


def test_an_internal_error_reveals_nothing() -> None:
    fault = _fault(xmlrpc.client.dumps((), "broken").encode())
    assert (fault.faultCode, fault.faultString) == (-32603, "broken failed; the log of the front says why")


_LAUGHS = b"".join(b'<!ENTITY l%d "%s">' % (level, b"&l%d;" % (level - 1) * 10) for level in range(1, 10))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"<methodCall>",
        b"<other/>",
        b"<methodCall><methodName>add</methodName><params><param><value><int>x</int></value></param></params></methodCall>",
        b"<methodCall><methodName>add</methodName><params><param><value><int>"
        + b"9" * 9_999
        + b"</int></value></param>"
        b"</params></methodCall>",
        xmlrpc.client.dumps(xmlrpc.client.Fault(1, "no call"), methodresponse=True).encode(),
        b'<?xml version="1.0" encoding="nonsense"?><methodCall/>',
        b"<a>" * 100_000 + b"</a>" * 100_000,
        b"\xff\xfe\x00",
    ],
)
def test_bodies_that_are_no_calls_are_refused(body: bytes) -> None:
    assert _fault(body).faultCode in (-32700, -32601)


@pytest.mark.parametrize(
    "document_type",
    [
        b"<!DOCTYPE methodCall>",
        b'<!DOCTYPE methodCall [<!ENTITY l0 "lol">' + _LAUGHS + b"]>",
        b'<!DOCTYPE methodCall [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        b'<!DOCTYPE methodCall SYSTEM "http://127.0.0.1:9/a.dtd">',
    ],
)
def test_document_types_are_refused(document_type: bytes) -> None:
    call = xmlrpc.client.dumps(("a",), "echo").encode().replace(b"<string>a", b"<string>&l9;")
    fault = _fault(b'<?xml version="1.0"?>' + document_type + call.partition(b"?>")[2])
    assert fault.faultCode == -32700
    assert "document type" in fault.faultString


@pytest.mark.parametrize(
    ("environ", "status"),
    [
        ({"REQUEST_METHOD": "GET"}, "405"),
        ({"PATH_INFO": "/admin"}, "404"),
        ({"CONTENT_TYPE": "text/plain"}, "415"),
        ({"CONTENT_TYPE": ""}, "415"),
        ({"HTTP_CONTENT_ENCODING": "gzip"}, "415"),
        ({"HTTP_ORIGIN": "http://example.org"}, "403"),
        ({"HTTP_ORIGIN": "null"}, "403"),
        ({"CONTENT_LENGTH": str(MAXIMUM_BODY + 1)}, "413"),
        ({"CONTENT_LENGTH": "-1"}, "400"),
    ],
)
def test_other_http_requests_are_refused(environ: dict[str, str], status: str) -> None:
    """Including everything that a browser can send without a preflight request."""
    assert _send(xmlrpc.client.dumps((1, 2), "add").encode(), **environ)[0].startswith(f"{status} ")


def test_application_xml_is_accepted() -> None:
    body = xmlrpc.client.dumps((1, 2), "add").encode()
    assert _send(body, CONTENT_TYPE="application/xml; charset=utf-8")[0] == "200 OK"
