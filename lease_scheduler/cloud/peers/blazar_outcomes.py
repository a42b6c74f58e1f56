"""What came of a call to Blazar, as an answer of a member."""

from __future__ import annotations

import logging
from typing import Any

from lease_scheduler.federation.answers import FederationReason, Reason, Refusal, Unanswered
from lease_scheduler.model.refusals import RefusalReason

LOG = logging.getLogger(__name__)

#: Blazar answers this with an internal error.
_NO_PLACE = "Not enough hosts available"
#: Beginnings of messages of status 400 and 403 that say more than the status.
_BEGINNINGS: tuple[tuple[str, Reason], ...] = (
    ("Start date must be later than current date", RefusalReason.PAST),
    ("End date must be later than current and start date", RefusalReason.PAST),
    ("Terminated leases can only be renamed", FederationReason.EXPIRED),
    ("Lease duration of", RefusalReason.LIMIT),
)
_BY_STATUS: dict[int, Reason] = {
    400: FederationReason.UNSUPPORTED,
    403: RefusalReason.POLICY,
    404: FederationReason.UNKNOWN,
    409: FederationReason.OTHER,
}


def answer_of(member: str, response: Any) -> Any | Refusal | Unanswered:
    """Return the JSON value of a successful answer, or None if it has none; else the refusal.

    Nothing is known after an error of Blazar or of the network, or after an answer of another program.

    :param member: name of the member
    :param response: the response (``requests.Response``)
    """
    if response.status_code == 204:
        return None
    try:
        body: Any = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        LOG.info("%s did not answer: %s", member, response.status_code)
        return Unanswered()
    if response.status_code < 300:
        return body
    message = str(body.get("error_message", ""))
    if message.startswith(_NO_PLACE):
        return Refusal(member, RefusalReason.CAPACITY, message)
    if response.status_code not in _BY_STATUS or not message:
        LOG.info("%s did not answer: %s %s", member, response.status_code, message)
        return Unanswered()
    found = next((reason for text, reason in _BEGINNINGS if message.startswith(text)), None)
    return Refusal(member, found or _BY_STATUS[response.status_code], message)
