from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lease_scheduler.rehearsal.cloud.nova.compute.processes import HypervisorCall, HypervisorError, Proceed
from tests.unit.rehearsal.cloud.site import LONG, Site

#: Calls that follow each other -> the status while Nova does the last one, its task, and the status afterwards.
LIVES: dict[tuple[str, ...], tuple[str, str, str]] = {
    ("stop",): ("ACTIVE", "powering-off", "SHUTOFF"),
    ("stop", "start"): ("SHUTOFF", "powering-on", "ACTIVE"),
    ("pause",): ("ACTIVE", "pausing", "PAUSED"),
    ("pause", "unpause"): ("PAUSED", "unpausing", "ACTIVE"),
    ("suspend",): ("ACTIVE", "suspending", "SUSPENDED"),
    ("suspend", "resume"): ("SUSPENDED", "resuming", "ACTIVE"),
    ("rescue",): ("ACTIVE", "rescuing", "RESCUE"),
    ("rescue", "unrescue"): ("RESCUE", "unrescuing", "ACTIVE"),
    ("reboot",): ("REBOOT", "rebooting", "ACTIVE"),
}


@pytest.mark.parametrize("calls", LIVES, ids="-".join)
def test_a_command_takes_time_and_is_told_of(site: Site, calls: tuple[str, ...]) -> None:
    nova = site.nova("mallory")
    server = site.boot(nova)
    for call in calls[:-1]:
        getattr(server, call)()
        site.clock.run(LONG)
    site.heard.clear()
    getattr(server, calls[-1])()
    busy, task, after = LIVES[calls]
    found = nova.servers.get(server.id)
    assert (found.status, getattr(found, "OS-EXT-STS:task_state")) == (busy, task)
    site.clock.run(LONG)
    found = nova.servers.get(server.id)
    assert (found.status, getattr(found, "OS-EXT-STS:task_state")) == (after, None)
    assert [event.rpartition(".")[2] for event in site.events()] == ["start", "end"]
    (publisher, _, payload, context) = site.heard[-1]
    assert publisher == f"nova-compute:{site.record(server).host}"
    assert payload["nova_object.data"]["uuid"] == server.id
    assert context["user_id"] == site.member_id


def _failing(method: str) -> Callable[[HypervisorCall, Proceed], None]:
    def hypervisor(call: HypervisorCall, proceed: Proceed) -> None:
        proceed(HypervisorError("it cannot") if call.method == method else None)

    return hypervisor


@pytest.mark.parametrize(
    ("command", "method", "status"),
    [
        ("stop", "power_off", "ACTIVE"),
        ("pause", "pause", "ACTIVE"),
        ("reboot", "reboot", "ACTIVE"),
        ("suspend", "suspend", "ERROR"),
        ("rescue", "rescue", "ERROR"),
    ],
)
def test_a_command_that_fails_says_why(site: Site, command: str, method: str, status: str) -> None:
    """After some, the server is as it was before; after others, it has failed."""
    nova = site.nova()
    server = site.boot(nova)
    site.cloud.computes.hypervisor = _failing(method)
    getattr(server, command)()
    site.clock.run(LONG)
    found = nova.servers.get(server.id)
    assert (found.status, getattr(found, "OS-EXT-STS:task_state")) == (status, None)
    assert site.record(server).fault is not None


def test_the_action_of_a_command_that_fails_has_an_error(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    site.cloud.computes.hypervisor = _failing("suspend")
    server.suspend()
    site.clock.run(LONG)
    action = nova.instance_action.list(server)[0]
    (event,) = nova.instance_action.get(server, action.request_id).events
    assert (action.action, event["result"], event["details"]) == ("suspend", "Error", "it cannot")


def test_what_was_reset_meanwhile_is_not_continued(site: Site) -> None:
    """As when an administrator resets the state of a server whose hypervisor hangs."""
    nova = site.nova()
    server = site.boot(nova)
    held: list[Proceed] = []
    site.cloud.computes.hypervisor = lambda call, proceed: held.append(proceed)
    server.stop()
    site.clock.run(LONG)
    nova.servers.reset_state(server, "active")
    held[0](None)
    found: Any = nova.servers.get(server.id)
    assert (found.status, getattr(found, "OS-EXT-STS:task_state")) == ("ACTIVE", None)
