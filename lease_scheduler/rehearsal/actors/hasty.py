"""Wrong requests: what hasty and hostile clients send. The service refuses all of them, and fails at none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lease_scheduler.rehearsal.actors.bookings import Desk, Verb

_NODE: Mapping[str, Any] = {"count": 1, "resources": {"VCPU": 1}}
_LEASE: Mapping[str, Any] = {"name": "wrong", "kind": "immediate", "duration": 600, "nodes": [_NODE]}
_FOREVER = 10**15

#: Bodies of leases that no service should accept.
BODIES: tuple[Any, ...] = (
    {},
    [],
    "lease",
    {**_LEASE, "nodes": []},
    {**_LEASE, "nodes": [{**_NODE, "count": 0}]},
    {**_LEASE, "nodes": [{**_NODE, "count": -1}]},
    {**_LEASE, "nodes": [{**_NODE, "count": 10**9}]},
    {**_LEASE, "nodes": [{"count": 1, "resources": {"VCPU": -1}}]},
    {**_LEASE, "nodes": [{"count": 1, "resources": {"VCPU": 10**20}}]},
    {**_LEASE, "nodes": [{"count": 1, "resources": {"no such class": 1}}]},
    {**_LEASE, "kind": "eternal"},
    {**_LEASE, "kind": None},
    {**_LEASE, "duration": -1},
    {**_LEASE, "duration": 0},
    {**_LEASE, "duration": "soon"},
    {**_LEASE, "name": "n" * 10_000},
    {**_LEASE, "name": 7},
    {**_LEASE, "id": "not an id"},
    {**_LEASE, "surprise": True},
    {**_LEASE, "kind": "reservation"},
    {**_LEASE, "kind": "reservation", "start_date": "2030-13-45T00:00:00Z", "end_date": "2030-13-46T00:00:00Z"},
    {**_LEASE, "kind": "deadline", "deadline": "yesterday"},
    {**_LEASE, "preemption_mode": "explode"},
    {**_LEASE, "nodes": [{**_NODE, "hosts": {"a": "b"}}]},
)

#: Terms of actions that no service should accept.
ACTIONS: tuple[Any, ...] = (
    {},
    [],
    {"explode": {}},
    {"extend": {}},
    {"extend": {"by": -60}},
    {"extend": {"by": "an hour"}},
    {"shrink": {"by": _FOREVER}},
    {"move": {"start_date": "2001-01-01T00:00:00Z"}},
    {"extend": {"by": 60}, "shrink": {"by": 60}},
    {"accept": {"surprise": 1}},
)

#: Paths that lead nowhere.
PATHS = (
    "leases/none",
    "leases/00000000-0000-4000-8000-000000000000",
    "leases?limit=many",
    "leases?state=wonderful&marker=x",
    "nowhere",
)


def _check(desk: Desk, method: str, path: str, body: Any = None) -> None:
    began = desk.ledger.now
    status = desk.client.ask(method, path, body).status_code
    desk.tell(f"sends a wrong request: {method} {path} {str(body)[:80]}: {status}")
    if status < 400:
        desk.ledger.got(desk.name, f"{method} {path} {body}", began, status)


def _wrong_lease(desk: Desk) -> None:
    _check(desk, "POST", desk.random.choice(("leases", "quotes")), desk.random.choice(BODIES))


def _wrong_action(desk: Desk) -> None:
    lease_id = desk.some_lease()
    if lease_id is not None:
        _check(desk, "POST", f"leases/{lease_id}/action", desk.random.choice(ACTIONS))


def _wrong_path(desk: Desk) -> None:
    _check(desk, "GET", desk.random.choice(PATHS))


def _meddle(desk: Desk) -> None:
    """Look at a lease of somebody else, change it, delete it, or ask for a lease with its id."""
    others = [each for each in desk.ledger.leases.values() if each.project != desk.project]
    if not others:
        return
    lease_id = desk.random.choice(others).lease_id
    _check(desk, "GET", "os-hosts")
    _check(desk, "GET", f"leases/{lease_id}")
    _check(desk, "POST", f"leases/{lease_id}/action", {"extend": {"by": 60}})
    _check(desk, "DELETE", f"leases/{lease_id}")
    _check(desk, "POST", "leases", {**_LEASE, "id": lease_id})


#: Name -> verb, with the weight by which tenants choose it.
HASTY: Mapping[str, tuple[Verb, float]] = {
    "wrong-lease": (_wrong_lease, 1.0),
    "wrong-action": (_wrong_action, 0.7),
    "wrong-path": (_wrong_path, 0.3),
}

#: The same, where the service knows who asks: without Keystone, everybody is an administrator.
MEDDLING: Mapping[str, tuple[Verb, float]] = {"meddle": (_meddle, 0.7)}
