"""A mark on Keystone trusts that tells those of a site from others, and how old they are.

Keystone gives trusts neither names nor dates of creation, and other sites and services may be trusted by the same user.
The number of times that a trust may be used is ours to choose. It is so large that no lease exhausts it, and says of a
trust that was never used for which site it was made, and on which day. The date of expiry could not say so: Keystone
refuses a second trust of a user that expires at the same second.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

_DAY = 86_400
#: 2026-01-01, the first day.
_FIRST = 1_767_225_600
#: A number of uses: the highest bit that Keystone stores, 15 bits for the day, 15 bits for the site. Every use changes
#: the last ones.
_MARKED, _BITS = 1 << 30, 15
#: Seconds after the end of that day from which on the request is certainly over, whatever became of it, although the
#: clocks of API and engine differ.
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
        """Return how often a trust that is made now may be used."""
        day = max(0, min((now - _FIRST) // _DAY, (1 << _BITS) - 1))
        return _MARKED | day << _BITS | self._number

    def is_abandoned(self, remaining_uses: int | None, now: int) -> bool:
        """Return whether a trust is of this site, was never used, and is so old that a lease has it, or never will.

        :param remaining_uses: how often it may be used, as Keystone shows it; None means any number of times
        """
        if remaining_uses is None or remaining_uses < _MARKED or remaining_uses % (1 << _BITS) != self._number:
            return False
        day = (remaining_uses - _MARKED) >> _BITS
        return _FIRST + (day + 1) * _DAY <= now - SAFE_AGE

    @property
    def _number(self) -> int:
        digest = hashlib.sha256(f"{self.site} {self.region or ''}".encode()).digest()
        return int.from_bytes(digest[:8]) % (1 << _BITS)
