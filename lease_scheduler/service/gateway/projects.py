"""Projects at the members to which the leases of a gateway belong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lease_scheduler.federation.answers import Refusal
from lease_scheduler.federation.asks import Ask
from lease_scheduler.model.refusals import RefusalReason


class ProjectsMode(StrEnum):
    """How the project at a member follows from that of the tenant; the value is the word in options."""

    #: All leases belong to the project of the gateway's user there.
    GATEWAY = "gateway"
    #: Projects have the same ids at the gateway and at all members.
    OWN = "own"
    #: A table for each member says it.
    MAPPED = "mapped"


@dataclass(frozen=True)
class Projects:
    """Projects at the members.

    :ivar mode: how they follow from those of tenants
    :ivar tables: member -> project at the gateway -> project at the member, for ``MAPPED``
    """

    mode: ProjectsMode = ProjectsMode.GATEWAY
    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)

    def at_members(self, project_id: str, members: Iterable[str]) -> dict[str, str]:
        """Return the project at each member to which leases of a project belong; members without one are left out."""
        match self.mode:
            case ProjectsMode.GATEWAY:
                return {}
            case ProjectsMode.OWN:
                return dict.fromkeys(members, project_id)
            case ProjectsMode.MAPPED:
                return {each: there for each in members if (there := self.tables.get(each, {}).get(project_id))}

    def refusal(self, ask: Ask, member: str) -> Refusal | None:
        """Return why a member must not be asked, or None if it may: the project of the tenant has none there."""
        if self.mode is ProjectsMode.GATEWAY or member in ask.projects:
            return None
        message = "has no project for yours; ask the operator of the gateway to map it"
        return Refusal(member, RefusalReason.PROJECT, message)
