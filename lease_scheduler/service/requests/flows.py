"""Flows: the projects among which the site is shared, with their weights."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.subjects import checked_subject
from lease_scheduler.model.weights import checked_weight
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.transactions import SiteTransactions

#: Fields of a report with values by lease.
_OF_LEASES = ("positions", "expected", "blocked")


class FlowKeeper:
    """Shows flows, and sets their weights.

    :param site: the plan of the site
    """

    def __init__(self, site: SiteTransactions) -> None:
        self._site = site

    @answers(EngineRequests.list_flows)
    def list(self, context: Document) -> Document:
        """Return the flows that have had leases, and those with a weight."""
        site = self._site
        with site.inquiry(context):
            # Each pool is shared separately. The answer has the policy of the first pool.
            queueing = site.engine.policies(next(iter(site.parts))).queueing
            weights = site.weights
            shown: dict[str, dict[str, Any]] = {
                name: {"name": name, "weight": weight, "share": None, "behind": 0.0, "queued": 0, "leases": []}
                for name, weight in weights.present.items()
            }
            seen: set[str] = set()
            for report in (each for pool in site.parts for each in site.flow_reports(pool)):
                leases = [
                    {
                        "lease_id": lease_id,
                        "position": position,
                        "expected_start": report.expected.get(lease_id),
                        "blocked": report.blocked.get(lease_id),
                    }
                    for lease_id, position in report.positions.items()
                ]
                known = {key: value for key, value in asdict(report).items() if key not in _OF_LEASES}
                if report.name in seen:
                    shown[report.name]["queued"] += report.queued
                    shown[report.name]["leases"] += leases
                    continue
                seen.add(report.name)
                shown[report.name] = {**known, "leases": leases}
            for name, flow in shown.items():
                flow["source"] = weights.source(name)
        return {"policy": queueing.name, "flows": [shown[name] for name in sorted(shown)]}

    @answers(EngineRequests.set_flow)
    def set(self, context: Document, name: str, weight: float | None) -> Document:
        """Set the weight of a flow, or return to its configured weight if it is None.

        :raises RefusedError: 400, the weight or the name is not valid
        """
        site = self._site
        with site.request(context):
            try:
                checked_subject("flow", name)
                checked = None if weight is None else checked_weight("weight", weight)
            except InvalidValueError as error:
                raise RefusedError(400, str(error), error.field) from error
            site.set_weight(name, checked)
        return {}
