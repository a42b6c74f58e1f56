"""Leases of the calendar page, each written as JSON once for all who may see it.

Three parts of a lease depend on the caller, or change without the lease: whether its name is shown, whether it may be
changed, and its place in the queue. They are added to the text when an answer is put together.
"""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.documents import Document
from lease_scheduler.records.json_text import to_json

_NAMES = ("name", "project_id", "reason")
_ADDED = frozenset({*_NAMES, "queue_position", "may_change"})
_NAMELESS = to_json(dict.fromkeys(_NAMES, ""))[1:-1].decode()


@dataclass(frozen=True, slots=True)
class LeasePart:
    """A lease of the calendar page.

    :ivar common: members of its JSON object that everybody who sees the lease may see
    :ivar names: members with its name, project and reason
    :ivar spans: intervals in which it holds or held hosts: (start, end)
    :ivar hosts: ids of all hosts that it holds or held
    """

    lease_id: str
    revision: int
    project_id: str
    common: str
    names: str
    spans: tuple[tuple[int, int], ...]
    hosts: frozenset[str]

    @classmethod
    def of(cls, lease: Document) -> LeasePart:
        """Return the part of a lease.

        :param lease: as ``Reader.calendar_leases`` returns it
        """
        held = (*lease["holdings"], *lease["past"])
        return cls(
            lease_id=lease["id"],
            revision=lease["revision"],
            project_id=lease["project_id"],
            common=_members({key: value for key, value in lease.items() if key not in _ADDED}),
            names=_members({name: lease[name] for name in _NAMES}),
            spans=tuple((each["start"], each["end"]) for each in held),
            hosts=frozenset(host for each in held for host in each["hosts"]),
        )

    @property
    def size(self) -> int:
        """Approximate number of bytes that it takes in memory."""
        return 500 + len(self.common) + len(self.names) + 100 * len(self.spans) + 60 * len(self.hosts)

    def text(self, queue_position: int | None, *, may_change: bool, with_names: bool) -> str:
        """Return the lease as JSON.

        :param queue_position: place in the queue, from 1 on; None if the lease is not queued
        :param may_change: whether the caller may change the lease
        :param with_names: whether the caller may see whose lease it is
        """
        names = self.names if with_names else _NAMELESS
        place = "null" if queue_position is None else queue_position
        changes = "true" if may_change else "false"
        return f'{{{self.common}, {names}, "queue_position": {place}, "may_change": {changes}}}'


def _members(document: Document) -> str:
    return to_json(document)[1:-1].decode()
