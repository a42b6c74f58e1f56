"""A mark on Keystone trusts, which shows the site and the age of trusts that were never used.

Keystone gives trusts neither names nor dates of creation, and one user may have trusts for other sites and services.
But the creator of a trust chooses how many times it may be used. The mark is in this number: it encodes the site and
the day, and is so large that no lease exhausts it. The date of expiry could not serve as the mark, because Keystone
refuses a second trust of a user that expires at the same second.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

_DAY = 86_400
#: 2026-01-01, the first day.
_FIRST = 1_767_225_600
#: Bits of the number of uses: the highest that Keystone stores, then 15 for the day, then 15 for the site. Every use
#: changes the last ones.
_MARKED, _BITS = 1 << 30, 15
#: Seconds from the end of the day of a trust until the request that made it is certainly over, even if the clocks of
#: API and engine differ.
SAFE_AGE = 3_600


@dataclass(frozen=True)
class TrustMark:
    """The mark of one site.

    :ivar site: name of the site
    :ivar region: Keystone's region of the site, or None if there is only one
    """

    site: str
    region: str | None = None

    def uses(self, now: int) -> int:
        """Return the number of uses for a trust that is made now."""
        day = max(0, min((now - _FIRST) // _DAY, (1 << _BITS) - 1))
        return _MARKED | day << _BITS | self._number

    def is_abandoned(self, remaining_uses: int | None, now: int) -> bool:
        """Return whether a trust was made for this site, was never used, and is so old that its request is over.

        Unless a lease has such a trust by now, none ever will.

        :param remaining_uses: remaining number of uses that Keystone shows; None means any number
        """
        if remaining_uses is None or remaining_uses < _MARKED or remaining_uses % (1 << _BITS) != self._number:
            return False
        day = (remaining_uses - _MARKED) >> _BITS
        return _FIRST + (day + 1) * _DAY <= now - SAFE_AGE

    @property
    def _number(self) -> int:
        digest = hashlib.sha256(f"{self.site} {self.region or ''}".encode()).digest()
        return int.from_bytes(digest[:8]) % (1 << _BITS)
