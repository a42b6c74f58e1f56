"""Keystone as a service: its routes, its catalogue and the form of its errors."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from lease_scheduler.rehearsal.cloud.http import Answer, Refusal, Request, Routes
from lease_scheduler.rehearsal.cloud.keystone import projects, tokens, trusts
from lease_scheduler.rehearsal.cloud.keystone.store import Store

#: Name of the only region.
REGION = "RegionOne"

_INTERFACES = ("public", "internal", "admin")


def catalogue(urls: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the catalogue of services as tokens show it.

    :param urls: type of a service -> its URL
    """
    return [
        {
            "id": kind,
            "type": kind,
            "name": kind,
            "endpoints": [
                {
                    "id": f"{kind}-{interface}",
                    "interface": interface,
                    "region": REGION,
                    "region_id": REGION,
                    "url": url,
                }
                for interface in _INTERFACES
            ],
        }
        for kind, url in urls.items()
    ]


class KeystoneService:
    """Answers requests to Keystone.

    :param urls: type of a service -> its URL
    """

    def __init__(self, store: Store, urls: Mapping[str, str]) -> None:
        self._url = urls["identity"]
        self._routes = Routes()
        tokens.add_routes(self._routes, store, catalogue(urls))
        trusts.add_routes(self._routes, store)
        projects.add_routes(self._routes, store)

    def __call__(self, request: Request) -> Answer:
        """Answer a request."""
        try:
            if request.path.rstrip("/") in ("", "/v3"):
                return self._versions(request.path.rstrip("/"))
            return self._routes.answer(request, request.path)
        except Refusal as refusal:
            title = HTTPStatus(refusal.status).phrase
            return Answer(
                refusal.status, {"error": {"code": refusal.status, "message": refusal.message, "title": title}}
            )

    def _versions(self, path: str) -> Answer:
        version = {"id": "v3.14", "status": "stable", "links": [{"rel": "self", "href": f"{self._url}/"}]}
        if path == "/v3":
            return Answer(200, {"version": version})
        return Answer(300, {"versions": {"values": [version]}})
