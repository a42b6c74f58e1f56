"""What a lease is promised about its lifetime, in words."""

from __future__ import annotations

from lease_scheduler.api.dates import iso_date
from lease_scheduler.model.documents import Document
from lease_scheduler.model.durations import exactly
from lease_scheduler.model.kinds import Assured


def promise_in_words(view: Document) -> str | None:
    """Return what a lease is promised, or None if it asked for nothing.

    :param view: has ``min_lifetime``, ``assurance``, ``assured``, ``assured_from``, ``planned_lifetime`` and ``begin``,
        the instant at which the lease starts or has started, or None
    """
    if view["min_lifetime"] is None:
        return None
    lifetime, share = exactly(view["min_lifetime"]), f"{100 * view['assurance']:.6g} %"
    assured = None if view["assured"] is None else Assured(view["assured"])
    if assured is None:
        return f"waits until {lifetime} can be assured with at least {share}"
    if assured is Assured.BROKEN:
        return f"had to leave its hosts before its {lifetime} were over, which was promised with at least {share}"
    begin = view["begin"]
    if assured is Assured.PLANNED:
        until = "" if begin is None else f", until {iso_date(begin + view['min_lifetime'])}"
        said = f"nobody preempts it for {lifetime}{until}"
    else:
        said = f"survives {lifetime} with at least {share}, from {view['assured_from']} observations"
    planned = view["planned_lifetime"]
    if planned is None:
        return said
    until = f"for {exactly(planned)}" if begin is None else f"until {iso_date(begin + planned)}"
    return f"{said}; its hosts are planned for it {until}, when others have them"
