"""``ExtensionFilter``: who may extend a lease, how often, how far, and from when on."""

from __future__ import annotations

from lease_scheduler.model.documents import Document
from lease_scheduler.model.durations import exactly
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.service.requests.enforcement.base import (
    ChangeProposal,
    Extension,
    FilterOptions,
    Proposal,
    ShorterExtensionError,
)


class ExtensionFilter:
    """Filter with the options ``extension_...``; -1 means no limit.

    An extension is a change that makes the duration of a lease longer. A change that moves the lease as well is judged
    only by what it adds. The document of a lease says how often and how far it was extended, so this filter keeps no
    count.

    :raises InvalidValueError: ``extension_max_time`` or ``extension_window`` is 0
    """

    follows = False

    def __init__(self, options: FilterOptions) -> None:
        values = options.values
        for name in ("extension_max_time", "extension_window"):
            if values[name] == 0:
                raise InvalidValueError(
                    f"enforcement.{name}",
                    "must be -1 for no limit, or at least 1 s; extension_max_count = 0 allows no extension",
                )
        self._max_count: int = values["extension_max_count"]
        self._max_time: int = values["extension_max_time"]
        self._max_total: int = values["extension_max_total_time"]
        self._window: int = values["extension_window"]
        self._refused_for: str = values["extension_refused_for"]
        self._exempt_projects = frozenset(values["extension_exempt_project_ids"])
        self._exempt_roles = frozenset(role.lower() for role in values["extension_exempt_roles"])
        self.weighs_others = self._refused_for != "nobody"

    def check_create(self, context: Document, proposal: Proposal) -> None:
        """Allow every lease, as a new lease extends none."""

    def check_update(self, context: Document, change: ChangeProposal) -> None:
        """Refuse an extension that the options do not allow.

        :raises RefusedError: 403, naming the option
        :raises ShorterExtensionError: 403, if a shorter extension would be allowed
        """
        extension = change.extension
        if extension is None or self._is_exempt(context, change.current.project_id):
            return
        field = "end_date" if change.request.kind is LeaseKind.RESERVATION else "duration"
        reason = self._refused_entirely(extension, change.current.now)
        if reason:
            raise RefusedError(403, f"{field}: {reason}", field, reason=RefusalReason.LIMIT)
        left = self._max_total - extension.record.seconds
        if 0 <= self._max_time < extension.added and (self._max_total < 0 or self._max_time <= left):
            raise ShorterExtensionError(
                f"{field}: an extension may add {exactly(self._max_time)} at most ([enforcement] extension_max_time), "
                f"not {_asked(extension)}",
                field,
                self._max_time,
            )
        if self._max_total >= 0 and left < extension.added:
            raise ShorterExtensionError(
                f"{field}: extensions may add {exactly(self._max_total)} to a lease in all ([enforcement] "
                f"extension_max_total_time); {exactly(extension.record.seconds)} were added before, so "
                f"{exactly(max(0, left))} may be added now, not {_asked(extension)}",
                field,
                max(0, left),
            )
        if self._refused_for != "nobody" and extension.delayed:
            raise RefusedError(
                403,
                f"{field}: an extension may not delay leases of other projects ([enforcement] extension_refused_for), "
                f"and this one would delay {extension.delayed}",
                field,
                reason=RefusalReason.LIMIT,
            )

    def on_end(self, lease: Document) -> None:
        """Do nothing, as this filter keeps no count."""

    def _is_exempt(self, context: Document, project_id: str) -> bool:
        roles = {str(role).lower() for role in context.get("roles") or ()}
        return project_id in self._exempt_projects or not self._exempt_roles.isdisjoint(roles)

    def _refused_entirely(self, extension: Extension, now: int) -> str:
        """Return why even the shortest extension is refused, or an empty text."""
        count = extension.record.count
        if 0 <= self._max_count <= count:
            if self._max_count == 0:
                return "leases may not be extended ([enforcement] extension_max_count is 0)"
            return (
                f"a lease may be extended {_times(self._max_count)} ([enforcement] extension_max_count), and this one "
                f"was extended {_times(count)}"
            )
        if self._window >= 0:
            rule = f"a lease may be extended in its last {exactly(self._window)} ([enforcement] extension_window)"
            if extension.latest_end is None:
                return f"{rule}, and the end of this one is not planned yet"
            wait = extension.latest_end - self._window - now
            if wait > 0:
                since = "; they count from the latest end that the lease has had" if extension.cut else ""
                return f"{rule}, which begin in {exactly(wait)}{since}"
        if self._refused_for == "waiting" and extension.waiting:
            return (
                f"a lease may not be extended while leases of other projects wait for hosts ([enforcement] "
                f"extension_refused_for), and {extension.waiting} of them wait"
            )
        return ""


def _asked(extension: Extension) -> str:
    return "to no end at all" if extension.added >= UNLIMITED // 2 else exactly(extension.added)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
