"""The settings of the API, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ApiSettings:
    """How the API behaves.

    :ivar auth: ``noauth`` believes the headers of the request, ``keystone`` those that keystonemiddleware has set
    :ivar privacy: whether projects learn of others only that they keep the site busy
    :ivar maximum_body: bytes of a request body
    :ivar maximum_page: most elements of one page of a list, from microversion 1.1 on
    :ivar maximum_occurrences: most leases of one series
    :ivar series_days: how many days the last lease of a series may lie ahead of the first
    :ivar retry_after: seconds after which a client may try again when no engine answers
    """

    auth: Literal["noauth", "keystone"] = "keystone"
    privacy: bool = True
    maximum_body: int = 1_048_576
    maximum_page: int = 1_000
    maximum_occurrences: int = 366
    series_days: int = 366
    retry_after: int = 5
