"""Accounts of usage, revenue, delays and capacity, summed by the database.

A year may have a million records, so only sums leave the database. Intervals are grouped by the steps in which they
begin and end, and by the size of the lease.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Subquery, Text, case, cast, func, literal, select

from lease_scheduler.model.delays import SLOWDOWN_BOUND
from lease_scheduler.model.documents import Document
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.occupation import occupation
from lease_scheduler.model.providers import together
from lease_scheduler.model.states import LeaseState
from lease_scheduler.store.sql import capacity
from lease_scheduler.store.sql.schema import HOLDINGS, HOSTS, LEASES, REVENUE, USAGE


class UsageReader:
    """Reader of accounts for ``[start, end)``.

    :param project_id: project to report; None for all projects
    :param step: length of a step in seconds; None for a single step. Steps begin at its multiples since the epoch,
        the first one at ``start``.
    """

    def __init__(
        self, connection: Connection, project_id: str | None, start: int, end: int, step: int | None = None
    ) -> None:
        self._connection = connection
        self._project_id = project_id
        self._start = start
        self._end = end
        # A step of this length covers the whole interval.
        self._step = end + 1 if step is None else step

    # -- usage -------------------------------------------------------------------------------------------

    def usage(self, now: int) -> list[Document]:
        """See ``api.interfaces.Reader.usage``."""
        found: dict[tuple[str, str, str, int], Document] = {}
        # Many leases have the same size, so each distinct text is parsed once.
        known: dict[str, Mapping[str, int]] = {}
        for row in self._sums():
            resources = known.get(row.resources)
            if resources is None:
                resources = known[row.resources] = json.loads(row.resources)
            for beginning, seconds in self._parts(row):
                _add(found, (row.project_id, row.kind, row.phase, beginning), seconds, row.nodes, resources)
        for project_id, kind, since, nodes, resources in self._running():
            until = min(self._end, now)
            for beginning, seconds in self._split(max(self._start, since), until):
                _add(found, (project_id, kind, "run", beginning), seconds, nodes, resources)
        return list(found.values())

    def _sums(self) -> Iterable[Any]:
        """Return finished intervals, summed where project, kind, phase, size and steps are the same."""
        rows = self._intervals()
        keys = [rows.c[name] for name in ("project_id", "kind", "phase", "nodes", "resources", "first", "last")]
        query = select(
            *keys,
            func.count().label("number"),
            func.sum(rows.c.finish - rows.c.begin).label("total"),
            func.sum(rows.c.first + self._step - rows.c.begin).label("head"),
            func.sum(rows.c.finish - rows.c.last).label("tail"),
        )
        return self._connection.execute(query.group_by(*keys))

    def _intervals(self) -> Subquery:
        """Select the part of each interval within ``[start, end)``, with the beginnings of its first and last step.

        Steps are computed with remainders, which are exact in every database; quotients are not.
        """
        begin = case((USAGE.c.start < self._start, literal(self._start)), else_=USAGE.c.start)
        finish = case((USAGE.c.end > self._end, literal(self._end)), else_=USAGE.c.end)
        query = select(
            USAGE.c.project_id,
            USAGE.c.kind,
            USAGE.c.phase,
            USAGE.c.nodes,
            cast(USAGE.c.resources, Text).label("resources"),
            begin.label("begin"),
            finish.label("finish"),
        ).where(USAGE.c.end > self._start, USAGE.c.start < self._end)
        if self._project_id is not None:
            query = query.where(USAGE.c.project_id == self._project_id)
        cut = query.subquery("cut")
        return select(
            cut,
            self._step_of(cut.c.begin).label("first"),
            self._step_of(cut.c.finish - 1).label("last"),
        ).subquery("intervals")

    def _step_of(self, instant: ColumnElement[Any]) -> ColumnElement[Any]:
        return instant - instant % literal(self._step)

    def _parts(self, row: Any) -> Iterator[tuple[int, int]]:
        """Yield each step of a sum of intervals: (beginning, seconds of the intervals in it)."""
        if row.first == row.last:
            yield self._beginning(row.first), int(row.total)
            return
        yield self._beginning(row.first), int(row.head)
        for step in range(row.first + self._step, row.last, self._step):
            yield step, self._step * int(row.number)
        yield row.last, int(row.tail)

    def _split(self, begin: int, finish: int) -> Iterator[tuple[int, int]]:
        while begin < finish:
            step = begin - begin % self._step
            until = min(finish, step + self._step)
            yield self._beginning(step), until - begin
            begin = until

    def _beginning(self, step: int) -> int:
        return max(self._start, step)

    def _running(self) -> Iterator[tuple[str, str, int, int, Mapping[str, int]]]:
        """Yield the leases that run now: (project, kind, running since, number of nodes, resources of all nodes)."""
        columns = (HOSTS.c.id, HOSTS.c.capacity, HOSTS.c.providers)
        of_host = {
            str(row.id): together(row.capacity, (each["capacity"] for each in row.providers or ()))
            for row in self._connection.execute(select(*columns))
        }
        running = select(LEASES, HOLDINGS.c.hosts).join(HOLDINGS, HOLDINGS.c.lease_id == LEASES.c.id)
        running = running.where(LEASES.c.active_since.is_not(None), HOLDINGS.c.position == 0)
        if self._project_id is not None:
            running = running.where(LEASES.c.project_id == self._project_id)
        for row in self._connection.execute(running).mappings():
            nodes, resources = occupation(
                [(node_set["count"], _needs(node_set)) for node_set in row["nodes"]],
                [of_host.get(host, {}) for host in row["hosts"]],
            )
            yield row["project_id"], row["kind"], row["active_since"], nodes, resources

    # -- revenue -----------------------------------------------------------------------------------------

    def revenue(self) -> list[Document]:
        """See ``api.interfaces.Reader.revenue``."""
        price = func.coalesce(REVENUE.c.price, 0.0)
        # A missed request is worth the most that the project would have paid, or its price if that is not known.
        worth = func.coalesce(REVENUE.c.max_price, REVENUE.c.price, 0.0)
        clamped = case((REVENUE.c.instant < self._start, literal(self._start)), else_=REVENUE.c.instant)
        records = select(
            REVENUE.c.project_id,
            REVENUE.c.outcome,
            price.label("price"),
            worth.label("worth"),
            case((worth > price, worth - price), else_=0.0).label("beyond"),
            self._step_of(clamped).label("step"),
        ).where(REVENUE.c.instant >= self._start, REVENUE.c.instant < self._end)
        if self._project_id is not None:
            records = records.where(REVENUE.c.project_id == self._project_id)
        rows = records.subquery("records")
        keys = [rows.c.project_id, rows.c.step, rows.c.outcome]
        sums = [func.sum(rows.c[name]).label(name) for name in ("price", "worth", "beyond")]
        found: dict[tuple[str, int], Document] = {}
        for row in self._connection.execute(select(*keys, *sums).group_by(*keys).order_by(*keys)):
            nothing = {"earned": 0.0, "undercharged": 0.0, "rejected": 0.0, "rejected_by_user": 0.0}
            key = (row.project_id, self._beginning(row.step))
            entry = found.setdefault(key, {"project_id": key[0], "start": key[1], **nothing})
            if row.outcome == "earned":
                entry["earned"] += float(row.price)
                entry["undercharged"] += float(row.beyond)
            else:
                entry[row.outcome] += float(row.worth)
        return list(found.values())

    # -- delays ------------------------------------------------------------------------------------------

    def delays(self) -> list[Document]:
        """See ``api.interfaces.Reader.delays``."""
        earliest = func.coalesce(LEASES.c.requested_start, LEASES.c.submitted)
        is_deadline = LEASES.c.kind == LeaseKind.DEADLINE.value
        run_time = case((is_deadline, LEASES.c.duration), else_=LEASES.c.accumulated)
        bounded = case((run_time < SLOWDOWN_BOUND, literal(SLOWDOWN_BOUND)), else_=run_time)
        query = select(
            LEASES.c.project_id,
            LEASES.c.kind,
            func.count().label("done"),
            func.avg(LEASES.c.started - earliest).label("wait"),
            func.avg((LEASES.c.ended - earliest) * 1.0 / bounded).label("slowdown"),
        ).where(LEASES.c.ended >= self._start, LEASES.c.ended < self._end, LEASES.c.state == LeaseState.DONE.value)
        if self._project_id is not None:
            query = query.where(LEASES.c.project_id == self._project_id)
        return [
            {
                "project_id": row.project_id,
                "kind": row.kind,
                "done": row.done,
                "mean_wait": _mean(row.wait, row.kind),
                "mean_bounded_slowdown": _mean(row.slowdown, row.kind),
            }
            for row in self._connection.execute(query.group_by(LEASES.c.project_id, LEASES.c.kind))
        ]

    # -- capacity ----------------------------------------------------------------------------------------

    def capacity(self) -> list[Document]:
        """See ``api.interfaces.Reader.capacity``."""
        there = capacity.at(self._connection, self._start)
        changes, found = deque(capacity.changes(self._connection, self._start, self._end)), []
        for beginning, seconds in self._split(self._start, self._end):
            end = beginning + seconds
            amounts = Counter({name: amount * seconds for name, amount in there.items()})
            while changes and changes[0][0] < end:
                instant, name, change = changes.popleft()
                there[name] += change
                amounts[name] += change * (end - instant)
            found.append({"start": beginning, "end": end, "resource_seconds": dict(+amounts)})
        return found


def used(connection: Connection, project_id: str, start: int, now: int) -> tuple[int, dict[str, int]]:
    """Return the node-seconds and resource-seconds that a project used in ``[start, now)``, running leases included."""
    if start >= now:
        return 0, {}
    rows = UsageReader(connection, project_id, start, now).usage(now)
    resources: Counter[str] = Counter()
    for row in rows:
        resources.update(row["resource_seconds"])
    return sum(row["node_seconds"] for row in rows), dict(resources)


def unaccepted_seconds(connection: Connection, project_id: str, since: int) -> int:
    """Return how many seconds a project's unaccepted offers were held. Only offers that ended after ``since`` count."""
    seconds = select(func.sum(LEASES.c.ended - LEASES.c.submitted)).where(
        LEASES.c.project_id == project_id,
        LEASES.c.state == LeaseState.REJECTED_BY_USER.value,
        LEASES.c.ended > since,
    )
    return int(connection.execute(seconds).scalar() or 0)


def _mean(value: Any, kind: str) -> float | None:
    """Return an average, or None for reservations, whose start the project chooses."""
    return None if value is None or kind == LeaseKind.RESERVATION.value else float(value)


def _add(
    found: dict[tuple[str, str, str, int], Document],
    key: tuple[str, str, str, int],
    seconds: int,
    nodes: int,
    resources: Mapping[str, int],
) -> None:
    project_id, kind, phase, beginning = key
    entry = found.setdefault(
        key,
        {
            "project_id": project_id,
            "kind": kind,
            "phase": phase,
            "start": beginning,
            "node_seconds": 0,
            "resource_seconds": {},
        },
    )
    entry["node_seconds"] += seconds * nodes
    for name, amount in resources.items():
        entry["resource_seconds"][name] = entry["resource_seconds"].get(name, 0) + seconds * amount


def _needs(node_set: Mapping[str, Any]) -> Mapping[str, int]:
    """Return what each node of a node set needs, from its host and its nested providers together."""
    return together(node_set["resources"], (group["resources"] for group in node_set.get("groups", ())))
