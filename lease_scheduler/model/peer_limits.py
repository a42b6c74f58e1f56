"""What a peer, such as another site or a gateway, may have on this site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind

#: In place of a list of projects: all projects of the site.
ALL_PROJECTS = "all"


@dataclass(frozen=True)
class PeerLimits:
    """Limits of a peer. None is no limit.

    :ivar kinds: kinds of its leases
    :ivar max_nodes: nodes that its leases have at any instant; nodes of leases that wait count always
    :ivar max_share: largest share of a resource class of the site that these nodes need, 0..1
    :ivar max_node_hours: node-hours that its live leases still come to
    :ivar max_offers: number of leases that are held for it at the same time
    :ivar max_cost: money that its live leases cost together; beyond it, the peer gets no further lease
    :ivar projects: ids of the projects of this site for which it may request leases. In its own project it may do so
        in any case, without naming it
    :raises InvalidValueError: a field is wrong; the error names it
    """

    kinds: frozenset[LeaseKind] | None = None
    max_nodes: int | None = None
    max_share: float | None = None
    max_node_hours: float | None = None
    max_offers: int | None = None
    max_cost: float | None = None
    projects: frozenset[str] | None = frozenset()

    def __post_init__(self) -> None:
        for name in ("max_nodes", "max_share", "max_node_hours", "max_offers", "max_cost"):
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and value >= 0):
                raise InvalidValueError(name, f"must be at least 0, or null for no limit, not {value}")
        if self.max_share is not None and self.max_share > 1:
            raise InvalidValueError("max_share", f"is a share of the site, at most 1, not {self.max_share}")

    def plain(self) -> dict[str, Any]:
        """Return the limits as JSON values. For ``projects``, no limit is the word ``ALL_PROJECTS``."""
        kinds = None if self.kinds is None else sorted(kind.value for kind in self.kinds)
        projects = ALL_PROJECTS if self.projects is None else sorted(self.projects)
        return {**{each.name: getattr(self, each.name) for each in fields(self)}, "projects": projects, "kinds": kinds}

    def may_lease_for(self, project_id: str) -> bool:
        """Return whether the peer may request leases for a project of this site."""
        return self.projects is None or project_id in self.projects


def peer_limits_of(values: Mapping[str, Any]) -> PeerLimits:
    """Return limits from the JSON values of ``PeerLimits.plain``.

    What is left out is no limit, but without ``projects`` the peer may request leases for no project but its own.

    :raises InvalidValueError: a value is wrong; the error names it
    """
    kinds = values.get("kinds")
    known = {kind.value: kind for kind in LeaseKind}
    for name in kinds or ():
        if name not in known:
            raise InvalidValueError("kinds", f"has {name!r}; kinds are {', '.join(known)}")
    allowed = None if kinds is None else frozenset(known[name] for name in kinds)
    projects = values.get("projects") or ()
    of_projects = None if projects == ALL_PROJECTS else frozenset(projects)
    return PeerLimits(**{**values, "projects": of_projects, "kinds": allowed})
