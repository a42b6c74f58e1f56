"""What tenants do with servers, with the leases that they have and with those of others."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from novaclient.exceptions import ClientException

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.rehearsal.actors.bookings import Desk, Verb
from lease_scheduler.rehearsal.site import IMAGE, SPOT

#: Number of leases at which a tenant looks to find an active one.
_LOOKED_AT = 6


def _boot(desk: Desk, flavor: str, lease_id: str = "", **hints: str) -> None:
    nova = desk.client.nova
    name = f"{desk.project}-{desk.random.getrandbits(24):x}"
    try:
        made = nova.servers.create(name, IMAGE, flavor, nics="none", scheduler_hints=hints)
    except ClientException as error:
        desk.tell(f"may not boot {flavor} {hints}: {error.code}", lease_id)
        return
    desk.tell(f"boots server {made.id} with {flavor} {hints}", lease_id)


def _boot_in_lease(desk: Desk) -> None:
    """Boot a server in the newest lease that is active, as it has to be done."""
    for lease_id in reversed(desk.mine[-_LOOKED_AT:]):
        answer = desk.client.ask("GET", f"leases/{lease_id}")
        if answer.status_code == 200 and answer.json()["lease"]["state"] == "active":
            _boot_into(desk, lease_id, answer.json()["lease"])
            return


def _boot_into(desk: Desk, lease_id: str, lease: Mapping[str, Any]) -> None:
    if any(each["resource_type"] == "physical:host" or each.get("exclusive") for each in lease["reservations"]):
        _boot(desk, "small", lease_id, lease=lease_id)
    else:
        _boot(desk, names.flavor_id(lease_id, 0), lease_id)


def _boot_late(desk: Desk) -> None:
    """Boot a server in the last seconds of a lease."""
    lease_id = desk.some_lease()
    if lease_id is None:
        return
    lease = desk.client.ask("GET", f"leases/{lease_id}").json().get("lease", {})
    end = lease.get("end_date")
    if lease.get("state") == "active" and end:
        left = _instant(end) - time.time()
        if 0 < left < 1_200:
            time.sleep(max(0.0, left - desk.random.uniform(-2.0, 4.0)))
            _boot_into(desk, lease_id, lease)


def _instant(text: str) -> float:
    return float(time.mktime(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))) - time.timezone


def _boot_anywhere(desk: Desk) -> None:
    """Boot a server that gives way to leases, or one that does not."""
    _boot(desk, desk.random.choice((SPOT, SPOT, "small")))


def _boot_with_others(desk: Desk) -> None:
    """Try to boot with the hint, or the flavor, of a lease of somebody else."""
    others = [each for each in desk.ledger.leases.values() if each.project != desk.project]
    if others:
        lease_id = desk.random.choice(others[-20:]).lease_id
        if desk.random.random() < 0.5:
            _boot(desk, "small", lease_id, lease=lease_id)
        else:
            _boot(desk, names.flavor_id(lease_id, 0), lease_id)


def _trick(what: str, act: Callable[[Desk, Any], object]) -> Verb:
    def verb(desk: Desk) -> None:
        nova = desk.client.nova
        servers = nova.servers.list()
        if servers:
            server = desk.random.choice(servers)
            try:
                act(desk, server)
            except ClientException as error:
                desk.tell(f"may not {what} server {server.id}: {error.code}")
            else:
                desk.tell(f"can {what} server {server.id}")

    return verb


#: Name -> verb, with the weight by which tenants choose it.
SERVERS: Mapping[str, tuple[Verb, float]] = {
    "boot": (_boot_in_lease, 8.0),
    "boot-late": (_boot_late, 1.0),
    "boot-anywhere": (_boot_anywhere, 1.5),
    "boot-with-others": (_boot_with_others, 0.7),
    "delete-server": (_trick("delete", lambda desk, server: server.delete()), 0.7),
    "resize": (_trick("resize", lambda desk, server: server.resize(desk.random.choice(("small", "large", SPOT)))), 0.7),
    "confirm": (_trick("confirm", lambda desk, server: server.confirm_resize()), 0.3),
    "rescue": (_trick("rescue", lambda desk, server: server.rescue()), 0.4),
    "lock": (_trick("lock", lambda desk, server: server.lock()), 0.4),
    "snapshot": (_trick("snapshot", lambda desk, server: server.create_image("copy")), 0.4),
    "pause": (_trick("pause", lambda desk, server: server.pause()), 0.3),
    "stop": (_trick("stop", lambda desk, server: server.stop()), 0.3),
    "shelve": (_trick("shelve", lambda desk, server: server.shelve()), 0.3),
    "reboot": (_trick("reboot", lambda desk, server: server.reboot("HARD")), 0.3),
    "tag": (_trick("tag", lambda desk, server: server.add_tag(_foreign_tag(desk))), 0.3),
}


def _foreign_tag(desk: Desk) -> str:
    known = list(desk.ledger.leases)[-10:]
    return names.tag(desk.random.choice(known)) if known else "mine"
