"""The XML-RPC protocol as a WSGI application, which checks requests before Python's parser reads them.

Python's XML-RPC parser accepts document types, whose entities can expand without limit, so a call with a document type
is refused. Calls from browsers are refused too. Callers on loopback are not authenticated, so otherwise any web page
could call methods through the browser of a user of this machine.
"""

from __future__ import annotations

import logging
import xmlrpc.client
from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any
from xml.parsers import expat

from keystoneauth1.exceptions import ClientException
from osc_lib.exceptions import CommandError

from lease_scheduler.haizea.frontend.lease_xml import MAXIMUM_SIZE, clean
from lease_scheduler.model.errors import LeaseSchedulerError

LOG = logging.getLogger(__name__)

#: Maximum size of a call in bytes; every character of a lease may be escaped.
MAXIMUM_BODY = 6 * MAXIMUM_SIZE

#: Paths at which Haizea's clients call.
_PATHS = ("", "/", "/RPC2")
_MEDIA_TYPES = ("text/xml", "application/xml")

#: Fault codes, as in most XML-RPC implementations.
NOT_WELL_FORMED = -32700
UNKNOWN_METHOD = -32601
WRONG_PARAMETERS = -32602
INTERNAL_ERROR = -32603
REFUSED = -32500
NO_SERVICE = -32300

StartResponse = Callable[[str, list[tuple[str, str]]], Any]


class _HttpError(Exception):
    """A request that is not an XML-RPC call.

    :param status: HTTP status with its reason phrase
    """

    def __init__(self, status: str, problem: str) -> None:
        super().__init__(problem)
        self.status = status


class Application:
    """The WSGI application; see the module.

    :param methods: name -> method
    """

    def __init__(self, methods: Mapping[str, Callable[..., Any]]) -> None:
        self._methods = methods

    def __call__(self, environ: Mapping[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Answer a WSGI request."""
        try:
            status, media_type, content = "200 OK", "text/xml", self._answer(_body(environ))
        except _HttpError as error:
            status, media_type, content = error.status, "text/plain; charset=utf-8", f"{error}\n".encode()
        start_response(status, [("Content-Type", media_type), ("Content-Length", str(len(content)))])
        return [content]

    def _answer(self, body: bytes) -> bytes:
        """Return the answer to a call: the result of its method, or a fault."""
        try:
            result: Any = (self._call(body),)
            text = xmlrpc.client.dumps(result, methodresponse=True, allow_none=True)
        except xmlrpc.client.Fault as fault:
            fault.faultString = clean(str(fault.faultString))
            text = xmlrpc.client.dumps(fault, methodresponse=True)
        return text.encode()

    def _call(self, body: bytes) -> Any:
        _refuse_document_type(body)
        try:
            parameters, name = xmlrpc.client.loads(body, use_builtin_types=True)
        except Exception as error:
            # Python's parser raises many types of exceptions for a malformed call.
            raise xmlrpc.client.Fault(NOT_WELL_FORMED, f"this is not an XML-RPC call: {error}"[:500]) from error
        method = self._methods.get(name or "")
        if method is None:
            known = ", ".join(self._methods)
            raise xmlrpc.client.Fault(UNKNOWN_METHOD, f"there is no method {str(name)[:40]!r}; known are {known}")
        try:
            signature(method).bind(*parameters)
        except TypeError as error:
            wanted = ", ".join(signature(method).parameters)
            raise xmlrpc.client.Fault(WRONG_PARAMETERS, f"{name} takes ({wanted}): {error}") from error
        try:
            return method(*parameters)
        except LeaseSchedulerError as error:
            raise xmlrpc.client.Fault(WRONG_PARAMETERS, str(error)) from error
        except CommandError as error:
            raise xmlrpc.client.Fault(REFUSED, str(error)) from error
        except ClientException as error:
            LOG.warning("the reservation service does not answer: %s", error)
            problem = f"the reservation service does not answer: {' '.join(str(error).split())}"
            raise xmlrpc.client.Fault(NO_SERVICE, problem) from error
        except Exception as error:
            LOG.exception("%s failed", name)
            raise xmlrpc.client.Fault(INTERNAL_ERROR, f"{name} failed; the log of the front says why") from error


def _body(environ: Mapping[str, Any]) -> bytes:
    """Return the body of a request.

    :raises _HttpError: the request is not an XML-RPC call
    """
    if environ.get("PATH_INFO", "") not in _PATHS:
        raise _HttpError("404 Not Found", "XML-RPC is at / and at /RPC2.")
    if environ["REQUEST_METHOD"] != "POST":
        raise _HttpError("405 Method Not Allowed", "XML-RPC calls are made with POST.")
    if "HTTP_ORIGIN" in environ:
        raise _HttpError("403 Forbidden", "Browsers may not call.")
    if str(environ.get("CONTENT_TYPE", "")).partition(";")[0].strip().lower() not in _MEDIA_TYPES:
        raise _HttpError("415 Unsupported Media Type", "The Content-Type of an XML-RPC call is text/xml.")
    if environ.get("HTTP_CONTENT_ENCODING", "identity").strip().lower() != "identity":
        raise _HttpError("415 Unsupported Media Type", "Send the call as it is, without a Content-Encoding.")
    length = str(environ.get("CONTENT_LENGTH") or "0")
    if not (length.isascii() and length.isdigit()):
        raise _HttpError("400 Bad Request", "The Content-Length is not a number.")
    if int(length) > MAXIMUM_BODY:
        raise _HttpError("413 Content Too Large", f"A call has at most {MAXIMUM_BODY} bytes.")
    body: bytes = environ["wsgi.input"].read(int(length))
    return body


def _refuse_document_type(body: bytes) -> None:
    """Refuse a body with a document type, before the document type is read.

    :raises xmlrpc.client.Fault: the body has a document type, or is not well-formed
    """

    def refuse(*_: Any) -> None:
        raise xmlrpc.client.Fault(NOT_WELL_FORMED, "the call has a document type; remove the <!DOCTYPE ...> part")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(body, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise xmlrpc.client.Fault(NOT_WELL_FORMED, f"the call is not well-formed XML: {error}") from error
