"""Which projects may use the pools of a site."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class PoolRule:
    """Projects and roles that may use a pool. If it has neither, every project may.

    :ivar name: name of the pool
    :ivar projects: ids of projects that may use it
    :ivar roles: roles that allow their holders to use it, in small letters
    """

    name: str
    projects: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()

    def allows(self, project_id: str, roles: Collection[str]) -> bool:
        """Return whether a project may use the pool.

        :param roles: roles of the caller in the project, in small letters
        """
        if not self.projects and not self.roles:
            return True
        return project_id in self.projects or not self.roles.isdisjoint(roles)


def usable(rules: Iterable[PoolRule], project_id: str, roles: Collection[str]) -> list[str]:
    """Return the names of the pools that a project may use, in the order of the rules."""
    return [rule.name for rule in rules if rule.allows(project_id, roles)]
