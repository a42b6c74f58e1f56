"""The load of a site, learnt from the requests that arrive (Amini Salehi 2012, section 5.2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import sqrt

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.policy.admission.external import ExternalAdmission
from lease_scheduler.policy.admission.queue_model import Load
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.policy.arrivals import KnownArrivals
from lease_scheduler.policy.base import Learnt, PolicyOptions
from lease_scheduler.policy.duration.counted import CountedDurations
from lease_scheduler.policy.outcomes import Outcome

_ARRIVALS = frozenset({Outcome.PLACED, Outcome.QUEUED, Outcome.REFUSED})
_UNDECIDED = (LeaseState.NEW, LeaseState.PENDING)
#: With fewer external requests there is no estimate.
_FEWEST = 10


class LearntLoad(ExternalAdmission):
    """Learns how often local and external requests arrive, and how much work they bring.

    The site is one server in the sense of queueing theory. The work of a request is its share of the most contended
    resource class, times its duration as far as that counts (``duration.counted``). Of the refused requests, only those
    that this policy refused count. Otherwise any project could have the requests of peers refused by asking for what
    the site cannot hold.

    Option: ``admission_window`` (200): number of latest requests that count.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._window = max(1, options.integer("admission_window", 200))
        self._durations = CountedDurations.of(options)
        self._known: dict[str, KnownArrivals] = {}
        self._changed: set[str] = set()
        #: Id of the request that was refused last.
        self._refused: str | None = None

    def refusal(self, request: LeaseRequest, now: int, view: SiteView) -> str | None:
        """See ``AdmissionPolicy.refusal``."""
        found = super().refusal(request, now, view)
        self._refused = None if found is None else request.lease_id
        return found

    def observe(self, outcome: Outcome, lease: Lease, before: Lease | None, now: int) -> None:
        """Learn from a request when it is decided on."""
        if outcome not in _ARRIVALS or (before is not None and before.state not in _UNDECIDED):
            return
        if outcome is Outcome.REFUSED and lease.lease_id != self._refused:
            return
        if not lease.request.nodes:
            return
        side = "local" if lease.request.origin is None else "external"
        self._known[side] = self._known.get(side, KnownArrivals()).after(
            lease.request, self._durations.of_request(lease.request), self._window
        )
        self._changed.add(side)

    def take_changes(self) -> dict[str, Learnt]:
        """See ``Policy.take_changes``."""
        changed, self._changed = self._changed, set()
        return {side: self._known[side].plain() for side in sorted(changed)}

    def restore(self, learnt: Mapping[str, Learnt]) -> None:
        """See ``Policy.restore``. What is damaged, or written by another version, is not used."""
        self._known = {}
        for side, document in learnt.items():
            with suppress(InvalidValueError):
                self._known[side] = KnownArrivals.restored(document)
        self._changed = set()

    def load(self, view: SiteView, now: int) -> Load | None:
        """Return the present load, or None as long as too little is known."""
        external, local = self._known.get("external", KnownArrivals()), self._known.get("local", KnownArrivals())
        rates = external.rate(now), local.rate(now)
        if external.number < _FEWEST or not rates[0]:
            return None
        name = _scarcest(view.capacity, (external, local), rates)
        if name is None or not external.work.get(name):
            return None
        capacity = view.capacity[name]
        mean = local.work.get(name, 0.0)
        if not mean or not rates[1]:
            return Load(rates[0], external.work[name] / capacity)
        deviation = sqrt(max(0.0, local.squares[name] - mean**2))
        return Load(rates[0], external.work[name] / capacity, rates[1], capacity / mean, deviation / mean)


def _scarcest(capacity: Resources, sides: tuple[KnownArrivals, ...], rates: tuple[float, ...]) -> str | None:
    """Return the most contended resource class, of which requests take the largest share, or None."""
    shares = {
        name: sum(side.work.get(name, 0.0) * rate for side, rate in zip(sides, rates, strict=True)) / amount
        for name, amount in capacity.items()
        if amount
    }
    return max(shares, key=shares.__getitem__) if any(shares.values()) else None
