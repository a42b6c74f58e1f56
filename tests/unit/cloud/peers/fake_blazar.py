"""Blazar's API v1 in memory, without sockets, as far as a member uses it, and with the faults that it may have."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import requests
from requests.adapters import BaseAdapter

URL = "http://site.example/v1"


def date(instant: int) -> str:
    """Return a date as Blazar shows it."""
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%S.000000")


@dataclass
class FakeBlazar(BaseAdapter):
    """Blazar with one kind of instance, of which there are ``places``.

    :ivar now: the present instant
    :ivar leases: what it has, by id
    :ivar calls: method and path of each request
    :ivar lost: number of the next answers to POST that are lost after the request was done
    :ivar late: requests to create a lease that are done only with ``deliver``; None to do all of them at once
    :ivar failure: status and message with which the next changing request fails
    """

    now: int
    places: int = 2
    leases: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    lost: int = 0
    late: list[dict[str, Any]] | None = None
    failure: tuple[int, str] | None = None

    def send(self, request: Any, **_: Any) -> requests.Response:  # type: ignore[override]
        """Answer a request."""
        path = request.url.removeprefix(URL)
        self.calls.append((request.method, path))
        body = json.loads(request.body) if request.body else {}
        if request.method != "GET" and self.failure is not None:
            (status, message), self.failure = self.failure, None
            found: tuple[int, Any] = (status, {"error_code": status, "error_message": message, "error_name": status})
        elif request.method == "POST" and self.late is not None:
            self.late.append(body)
            raise requests.exceptions.ReadTimeout
        else:
            found = self._answer(request.method, path, body)
        if request.method == "POST" and self.lost:
            self.lost -= 1
            raise requests.exceptions.ConnectionError
        response = requests.Response()
        response.status_code, response.request, response.url = found[0], request, request.url
        response._content = b"" if found[1] is None else json.dumps(found[1]).encode()
        return response

    def close(self) -> None:
        """Do nothing."""

    def deliver(self) -> None:
        """Do the requests that were late."""
        waiting, self.late = self.late or [], None
        for body in waiting:
            self._answer("POST", "/leases", body)

    def _answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        _, what, *rest = path.split("/")
        if what == "os-hosts":
            return 200, {"hosts": [{"vcpus": 8, "memory_mb": 1024, "local_gb": 50, "reservable": True}] * self.places}
        if not rest:
            if method == "GET":
                return 200, {"leases": list(self.leases.values())}
            return self._saved(str(uuid4()), body, {})
        if rest[0] not in self.leases:
            return 404, {"error_code": 404, "error_message": "Object with id not found", "error_name": 404}
        if method == "DELETE":
            del self.leases[rest[0]]
            return 204, None
        return self._saved(rest[0], body, self.leases[rest[0]])

    def _saved(self, lease_id: str, body: dict[str, Any], before: dict[str, Any]) -> tuple[int, Any]:
        times = {key: self._instant(body[key]) for key in ("start_date", "end_date") if key in body}
        reservations = before.get("reservations") or [{"id": str(uuid4()), **each} for each in body["reservations"]]
        for change in body.get("reservations", ()) if before else ():
            reservations = [{**each, **(change if each["id"] == change["id"] else {})} for each in reservations]
        start = times.get("start_date", before.get("start", 0))
        if not before and start < self.now // 60 * 60:
            message = "Start date must be later than current date"
            return 400, {"error_code": 400, "error_message": message, "error_name": 400}
        others = [each for each in self.leases.values() if each["id"] != lease_id]
        taken = sum(self._amount(each["reservations"]) for each in others)
        if taken + self._amount(reservations) > self.places:
            return 500, {"error_code": 500, "error_message": "Not enough hosts available", "error_name": 500}
        lease = {
            "id": lease_id,
            "name": body.get("name", before.get("name")),
            "status": before.get("status", "PENDING"),
            "created_at": before.get("created_at", f"{date(self.now)[:19].replace('T', ' ')}"),
            "updated_at": None,
            "start": start,
            "start_date": date(start),
            "end_date": date(times["end_date"]) if "end_date" in times else before["end_date"],
            "reservations": reservations,
        }
        self.leases[lease_id] = lease
        return (200 if before else 201), {"lease": lease}

    def _instant(self, text: str) -> int:
        if text == "now":
            return self.now // 60 * 60
        return int(datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=UTC).timestamp())

    def _amount(self, reservations: list[dict[str, Any]]) -> int:
        return sum(each.get("amount", each.get("max", 0)) for each in reservations)
