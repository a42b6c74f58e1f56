"""``openstack lease create --wait``: when it goes on, when it gives up, and what it says."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any

import pytest
from osc_lib import exceptions

from lease_scheduler.client.waiting import Waiting
from lease_scheduler.model.states import LeaseState
from tests.unit.client.conftest import Openstack, Service

ID = "9f6a2c1e-0000-4000-8000-000000000001"
PATH = f"/v1/leases/{ID}"
WORDS = ("create", "night", "--nodes", "vcpus=1", "--duration", "1h")


def lease(state: str, **more: Any) -> dict[str, Any]:
    return {"id": ID, "name": "night", "state": state, "start_date": None, "reason": "", **more}


@dataclass
class Clock:
    """A clock that only sleeping moves."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def waited(*states: str, limit: int | None = None, to: io.StringIO | None = None) -> tuple[Any, Clock]:
    """Wait for a lease that shows these states in turn, and the last one from then on."""
    clock, seen = Clock(), [lease(state) for state in states]
    waiting = Waiting(to or io.StringIO(), limit, clock, clock.sleep)
    return waiting.until_active(seen[0], lambda: seen.pop(0) if len(seen) > 1 else seen[0]), clock


@pytest.mark.parametrize("state", ["active", "done"])
def test_an_active_lease_is_returned_without_waiting(state: str) -> None:
    found, clock = waited(state)
    assert (found["state"], clock.slept) == (state, [])


def test_a_lease_is_returned_once_it_is_active() -> None:
    assert waited("queued", "queued", "scheduled", "preparing", "ready", "active")[0]["state"] == "active"


@pytest.mark.parametrize("state", ["failed", "rejected", "rejected-by-user", "cancelled"])
def test_a_lease_that_never_becomes_active_is_an_error(state: str) -> None:
    with pytest.raises(exceptions.CommandError, match=f"Lease night .{ID}. is {state} and was not active") as raised:
        waited("queued", state)
    assert "\n" not in str(raised.value)


def test_each_state_is_waited_in_or_ends_the_wait() -> None:
    for state in LeaseState:
        try:
            waited("queued", state.value, "active")
        except exceptions.CommandError:
            assert state.value in {"failed", "rejected", "rejected-by-user", "cancelled"}


def test_the_reason_is_part_of_the_error() -> None:
    clock = Clock()
    ended = lease("rejected", reason="No host has\n4 VCPU free.")
    with pytest.raises(exceptions.CommandError, match="was not active: No host has 4 VCPU free"):
        Waiting(io.StringIO(), None, clock, clock.sleep).until_active(lease("queued"), lambda: ended)


def test_the_wait_ends_exactly_at_its_timeout_and_the_error_names_the_lease() -> None:
    clock = Clock()
    waiting = Waiting(io.StringIO(), 600, clock, clock.sleep)
    with pytest.raises(exceptions.CommandError, match=f"Lease night .{ID}. is still queued after 10 min; it is kept"):
        waiting.until_active(lease("queued"), lambda: lease("queued"))
    assert clock.now == 600


def test_long_waits_ask_at_most_every_15_seconds() -> None:
    clock = Clock()
    with pytest.raises(exceptions.CommandError):
        Waiting(io.StringIO(), 86_400, clock, clock.sleep).until_active(lease("queued"), lambda: lease("queued"))
    assert clock.slept[0] == 1
    assert max(clock.slept) == 15
    assert len(clock.slept) < 6_000


def test_a_terminal_shows_each_state_once() -> None:
    terminal = Terminal()
    waited("queued", "queued", "scheduled", "active", to=terminal)
    assert terminal.getvalue().splitlines() == ["night: queued", "night: scheduled", "night: active"]


def test_a_terminal_shows_the_planned_start() -> None:
    terminal, clock = Terminal(), Clock()
    seen = [lease("ready", start_date="2030-01-01T08:00:00.000000"), lease("active")]
    Waiting(terminal, None, clock, clock.sleep).until_active(seen[0], lambda: seen.pop(0))
    assert terminal.getvalue().splitlines() == ["night: ready, starts at 2030-01-01 08:00 UTC", "night: active"]


def test_a_file_gets_no_progress() -> None:
    file = io.StringIO()
    waited("queued", "active", to=file)
    assert file.getvalue() == ""


def test_the_command_waits_and_shows_the_active_lease(service: Service, openstack: Openstack) -> None:
    service.will_answer("POST", "/v1/leases", {"lease": lease("queued")}, status=201)
    service.will_answer("GET", PATH, {"lease": lease("active", start_date="2030-01-01T08:00:00.000000")})
    outcome = openstack(*WORDS, "--wait", "-f", "json")
    assert outcome.status == 0, outcome.errors
    assert outcome.document["state"] == "active"
    created, looked = service.asked
    assert created.body == {"name": "night", "nodes": [{"count": 1, "resources": {"VCPU": 1}}], "duration": "1h"}
    assert looked.query == {"deleted": "true"}, "a lease that somebody deletes is cancelled, and says so"
    assert created.version == looked.version, "what is shown has the same keys with and without --wait"


def test_the_command_fails_if_the_lease_does(service: Service, openstack: Openstack) -> None:
    service.will_answer("POST", "/v1/leases", {"lease": lease("queued")}, status=201)
    service.will_answer("GET", PATH, {"lease": lease("rejected", reason="No host.")})
    outcome = openstack(*WORDS, "--wait")
    assert (outcome.status, outcome.output) == (1, "")
    assert outcome.errors.splitlines() == [f"Lease night ({ID}) is rejected and was not active: No host"]


def test_the_command_fails_at_its_timeout(service: Service, openstack: Openstack) -> None:
    service.will_answer("POST", "/v1/leases", {"lease": lease("queued")}, status=201)
    service.will_answer("GET", PATH, {"lease": lease("queued")})
    outcome = openstack(*WORDS, "--wait", "--timeout", "1s")
    assert outcome.status == 1
    assert len(outcome.errors.splitlines()) == 1
    assert "still queued after 1 s" in outcome.errors


def test_a_wait_survives_a_restart_of_the_service(service: Service, openstack: Openstack) -> None:
    service.will_answer("POST", "/v1/leases", {"lease": lease("queued")}, status=201)
    service.will_fail_once("GET", PATH, 503)
    service.will_answer("GET", PATH, {"lease": lease("active")})
    outcome = openstack(*WORDS, "--wait", "-f", "json")
    assert outcome.status == 0, outcome.errors
    assert [asked.method for asked in service.asked] == ["POST", "GET", "GET"]


def test_a_lease_that_is_deleted_meanwhile_is_an_error(service: Service, openstack: Openstack) -> None:
    service.will_answer("POST", "/v1/leases", {"lease": lease("queued")}, status=201)
    service.will_answer("GET", PATH, {"error": 404, "error_message": "No such lease"}, status=404)
    outcome = openstack(*WORDS, "--wait")
    assert (outcome.status, outcome.errors.strip()) == (1, "No such lease (HTTP 404)")


@pytest.mark.parametrize("text", ["soon", "0", "-1"])
def test_a_timeout_must_be_a_duration(service: Service, openstack: Openstack, text: str) -> None:
    outcome = openstack(*WORDS, "--wait", f"--timeout={text}")
    assert outcome.status == 2
    assert f"{text} is not a duration of at least 1 s, such as 10m" in outcome.errors
    assert not service.asked


def test_a_timeout_needs_a_wait(service: Service, openstack: Openstack) -> None:
    outcome = openstack(*WORDS, "--timeout", "10m")
    assert (outcome.status, outcome.errors.strip()) == (1, "--timeout limits --wait: give both, or neither.")
    assert not service.asked
