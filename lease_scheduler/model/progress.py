"""Progress of leases that share CPU: their yield and their virtual time (Stillwell 2010, sections 3.1 and 5.2.3)."""

from __future__ import annotations

from dataclasses import dataclass

#: Yields are whole thousandths, so that virtual time in ms is exact, however often yields change.
FULL = 1_000


@dataclass(frozen=True, slots=True)
class Progress:
    """Present yield of a fluid lease, and its virtual time so far.

    :ivar virtual: virtual time in ms until ``since``: how long the same work would have taken with all the CPU that the
        lease needs
    :ivar permille: present yield in thousandths, rounded down; 0 while it does not run
    :ivar since: instant since which it has this yield
    :ivar given: part of the VCPU of its servers that it is given, in thousandths, rounded down; not stored. None if it
        equals the yield, because the servers are not known to need less than all their VCPU
    """

    virtual: int = 0
    permille: int = 0
    since: int = 0
    given: int | None = None

    def virtual_at(self, now: int) -> int:
        """Return the virtual time at an instant in ms."""
        return self.virtual + self.permille * max(0, now - self.since)

    def at_yield(self, permille: int, now: int, given: int | None = None) -> Progress:
        """Return the progress with another yield from now on."""
        return Progress(self.virtual_at(now), permille, now, given)

    @property
    def part(self) -> float:
        """The present yield, from 0 to 1."""
        return self.permille / FULL

    @property
    def share(self) -> float:
        """The part of the VCPU of its servers that it is given now, from 0 to 1."""
        return self.part if self.given is None else self.given / FULL


def stretch(submitted: int, now: int, virtual: int) -> float | None:
    """Return the stretch of a lease, at least 1: its time since submission, divided by its virtual time.

    None before it has run.

    :param submitted: instant of its submission
    :param now: the present instant, or that of its end
    :param virtual: virtual time at that instant in ms
    """
    return max(FULL * (now - submitted) / virtual, 1.0) if virtual > 0 else None
