"""How often and by how much a lease was extended."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lease_scheduler.model.lease import UNLIMITED


@dataclass(frozen=True)
class Extensions:
    """The extensions of a lease. Shortening the lease does not undo them.

    :ivar count: number of changes that made the lease longer
    :ivar seconds: total seconds that these changes added
    :ivar longest: longest duration in seconds that the lease has had; 0 if its duration never changed
    """

    count: int = 0
    seconds: int = 0
    longest: int = 0

    def changed(self, before: int, after: int) -> Extensions:
        """Return the extensions after a change of the duration.

        :param before: duration in seconds before the change
        :param after: duration in seconds after the change
        """
        if before == after:
            return self
        # A lease without end has no duration to compare with: its first end counts neither as shorter nor as longer.
        longest = max(after, self.longest, 0 if before >= UNLIMITED else before)
        if after < before:
            return replace(self, longest=longest)
        return Extensions(self.count + 1, self.seconds + after - before, longest)

    def cut(self, duration: int) -> int:
        """Return by how many seconds a lease with this duration is shorter than its longest duration."""
        return max(0, self.longest - duration)
