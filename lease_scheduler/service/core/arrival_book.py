"""What the site has learnt of the requests that arrive, which it publishes to peers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from lease_scheduler.federation.published_load import sort_of
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.arrivals import KnownArrivals
from lease_scheduler.policy.duration.counted import CountedDurations
from lease_scheduler.records.site_state import ARRIVALS
from lease_scheduler.records.writes import StoreChanges

#: Number of latest requests that count in the means, as in ``policy.admission.learnt_load``.
_WINDOW = 200


class ArrivalBook:
    """Arrivals by the names that ``published_load.sort_of`` returns.

    A request counts when it is granted, a held one when it is accepted. So one that a gateway holds at several sites
    counts once, and nobody makes a site look busy by requesting what it refuses.

    :param policy_state: the stored state of policies, which has the arrivals; what is damaged is not used
    :ivar known: what is known of each sort
    """

    def __init__(self, policy_state: Mapping[tuple[str, str, str], Mapping[str, Any]]) -> None:
        self.known: dict[str, KnownArrivals] = {}
        for sort, document in policy_state.get(("", *ARRIVALS), {}).items():
            with suppress(InvalidValueError):
                self.known[sort] = KnownArrivals.restored(document)
        self._durations = CountedDurations()

    def learn(self, requests: Iterable[LeaseRequest], changes: StoreChanges) -> None:
        """Learn from granted requests.

        :param changes: what the transaction writes
        """
        for request in requests:
            sort = sort_of(request)
            before = self.known.get(sort, KnownArrivals())
            self.known[sort] = before.after(request, self._durations.of_request(request), _WINDOW)
            changes.policy_state["", *ARRIVALS, sort] = self.known[sort].plain()
