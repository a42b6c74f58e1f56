"""What came of a call to the REST interface of a site, as an answer of a member."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from keystoneauth1.exceptions import ClientException
from openstack.exceptions import HttpException, SDKException

from lease_scheduler.cloud.peers.dates import instant_of
from lease_scheduler.federation.answers import Alternative, FederationReason, Reason, Refusal, Unanswered, reason_of
from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.refusals import RefusalReason

LOG = logging.getLogger(__name__)

#: Statuses that are not about the request: the login has expired, the site was changed to another version, or it wants
#: to be asked later.
_LATER = frozenset({401, 406, 407, 408, 413, 421, 425, 429})

Found = TypeVar("Found")


def outcome(member: str, call: Callable[[], Found]) -> Found | Refusal | Unanswered:
    """Make a call, and return what it returns, or the refusal of the site.

    Nothing is known after an error of the site or of the network, or after an answer that is not one of this interface:
    the site may have done what was asked of it.

    :param member: name of the member
    """
    try:
        return call()
    except HttpException as error:
        return _refusal(member, error)
    except (SDKException, ClientException) as error:
        LOG.info("%s did not answer: %s", member, error)
    except (InvalidValueError, ValueError, TypeError, KeyError, IndexError) as error:
        LOG.warning("The answer of %s cannot be read: %r", member, error)
    return Unanswered()


def _refusal(member: str, error: HttpException) -> Refusal | Unanswered:
    status, body = error.status_code or 0, _body(error)
    if not 400 <= status < 500 or status in _LATER or body is None:
        LOG.info("%s did not answer: %s", member, error)
        return Unanswered()
    message = str(body.get("error_message", error))
    return Refusal(member, _reason(status, body), message, alternatives_of(member, body.get("alternatives") or ()))


def _body(error: HttpException) -> Document | None:
    """Return the body of an error of this interface, or None if something between has answered, such as a proxy."""
    if error.response is None:
        return None
    try:
        body: Any = error.response.json()
    except ValueError:
        return None
    return body if isinstance(body, dict) and "error_message" in body else None


def _reason(status: int, body: Document) -> Reason:
    if body.get("reason_code"):
        return reason_of(str(body["reason_code"]))
    field = body.get("field")
    match status:
        case 404 if "error_code" in body:
            return FederationReason.UNKNOWN
        case 400 if field == "expires_at":
            return FederationReason.EXPIRED
        case 400 if field == "start_date":
            return RefusalReason.PAST
        case 403:
            return RefusalReason.POLICY
        # Without the code of the error, it is about a route or a method that the site does not have.
        case 400 | 404 | 405:
            return FederationReason.UNSUPPORTED
        case _:
            return FederationReason.OTHER


def alternatives_of(member: str, shown: Iterable[Document]) -> tuple[Alternative, ...]:
    """Return the alternatives of a refusal as the site shows them, without those that have no place yet.

    :raises ValueError: a date is none
    """
    return tuple(
        Alternative(member, instant_of(each["start"]), instant_of(each["end"]), each["count"])
        for each in shown
        if each.get("start") and each.get("end") and each.get("count")
    )
