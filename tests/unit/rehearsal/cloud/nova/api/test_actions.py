"""Which commands Nova accepts of whom, and in which states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from novaclient.exceptions import BadRequest, Conflict, Forbidden, NotFound

from lease_scheduler.rehearsal.cloud.nova import states
from tests.unit.rehearsal.cloud.site import LONG, Site

Command = Callable[[Any, Any], Any]

_WITH_DISK = {states.ACTIVE, states.STOPPED, states.PAUSED, states.SUSPENDED}

#: Command -> what calls it, and the states in which Nova accepts it (nova/compute/api.py).
COMMANDS: dict[str, tuple[Command, set[str]]] = {
    "stop": (lambda nova, each: nova.servers.stop(each), {states.ACTIVE, states.ERROR}),
    "start": (lambda nova, each: nova.servers.start(each), {states.STOPPED}),
    "pause": (lambda nova, each: nova.servers.pause(each), {states.ACTIVE}),
    "unpause": (lambda nova, each: nova.servers.unpause(each), {states.PAUSED}),
    "suspend": (lambda nova, each: nova.servers.suspend(each), {states.ACTIVE}),
    "resume": (lambda nova, each: nova.servers.resume(each), {states.SUSPENDED}),
    "rescue": (lambda nova, each: nova.servers.rescue(each), {states.ACTIVE, states.STOPPED, states.ERROR}),
    "unrescue": (lambda nova, each: nova.servers.unrescue(each), {states.RESCUED}),
    "soft reboot": (lambda nova, each: nova.servers.reboot(each, "SOFT"), {states.ACTIVE}),
    "hard reboot": (lambda nova, each: nova.servers.reboot(each, "HARD"), {*_WITH_DISK, states.ERROR}),
    "image": (lambda nova, each: nova.servers.create_image(each, "mine"), _WITH_DISK),
    "backup": (lambda nova, each: nova.servers.backup(each, "mine", "daily", 1), _WITH_DISK),
    "shelve": (lambda nova, each: nova.servers.shelve(each), _WITH_DISK),
    "unshelve": (lambda nova, each: nova.servers.unshelve(each), {states.SHELVED, states.SHELVED_OFFLOADED}),
    "resize": (lambda nova, each: nova.servers.resize(each, "large"), {states.ACTIVE, states.STOPPED}),
    "confirm": (lambda nova, each: nova.servers.confirm_resize(each), {states.RESIZED}),
    "revert": (lambda nova, each: nova.servers.revert_resize(each), {states.RESIZED}),
    "migrate": (lambda nova, each: nova.servers.migrate(each), {states.ACTIVE, states.STOPPED}),
    "migrate live": (
        lambda nova, each: nova.servers.live_migrate(each, None, "auto"),
        {states.ACTIVE, states.PAUSED},
    ),
    "rebuild": (
        lambda nova, each: nova.servers.rebuild(each, each.image["id"]),
        {states.ACTIVE, states.STOPPED, states.ERROR},
    ),
    "restore": (lambda nova, each: nova.servers.restore(each), {states.SOFT_DELETED}),
    "password": (lambda nova, each: nova.servers.change_password(each, "new"), {states.ACTIVE}),
    "metadata": (lambda nova, each: nova.servers.set_meta(each, {"a": "b"}), _WITH_DISK),
    "tag": (lambda nova, each: each.add_tag("mine"), _WITH_DISK),
    "lock": (lambda nova, each: nova.servers.lock(each), set(states._STATUS)),
    "delete": (lambda nova, each: nova.servers.delete(each), set(states._STATUS)),
}

_STATES = sorted(set(states._STATUS) - {states.DELETED, states.BUILDING})

#: Commands for which it does not matter what Nova does with a server.
_ANY_TASK = {"metadata", "tag", "lock", "delete"}

_OF_ADMINS = {"migrate", "migrate live"}


@pytest.fixture
def server(site: Site) -> Any:
    """A server of the member's project that runs."""
    site.cloud.add_flavor("large", 2048, 2, 1, id="large")
    return site.boot(site.nova("mallory"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_accepted_in_its_states_and_refused_in_others(site: Site, server: Any, command: str) -> None:
    call, allowed = COMMANDS[command]
    nova = site.nova()
    record = site.record(server)
    site.cloud.nova.migrate(record, "resize", record.actions[0], "host2").status = "finished"
    accepted = set()
    for state in _STATES:
        site.cloud.nova.change(record, state=state, task=None, deleted=False, host="host1")
        site.cloud.nova.last_migration(record).status = "finished"
        try:
            call(nova, server)
        except Conflict:
            continue
        accepted.add(state)
    assert accepted == allowed & set(_STATES)


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - _ANY_TASK))
def test_a_busy_server_takes_no_other_command(site: Site, server: Any, command: str) -> None:
    call, allowed = COMMANDS[command]
    record = site.record(server)
    for state in sorted(allowed):
        site.cloud.nova.change(record, state=state, task=states.SHELVING)
        with pytest.raises(Conflict):
            call(site.nova(), server)
        assert (record.state, record.task) == (state, states.SHELVING)


@pytest.mark.parametrize("command", sorted(COMMANDS.keys() - {"lock", "tag", "image", "backup"} - _OF_ADMINS))
def test_a_lock_of_an_administrator_keeps_members_out(site: Site, server: Any, command: str) -> None:
    call, allowed = COMMANDS[command]
    site.nova(project="service").servers.lock(server, reason="evidence")
    site.cloud.nova.change(site.record(server), state=min(allowed))
    member = site.nova("mallory")
    with pytest.raises(Conflict, match="locked"):
        call(member, member.servers.get(server.id))
    with pytest.raises(Forbidden):
        member.servers.unlock(server)


@pytest.mark.parametrize("command", ["image", "backup", "tag"])
def test_some_commands_ignore_locks(site: Site, server: Any, command: str) -> None:
    site.nova(project="service").servers.lock(server)
    member = site.nova("mallory")
    COMMANDS[command][0](member, member.servers.get(server.id))


def test_a_lock_of_its_owner_is_theirs_to_lift_and_yields_to_an_administrator(site: Site, server: Any) -> None:
    member, admin = site.nova("mallory"), site.nova(project="service")
    member.servers.lock(server, reason="mine")
    member.servers.lock(server, reason="again")
    assert member.servers.get(server.id).locked_reason == "mine"
    admin.servers.lock(server, reason="theirs")
    assert admin.servers.get(server.id).locked_reason == "theirs"
    admin.servers.unlock(server)
    found = member.servers.get(server.id)
    assert (found.locked, found.locked_reason) == (False, None)


@pytest.mark.parametrize(
    "call",
    [
        COMMANDS["migrate"][0],
        COMMANDS["migrate live"][0],
        lambda nova, each: nova.servers.reset_state(each, "active"),
        lambda nova, each: nova.servers.evacuate(each),
        lambda nova, each: nova.servers.shelve_offload(each),
        lambda nova, each: nova.servers.create("s", each.image["id"], "small", nics="none", host="host1"),
        lambda nova, each: nova.servers.create(
            "s", each.image["id"], "small", nics="none", availability_zone="nova:host1"
        ),
        lambda nova, each: nova.services.list(),
        lambda nova, each: nova.aggregates.list(),
        lambda nova, each: nova.hypervisors.list(),
        lambda nova, each: nova.migrations.list(),
        lambda nova, each: nova.flavors.create("mine", 1, 1, 1),
    ],
)
def test_what_only_administrators_may_do(site: Site, server: Any, call: Command) -> None:
    with pytest.raises(Forbidden):
        call(site.nova("mallory"), server)


def test_servers_of_others_are_not_found(site: Site, server: Any) -> None:
    project = site.cloud.add_project("biology").id
    site.cloud.add_user("eve", "secret", {project: ["member"]})
    nova = site.nova("eve", "biology")
    for call in (nova.servers.get, nova.servers.delete):
        with pytest.raises(NotFound):
            call(server.id)


def test_an_evacuation_needs_a_host_that_is_down(site: Site, server: Any) -> None:
    nova = site.nova()
    with pytest.raises(BadRequest):
        nova.servers.evacuate(server)
    (service,) = nova.services.list(host=site.record(server).host)
    nova.services.force_down(service.id, True)
    nova.servers.evacuate(server)
    site.clock.run(LONG)
    assert (nova.servers.get(server.id).status, site.record(server).host) != ("ACTIVE", service.host)
    assert site.record(server).host != service.host
