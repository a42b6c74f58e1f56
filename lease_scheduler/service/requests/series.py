"""Series of leases, which repeat by a rule."""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat
from uuid import UUID, uuid5

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.states import LeaseState
from lease_scheduler.records.series import SeriesRecord
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.requests.leases import Leases

_NOT_STARTED = frozenset(
    {LeaseState.PENDING, LeaseState.QUEUED, LeaseState.SCHEDULED, LeaseState.PREPARING, LeaseState.READY}
)


class SeriesKeeper:
    """Operations that create and delete series. Every occurrence of the rule is a lease; all are requested at once.

    :param site: the plan of the site
    :param leases: makes the leases
    """

    def __init__(self, site: SiteTransactions, leases: Leases) -> None:
        self._site = site
        self._leases = leases

    @answers(EngineRequests.create_series)
    def create(self, context: Document, series: Document) -> Document:
        """Make the leases of a series. The answer names the occurrences for which there is no place.

        :raises RefusedError: there is no place for any of them
        """
        site = self._site
        first, starts = series["lease"], series["starts"]
        with site.request(context):
            record = SeriesRecord(
                series_id=series["id"],
                project_id=series["project_id"],
                user_id=series["user_id"],
                name=series["name"],
                rule=series["rule"],
                template=dict(first),
                planned_until=starts[-1],
                created_at=site.work.now,
                time_zone=series.get("time_zone"),
            )
            site.records.put_series(record)
        made: list[str] = []
        refused: list[Document] = []
        last: RefusedError | None = None
        for start, trust_id in zip(starts, series.get("trusts") or repeat(None), strict=False):
            lease = {**occurrence(first, series["id"], start), "trust_id": trust_id}
            try:
                made.append(self._leases.create(context, lease)["lease_id"])
            except RefusedError as error:
                last = error
                refused.append({"start": start, "message": error.message})
        if not made and last is not None:
            with site.transaction():
                site.records.put_series(replace(record, deleted_at=site.work.now))
            raise last
        return {"series_id": series["id"], "leases": made, "refused": refused}

    @answers(EngineRequests.delete_series)
    def delete(self, context: Document, series_id: str) -> Document:
        """End a series, and delete its leases that have not started."""
        site = self._site
        with site.inquiry(context):
            record = site.records.series.get(series_id)
            if record is None:
                raise RefusedError(404, f"there is no series {series_id}")
            waiting = [
                lease_id
                for lease_id, document in site.work.documents.items()
                if document.series_id == series_id and site.work.leases[lease_id].state in _NOT_STARTED
            ]
        for lease_id in waiting:
            self._leases.delete(context, lease_id, "its series was deleted")
        with site.request(context):
            site.records.put_series(replace(record, deleted_at=site.work.now))
        return {}


def occurrence(first: Document, series_id: str, start: int) -> Document:
    """Return the lease document of an occurrence: the document of the first one, moved to the start of this one."""
    later = start - first["start"]
    if later == 0:
        return {**first, "series_id": series_id}
    lease_id = str(uuid5(UUID(series_id), str(start)))
    moved = {
        key: first[key] + later for key in ("start", "end", "deadline", "before_end") if first.get(key) is not None
    }
    reservations = [
        {**reservation, "id": str(uuid5(UUID(lease_id), str(position)))}
        for position, reservation in enumerate(first["reservations"])
    ]
    return {**first, **moved, "id": lease_id, "series_id": series_id, "reservations": reservations}
