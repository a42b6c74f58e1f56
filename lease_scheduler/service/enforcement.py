"""Limits and filters that are asked before a lease is made or changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, Protocol

from lease_scheduler.engine.records import LeaseDocument
from lease_scheduler.model.lease import Lease

Document = Mapping[str, Any]


class UsageFilter(Protocol):
    """Says no to leases that use too much (Blazar's usage enforcement); each refusal is a ``RefusedError``."""

    def check_create(
        self, context: Document, lease: Document, hosts: Sequence[Document], live: Sequence[tuple[Lease, LeaseDocument]]
    ) -> None:
        """A lease is about to be made.

        :param hosts: those that it would get
        :param live: the live leases of its project
        """
        ...

    def check_update(self, context: Document, current: Document, changes: Document) -> None:
        """A lease is about to be changed."""
        ...

    def on_end(self, context: Document, lease: Document) -> None:
        """A lease is over."""
        ...


class Enforcement:
    """Asks one filter after the other.

    :param filters: in order
    """

    def __init__(self, filters: Sequence[UsageFilter] = ()) -> None:
        self._filters = tuple(filters)
        self._locks: defaultdict[str, Lock] = defaultdict(Lock)

    @property
    def is_on(self) -> bool:
        """Whether there is anything to ask."""
        return bool(self._filters)

    @contextmanager
    def one_at_a_time(self, project_id: str) -> Iterator[None]:
        """Two leases of one project are not checked at the same time, or both could use the same rest of a limit."""
        if not self._filters:
            yield
            return
        with self._locks[project_id]:
            yield

    def check_create(
        self, context: Document, lease: Document, hosts: Sequence[Document], live: Sequence[tuple[Lease, LeaseDocument]]
    ) -> None:
        """See ``UsageFilter.check_create``."""
        for usage_filter in self._filters:
            usage_filter.check_create(context, lease, hosts, live)

    def check_update(self, context: Document, current: Document, changes: Document) -> None:
        """See ``UsageFilter.check_update``."""
        for usage_filter in self._filters:
            usage_filter.check_update(context, current, changes)

    def on_end(self, context: Document, lease: Document) -> None:
        """See ``UsageFilter.on_end``."""
        for usage_filter in self._filters:
            usage_filter.on_end(context, lease)
