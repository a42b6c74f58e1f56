"""Attributes for preemption and for the project's own use change alone, are notified, stored and obeyed (issue 16)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import Rest, date, until

_SETTINGS = """
[simulated_cloud]
hosts = 2
clock_speed = 60
clock_start = 1800000000
"""

#: Changes, and what the API shows of the lease afterwards.
_CHANGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"extras": {"note": "x"}}, {"extras": {"note": "x"}}),
    ({"preemption_mode": "delete"}, {"preemption_mode": "delete", "preemptible": True}),
    ({"preemptible": False}, {"preemptible": False}),
]


@pytest.mark.parametrize("kind", ["best-effort", "deadline"])
def test_a_single_attribute_is_changed_and_survives_a_restart(make: Make, kind: str) -> None:
    service = make(configuration=_SETTINGS)
    service.start()
    rest = Rest(service)
    rest.register(2)
    limits = {"deadline": date(rest.now() + 40_000)} if kind == "deadline" else {}
    lease = rest.lease("work", kind, duration=20_000, preemptible=True, **limits)
    until(lambda: rest.state(lease) == "active")
    path = f"leases/{lease['id']}"
    for body, expected in _CHANGES:
        answer = rest.ask("PUT", path, body)
        assert answer.status_code == 200, answer.text
        told = answer.json()["lease"]
        assert {key: told[key] for key in expected} == expected
        assert told["state"] == "active"
    assert service.interrupt() == 0
    service.start()
    told = rest.get(path)["lease"]
    assert (told["extras"], told["preemption_mode"], told["preemptible"]) == ({"note": "x"}, "delete", False)


def test_who_becomes_preemptible_without_saying_how_is_shelved(make: Make) -> None:
    """A lease that is not preemptible has the mode ``none``, which contradicts any other ``preemptible``."""
    service = make(configuration=_SETTINGS)
    service.start()
    rest = Rest(service)
    rest.register(2)
    lease = rest.lease("work", "best-effort", count=2, duration=20_000, preemptible=False)
    until(lambda: rest.state(lease) == "active")
    start, end = date(rest.now() + 3_600), date(rest.now() + 7_200)
    wanted = {"name": "r", "kind": "reservation", "start_date": start, "end_date": end}
    nodes = [{"count": 2, "resources": {"VCPU": 8}}]
    assert rest.ask("POST", "leases", {**wanted, "nodes": nodes}).status_code == 409

    answer = rest.ask("PUT", f"leases/{lease['id']}", {"preemptible": True})
    assert (answer.status_code, answer.json()["lease"]["preemption_mode"]) == (200, "shelve")
    assert rest.ask("POST", "leases", {**wanted, "nodes": nodes}).status_code == 201

    # From now on its hosts are guaranteed.
    answer = rest.ask("PUT", f"leases/{lease['id']}", {"preemptible": False})
    assert answer.status_code == 409
    assert "promised to other leases" in answer.json()["error_message"]
