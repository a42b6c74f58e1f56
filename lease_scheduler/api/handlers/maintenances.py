"""Maintenances: leases of administrators that keep hosts free of other leases."""

from __future__ import annotations

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.handlers.leases import shown, shown_again
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.api.requests.lease import new_lease
from lease_scheduler.api.requests.reservation import maintenance_reservation


def list_maintenances(request: ApiRequest) -> Answer:
    """List all maintenances."""
    views = request.reader.leases({"maintenance": True})
    return Answer({"maintenances": [shown(request, view) for view in views]})


def create_maintenance(request: ApiRequest) -> Answer:
    """Keep hosts free for some time. Leases on them that have not started are moved elsewhere."""
    body = request.body
    times = {key: body[key] for key in ("name", "start_date", "end_date", "duration") if key in body}
    lease = new_lease(times, (), request.caller, request.now, request.version)
    lease["maintenance"] = True
    lease["reservations"] = [maintenance_reservation(_names(request, body["hosts"]))]
    request.engine.create_lease(request.context(), lease)
    return Answer({"maintenance": shown_again(request, lease["id"])})


def _names(request: ApiRequest, asked: list[str]) -> list[str]:
    hosts = request.reader.hosts()
    names = {host["name"] for host in hosts}
    by_id = {str(host["id"]): host["name"] for host in hosts}
    found: list[str] = []
    for number, host in enumerate(asked):
        name = host if host in names else by_id.get(host)
        if name is None:
            raise ApiError(400, f"hosts[{number}]: there is no host {host}", f"hosts[{number}]")
        if name not in found:
            found.append(name)
    return found
