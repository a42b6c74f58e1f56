"""Secret addresses at which calendar programs read the leases of a project without a token."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256

#: Random bytes of a secret.
_SECRET_BYTES = 32


@dataclass(frozen=True)
class FeedRecord:
    """A secret address of a project.

    :ivar name: name that its maker gave it, such as that of the program that reads it; may be empty
    :ivar digest: digest of the secret; the secret itself is not stored
    """

    feed_id: str
    project_id: str
    user_id: str
    name: str
    digest: str
    created_at: int


def new_secret() -> str:
    """Return a new random secret of 256 bits, as text that can be part of a URL."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def digest_of(secret: str) -> str:
    """Return the digest by which a secret is recognized.

    A plain hash needs neither salt nor slowness here, because 256 random bits cannot be guessed.
    """
    return sha256(secret.encode("utf-8", "replace")).hexdigest()
