"""Placement as a service: its routes and the form of its errors."""

from __future__ import annotations

from http import HTTPStatus

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.keystone.tokens import Guard
from lease_scheduler.rehearsal.cloud.placement import allocations, classes, inventories, providers
from lease_scheduler.rehearsal.cloud.placement.store import UNDEFINED, Store
from lease_scheduler.rehearsal.cloud.timing import Timing

_VERSION = {
    "versions": [
        {
            "id": "v1.0",
            "status": "CURRENT",
            "min_version": "1.0",
            "max_version": "1.39",
            "links": [{"rel": "self", "href": ""}],
        }
    ]
}


class PlacementService:
    """Answers requests to Placement.

    :param guard: returns who a token belongs to
    """

    def __init__(self, timing: Timing, guard: Guard, store: Store) -> None:
        self._guard = guard
        self._timing = timing
        self._routes = Routes()
        for add in (providers.add_routes, inventories.add_routes, allocations.add_routes, classes.add_routes):
            add(self._routes, store)

    def __call__(self, request: Request) -> Answer:
        """Answer a request."""
        try:
            if request.path == "/":
                return Answer(200, _VERSION)
            if not self._guard(request).is_admin:
                raise Refusal(403, "Policy does not allow this request to be performed.")
            answer = self._routes.answer(request, request.path)
        except Refusal as refusal:
            return self._error(refusal)
        _, minor = request.microversion or (1, 0)
        return Answer(answer.status, answer.body, {**answer.headers, "openstack-api-version": f"placement 1.{minor}"})

    def _error(self, refusal: Refusal) -> Answer:
        error = {
            "status": refusal.status,
            "title": HTTPStatus(refusal.status).phrase,
            "detail": f"{refusal.message}  ",
            "code": refusal.code or UNDEFINED,
            "request_id": f"req-{self._timing.new_id()}",
        }
        return Answer(refusal.status, {"errors": [error]})
