"""Nova's API as a service: its routes, versions and the form of its errors."""

from __future__ import annotations

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.nova.api import (
    actions,
    aggregates,
    attachments,
    flavors,
    hypervisors,
    instance_actions,
    labels,
    migrations,
    server_groups,
    servers,
    services,
)
from lease_scheduler.rehearsal.cloud.nova.api.context import Context

_ROOT = "/v2.1"
_LATEST = (2, 100)

_FAULTS = {
    400: "badRequest",
    401: "unauthorized",
    403: "forbidden",
    404: "itemNotFound",
    405: "badMethod",
    409: "conflictingRequest",
    413: "overLimit",
    501: "notImplemented",
    503: "serviceUnavailable",
}

_RESOURCES = (
    servers,
    actions,
    labels,
    attachments,
    instance_actions,
    migrations,
    flavors,
    aggregates,
    services,
    hypervisors,
    server_groups,
)


class NovaService:
    """Answers requests to Nova.

    :param url: of the service, as the catalogue has it
    """

    def __init__(self, url: str, context: Context) -> None:
        self._url = url
        self._context = context
        self._routes = Routes()
        for each in _RESOURCES:
            each.add_routes(self._routes, context)

    def __call__(self, request: Request) -> Answer:
        """Answer a request."""
        version = request.microversion or (2, 1)
        headers = {
            "OpenStack-API-Version": f"compute {version[0]}.{version[1]}",
            "X-OpenStack-Nova-API-Version": f"{version[0]}.{version[1]}",
            "x-openstack-request-id": f"req-{self._context.store.timing.new_id()}",
        }
        try:
            answer = self._answer(request, version)
        except Refusal as refusal:
            fault = _FAULTS.get(refusal.status, "computeFault")
            answer = Answer(refusal.status, {fault: {"code": refusal.status, "message": refusal.message}})
        return Answer(answer.status, answer.body, {**headers, **answer.headers})

    def _answer(self, request: Request, version: tuple[int, int]) -> Answer:
        path = request.path.rstrip("/")
        if path in ("", _ROOT):
            return self._versions(path)
        if version > _LATEST:
            raise Refusal(406, f"Version {version[0]}.{version[1]} is not supported by the API.")
        self._context.who(request)
        return self._routes.answer(request, path.removeprefix(_ROOT))

    def _versions(self, path: str) -> Answer:
        latest = f"{_LATEST[0]}.{_LATEST[1]}"
        links = [{"rel": "self", "href": f"{self._url}/"}]
        version = {"id": "v2.1", "status": "CURRENT", "version": latest, "min_version": "2.1", "links": links}
        return Answer(200, {"version": version}) if path else Answer(200, {"versions": [version]})
