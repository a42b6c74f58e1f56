"""Verifies that a webhook comes from the reservation service: Standard Webhooks 1.0, with the standard library only."""

from __future__ import annotations

import base64
import hmac
import time
from collections.abc import Mapping

#: Seconds by which the clocks may differ. Older requests are refused, as somebody may have recorded them.
TOLERANCE = 300


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether a request was signed with the secret, not long ago.

    :param secret: as the service showed it when the subscription was made, ``whsec_...``
    :param headers: the headers of the request
    :param body: the body as it was received, before it is parsed
    """
    delivery_id, timestamp = headers["Webhook-Id"], headers["Webhook-Timestamp"]
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signature = hmac.digest(key, f"{delivery_id}.{timestamp}.".encode() + body, "sha256")
    expected = "v1," + base64.b64encode(signature).decode()
    return any(hmac.compare_digest(each, expected) for each in headers["Webhook-Signature"].split())
