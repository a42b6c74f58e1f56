"""How often and by how much a lease was extended."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lease_scheduler.model.lease import UNLIMITED


@dataclass(frozen=True)
class Extensions:
    """The extensions of a lease. Shortening it takes none of them back.

    :ivar count: number of changes that made the lease longer
    :ivar seconds: seconds that these changes added together
    :ivar longest: longest duration in seconds that the lease has had; 0 if its duration never changed
    """

    count: int = 0
    seconds: int = 0
    longest: int = 0

    def changed(self, before: int, after: int) -> Extensions:
        """Return the extensions after the duration has changed.

        :param before: duration in seconds before the change
        :param after: duration in seconds after it
        """
        if before == after:
            return self
        # A lease without a duration promised no end, so its first end is where it begins to be shortened or extended.
        longest = max(after, self.longest, 0 if before >= UNLIMITED else before)
        if after < before:
            return replace(self, longest=longest)
        return Extensions(self.count + 1, self.seconds + after - before, longest)

    def cut(self, duration: int) -> int:
        """Return by how many seconds a lease with this duration is shorter than it once was."""
        return max(0, self.longest - duration)
