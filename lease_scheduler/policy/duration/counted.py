"""For how long leases count where they are weighed against others: in shares, waiting times and loads."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.policy.base import PolicyOptions


@dataclass(frozen=True)
class CountedDurations:
    """Durations for which leases count, in whatever policy.

    A lease without an end would outweigh all others, and so would one of years. Grit 2007, section 5.6.2, takes an
    estimate; what a lease uses beyond that counts when it is over.

    :ivar endless: seconds for which a lease without an end counts
    :ivar longest: most seconds for which any other lease counts
    """

    endless: int = 86_400
    longest: int = 7 * 86_400

    @classmethod
    def of(cls, options: PolicyOptions) -> CountedDurations:
        """Return what the operator chose.

        :raises InvalidValueError: an option is wrong
        """
        found = cls(
            options.integer("duration_endless", cls.endless),
            options.integer("duration_longest", cls.longest),
        )
        for name, value in (("endless", found.endless), ("longest", found.longest)):
            if value < 1:
                raise InvalidValueError(f"policy option duration_{name}", f"must be at least 1, not {value}")
        return found

    def of_request(self, request: LeaseRequest) -> int:
        """Return for how many seconds a lease counts in all."""
        return self.endless if request.duration >= UNLIMITED else min(request.duration, self.longest)

    def of_rest(self, request: LeaseRequest, seconds: int) -> int:
        """Return for how many of these seconds, for which a lease is expected to run on, it counts."""
        return min(seconds, self.endless if request.duration >= UNLIMITED else self.longest)
