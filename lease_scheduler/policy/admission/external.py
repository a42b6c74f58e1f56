"""The base class of policies that limit how many external requests wait (Amini Salehi 2012, chapter 5)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from lease_scheduler.model.durations import in_words
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.admission.site_view import SiteView

_MAY_WAIT = (LeaseKind.BEST_EFFORT, LeaseKind.DEADLINE)


class ExternalAdmission(AdmissionPolicy):
    """Refuses requests of peers while too many of their leases wait. Local requests are never refused.

    A lease waits if it could have started by now and has not. Leases that were suspended do not count: they are being
    served.
    """

    @abstractmethod
    def places(self, view: SiteView, now: int) -> int | None:
        """Return how many leases of peers may wait, or None for any number."""

    def refusal(self, request: LeaseRequest, now: int, view: SiteView) -> str | None:
        """See ``AdmissionPolicy.refusal``."""
        if request.origin is None:
            return None
        most = self.places(view, now)
        if most is None:
            return None
        if most == 0:
            return "origin: local requests take all of this site, so no lease of a peer may wait; ask again later"
        waiting = [lease for lease in view.live if _waits(lease, now) and lease.lease_id != request.lease_id]
        if len(waiting) < most:
            return None
        leases = "1 lease of a peer may" if most == 1 else f"{most} leases of peers may"
        waits = "1 does" if len(waiting) == 1 else f"{len(waiting)} do"
        return f"origin: at most {leases} wait for a place on this site, and {waits}; {_ask_again(waiting, view, now)}"


def _waits(lease: Lease, now: int) -> bool:
    request = lease.request
    return (
        request.origin is not None
        and request.kind in _MAY_WAIT
        and lease.started is None
        and (request.start is None or request.start <= now)
    )


def _ask_again(waiting: Sequence[Lease], view: SiteView, now: int) -> str:
    """Return in words when it is worth asking again: when one of those that wait starts, or when hosts become free."""
    starts = [lease.holdings[0].start for lease in waiting if lease.holdings]
    ends = [lease.holdings[0].end for lease in view.live if lease.holdings]
    later = [instant for instant in (starts or ends) if instant > now]
    if not later:
        return "ask again later"
    return (
        f"ask again in {in_words(min(later) - now, up=True)}, when {'one of them starts' if starts else 'a lease ends'}"
    )
