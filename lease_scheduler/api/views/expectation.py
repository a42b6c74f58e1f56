"""By when a queued lease is expected to start, in words."""

from __future__ import annotations

from lease_scheduler.api.dates import iso_date
from lease_scheduler.model.documents import Document
from lease_scheduler.model.states import FINAL_STATES, LeaseState

#: Probability with which the engine's forecast holds.
_SHARE = "95 %"


def expectation_in_words(view: Document) -> str | None:
    """Return by when a lease is expected to start; None if it has started, is over, or has no forecast.

    :param view: has ``expected_wait``, ``expected_wait_from``, ``submitted``, ``started`` and ``state``
    """
    wait = view["expected_wait"]
    if wait is None or view["started"] is not None or LeaseState(view["state"]) in FINAL_STATES:
        return None
    basis = f"from {view['expected_wait_from']} leases that waited"
    return f"has started by {iso_date(int(view['submitted']) + wait)} with {_SHARE}, {basis}; this is not a promise"
