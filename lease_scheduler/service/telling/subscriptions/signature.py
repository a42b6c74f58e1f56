"""Signatures of webhooks, as Standard Webhooks 1.0 defines them (https://www.standardwebhooks.com).

The key is shared by the service and the receiver. The signature covers the id of the delivery, the time of the attempt
and the body, so that nobody else can send, change or later repeat a request unnoticed.
"""

from __future__ import annotations

import base64
import hmac
import secrets
from hashlib import sha256

_PREFIX = "whsec_"
#: Length of a key in bytes: the length of the hash.
_KEY_BYTES = 32


def new_secret() -> str:
    """Return a new random secret."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()


def signed_headers(secret: str, delivery_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers by which a receiver verifies a request.

    :param timestamp: seconds since the epoch at which the request is sent
    """
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    signed = f"{delivery_id}.{timestamp}.".encode() + body
    signature = base64.b64encode(hmac.digest(key, signed, sha256)).decode()
    return {
        "Webhook-Id": delivery_id,
        "Webhook-Timestamp": str(timestamp),
        "Webhook-Signature": f"v1,{signature}",
    }
