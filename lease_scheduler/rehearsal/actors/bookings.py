"""What tenants do with leases: each verb is one visit to the service."""

from __future__ import annotations

import time
from calendar import timegm
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Protocol
from uuid import UUID

import requests

from lease_scheduler.rehearsal.actors.clients import NO_ANSWER
from lease_scheduler.rehearsal.story import Ledger, Story

#: Number of times that a request is sent again to which there was no answer, and seconds in between.
_RETRIES, _PAUSE = 6, 20.0

_KINDS = ("immediate", "best-effort", "reservation", "deadline")


class Client(Protocol):
    """Somebody who uses the service (see ``clients.Person``).

    :ivar nova: their client of Nova; None where the cloud of the world has no Nova
    """

    nova: Any

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> requests.Response:
        """Send a request and return the answer."""
        ...


class Desk:
    """A tenant at work: who they are, what they remember, and the random numbers that they decide by.

    :param name: name of the person, with which the names of their leases begin; None for that of the project
    :ivar mine: ids of the leases that they believe to have, the latest last
    :ivar past: ids of those that they have ended
    :ivar sizes: lease -> number of its nodes
    :ivar held: ids of offers
    """

    def __init__(
        self, client: Client, project: str, random: Random, story: Story, ledger: Ledger, name: str | None = None
    ) -> None:
        self.client, self.project, self.random, self.story, self.ledger = client, project, random, story, ledger
        self.name = name or project
        self.mine: list[str] = []
        self.past: list[str] = []
        self.sizes: dict[str, int] = {}
        self.held: list[str] = []
        self._number = 0

    def tell(self, what: str, lease_id: str = "") -> None:
        """Add something to the story."""
        self.story.tell(self.name, what, lease_id)

    def some_lease(self) -> str | None:
        """Return one of the leases, or None if there is none."""
        return self.random.choice(self.mine) if self.mine else None

    def terms(self) -> dict[str, Any]:
        """Return the terms of a lease that nobody has asked for before."""
        random, now = self.random, int(time.time())
        self._number += 1
        kind, duration = random.choice(_KINDS), random.choice((60, 120, 300, 900, 1_800, 3_600))
        nodes: dict[str, Any] = {
            "count": random.randint(1, 3),
            "resources": {"VCPU": random.choice((1, 2, 4, 8)), "MEMORY_MB": 1024, "DISK_GB": 5},
        }
        if random.random() < 0.3:
            nodes["exclusive"] = True
        lease: dict[str, Any] = {"name": f"{self.name}-{self._number}", "kind": kind, "nodes": [nodes]}
        if random.random() < 0.3 and kind == "best-effort":
            lease["preemption_mode"] = random.choice(("shelve", "suspend", "stop", "delete"))
        if kind == "reservation":
            start = now + random.choice((60, 120, 300, 900, 2_400))
            return lease | {"start_date": date(start), "end_date": date(start + duration)}
        if kind == "deadline":
            return lease | {"duration": duration, "deadline": date(now + 3 * duration + 7_200)}
        return lease | {"duration": duration}

    def note(self, lease_id: str, terms: Mapping[str, Any]) -> None:
        """Note a lease that the service has promised."""
        now = time.time()
        start = instant(terms["start_date"]) if "start_date" in terms else now
        end = instant(terms["end_date"]) if "end_date" in terms else None
        if terms["kind"] == "immediate":
            end = now + terms["duration"]
        self.ledger.has(lease_id, self.project, terms["name"], start, end)
        self.mine.append(lease_id)
        self.sizes[lease_id] = terms["nodes"][0]["count"]

    def leave(self, lease_id: str) -> None:
        """Note that a lease is over."""
        self.mine.remove(lease_id)
        self.past.append(lease_id)

    def create(self, lease: Mapping[str, Any]) -> requests.Response | None:
        """Ask for a lease with an id of its own, again and again until there is an answer that decides."""
        body = {**lease, "id": str(UUID(int=self.random.getrandbits(128), version=4))}
        for _ in range(_RETRIES):
            try:
                answer = self.client.ask("POST", "leases", body)
            except NO_ANSWER as error:
                self.tell(f"gets no answer to the request for {body['name']}: {type(error).__name__}", body["id"])
            else:
                if answer.status_code < 500:
                    return answer
                self.tell(f"gets {answer.status_code} to the request for {body['name']}", body["id"])
            time.sleep(_PAUSE * self.random.random())
        return None


Verb = Callable[[Desk], None]


def _book(desk: Desk) -> None:
    """Ask for a lease."""
    book(desk, desk.terms())


def book(desk: Desk, terms: Mapping[str, Any]) -> None:
    """Ask for a lease with some terms."""
    answer = desk.create(terms)
    if answer is None:
        return
    if answer.status_code not in (200, 201):
        desk.tell(f"is refused {terms['kind']} {terms['name']}: {answer.status_code}")
        return
    lease = answer.json()["lease"]
    desk.note(lease["id"], terms)
    nodes = terms["nodes"][0]
    size = "whole hosts" if nodes.get("exclusive") else f"nodes of {nodes['resources']['VCPU']} VCPU"
    desk.tell(f"has {terms['kind']} {terms['name']} ({lease['id']}): {nodes['count']} {size}", lease["id"])


def _quote(desk: Desk) -> None:
    """Ask what a lease would come to."""
    desk.client.ask("POST", "quotes", desk.terms())


def _hold(desk: Desk) -> None:
    """Have a lease held."""
    answer = desk.client.ask("POST", "quotes", desk.terms() | {"hold": True})
    if answer.status_code == 200 and answer.json()["quote"]["granted"]:
        lease_id = answer.json()["quote"]["lease_id"]
        desk.held.append(lease_id)
        desk.tell(f"holds {lease_id}", lease_id)


def _accept(desk: Desk) -> None:
    """Accept an offer, or reject it."""
    if desk.held:
        lease_id = desk.held.pop()
        verb = "reject" if desk.random.random() < 0.2 else "accept"
        answer = _act(desk, lease_id, verb, {})
        if answer.status_code == 200 and verb == "accept":
            desk.ledger.has(lease_id, desk.project, answer.json()["lease"]["name"])
            desk.mine.append(lease_id)


def _act(desk: Desk, lease_id: str, verb: str, terms: Mapping[str, Any]) -> requests.Response:
    try:
        answer = desk.client.ask("POST", f"leases/{lease_id}/action", {verb: terms})
    except NO_ANSWER as error:
        desk.tell(f"gets no answer to {verb} {lease_id}: {type(error).__name__}", lease_id)
        raise
    desk.tell(f"{verb} {dict(terms)} of {lease_id}: {answer.status_code}", lease_id)
    return answer


def _changes(verb: str) -> Verb:
    def change(desk: Desk) -> None:
        lease_id = desk.some_lease()
        if lease_id is not None:
            _act(desk, lease_id, verb, {"by": desk.random.choice((60, 600, 3_600))})

    return change


def _move(desk: Desk) -> None:
    """Move a lease to another time."""
    lease_id = desk.some_lease()
    if lease_id is not None:
        _act(desk, lease_id, "move", {"start_date": date(int(time.time()) + desk.random.choice((120, 3_600)))})


def _ends(verb: str) -> Verb:
    def end(desk: Desk) -> None:
        lease_id = desk.some_lease()
        if lease_id is not None:
            answer = _act(desk, lease_id, verb, {})
            if answer.status_code == 200:
                desk.leave(lease_id)
                desk.ledger.ends(lease_id)

    return end


def _delete(desk: Desk) -> None:
    """Delete a lease."""
    lease_id = desk.some_lease()
    if lease_id is not None:
        answer = desk.client.ask("DELETE", f"leases/{lease_id}")
        desk.tell(f"deletes {lease_id}: {answer.status_code}", lease_id)
        if answer.status_code in (204, 404):
            desk.leave(lease_id)
        if answer.status_code == 204:
            desk.ledger.ends(lease_id)


def _look(desk: Desk) -> None:
    """Look at all leases."""
    desk.client.ask("GET", "leases")


#: Name -> verb, with the weight by which tenants choose it.
BOOKINGS: Mapping[str, tuple[Verb, float]] = {
    "book": (_book, 10.0),
    "quote": (_quote, 1.0),
    "hold": (_hold, 1.5),
    "accept": (_accept, 2.0),
    "extend": (_changes("extend"), 1.0),
    "shrink": (_changes("shrink"), 1.0),
    "move": (_move, 1.0),
    "end": (_ends("end"), 0.7),
    "cancel": (_ends("cancel"), 0.7),
    "delete": (_delete, 0.7),
    "look": (_look, 0.3),
}


def date(instant: int) -> str:
    """Return an instant as ISO 8601."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(instant))


def instant(text: str) -> float:
    """Return the seconds since the epoch of an instant in ISO 8601, in UTC."""
    return float(timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")))
