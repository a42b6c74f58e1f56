"""Compute services that stop and start, messages that are lost, and work that takes turns."""

from __future__ import annotations

import pytest

from lease_scheduler.rehearsal.cloud.nova.compute.processes import Proceed
from tests.unit.rehearsal.cloud.site import LONG, Site


def test_a_service_that_does_not_report_is_down_until_it_is_back(site: Site) -> None:
    nova = site.nova()
    site.cloud.computes.stop("host2")
    states = {each.host: each.state for each in nova.services.list()}
    assert states["host2"] == "up"
    site.clock.run(site.cloud.nova.options.service_down_time + 1)
    assert {each.host: each.state for each in nova.services.list()} == {"host1": "up", "host2": "down", "host3": "up"}
    site.cloud.computes.start("host2")
    assert {each.state for each in nova.services.list()} == {"up"}


def test_a_service_is_heard_of_at_intervals(site: Site) -> None:
    nova = site.nova()

    def heard() -> str:
        (found,) = nova.services.list(host="host2")
        return str(found.updated_at)

    first = heard()
    site.clock.run(site.cloud.nova.options.report_interval + 1)
    second = heard()
    assert second > first
    site.clock.run(1)
    assert heard() == second
    site.cloud.computes.stop("host2")
    site.clock.run(LONG)
    assert heard() == second


def test_messages_wait_for_a_service_that_is_stopped(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    host = str(site.record(server).host)
    site.cloud.computes.stop(host)
    server.stop()
    site.clock.run(LONG)
    assert site.record(server).task == "powering-off"
    site.cloud.computes.start(host)
    site.clock.run(LONG)
    assert nova.servers.get(server.id).status == "SHUTOFF"


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("stop", "SHUTOFF"),
        ("delete", None),
        ("reboot", "ACTIVE"),
        ("pause", "ACTIVE"),
        ("suspend", "ACTIVE"),
    ],
)
def test_work_ends_with_its_service_which_repairs_it_when_it_starts(
    site: Site, command: str, status: str | None
) -> None:
    nova = site.nova()
    server = site.boot(nova)
    host = str(site.record(server).host)
    site.cloud.computes.hypervisor = lambda call, proceed: None
    getattr(server, command)()
    site.clock.run(LONG)
    site.cloud.computes.stop(host)
    site.cloud.computes.hypervisor = lambda call, proceed: proceed(None)
    site.cloud.computes.start(host)
    site.clock.run(LONG)
    record = site.record(server)
    assert record.deleted is (status is None)
    assert status is None or record.status == status
    # A task that Nova does not take up again stays, until somebody resets the state.
    assert record.task == ("suspending" if command == "suspend" else None)


def test_a_server_that_was_being_built_has_failed(site: Site) -> None:
    nova = site.nova()
    site.cloud.computes.hypervisor = lambda call, proceed: None
    server = site.boot(nova)
    host = str(site.record(server).host)
    site.cloud.computes.stop(host)
    site.cloud.computes.start(host)
    assert nova.servers.get(server.id).status == "ERROR"


def test_a_lost_message_leaves_the_server_busy(site: Site) -> None:
    nova = site.nova()
    server = site.boot(nova)
    site.cloud.computes.delivers = lambda method, server_id: method != "stop_instance"
    server.stop()
    site.clock.run(LONG)
    record = site.record(server)
    assert (record.status, record.task) == ("ACTIVE", "powering-off")
    action = nova.instance_action.list(server)[0]
    assert nova.instance_action.get(server, action.request_id).events == []


def test_work_with_a_server_takes_turns(site: Site) -> None:
    """A deletion waits for a reboot whose hypervisor hangs."""
    server = site.boot(site.nova())
    held: list[Proceed] = []
    site.cloud.computes.hypervisor = lambda call, proceed: held.append(proceed)
    server.reboot("HARD")
    site.clock.run(LONG)
    server.delete()
    site.clock.run(LONG)
    assert len(held) == 1
    site.cloud.computes.hypervisor = lambda call, proceed: proceed(None)
    held[0](None)
    site.clock.run(LONG)
    assert site.record(server).deleted


def test_a_slow_host_is_slow(site: Site) -> None:
    def slow(call: object, proceed: Proceed) -> None:
        site.cloud.timing.call_later(10 * LONG, lambda: proceed(None))

    nova = site.nova()
    site.cloud.computes.hypervisor = slow
    server = site.boot(nova)
    assert server.status == "BUILD"
    site.clock.run(10 * LONG)
    assert nova.servers.get(server.id).status == "ACTIVE"
