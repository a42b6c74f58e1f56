"""What tenants do with servers, with the leases that they have and with those of others."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from novaclient.exceptions import ClientException

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.rehearsal.actors.bookings import Desk, Verb, book, instant
from lease_scheduler.rehearsal.site import FLAVORS, IMAGE, SPOT

#: Number of leases at which a tenant looks to find an active one.
_LOOKED_AT = 6

#: Number of times that a tenant repeats a command, and least and most seconds in between.
_REPEATED, _BETWEEN = 15, (2.0, 10.0)

#: Servers that a tenant asks for at once who wants more than a lease has.
_TOO_MANY = 8

#: Number of tags that Nova allows for a server.
_TAGS = 50

#: Length of a name that Nova allows for a server, but not for an image.
_LONG = 255


def boot(desk: Desk, flavor: str, lease_id: str = "", *, zone: str | None = None, count: int = 1, **hints: str) -> None:
    """Boot servers.

    :param lease_id: lease that they are for
    :param zone: availability zone
    """
    nova = desk.client.nova
    name = f"{desk.name}-{desk.random.getrandbits(24):x}"
    said = {"scheduler_hints": hints, "availability_zone": zone, "min_count": count, "max_count": count}
    try:
        made = nova.servers.create(name, IMAGE, flavor, nics="none", **said)
    except ClientException as error:
        desk.tell(f"may not boot {flavor} {hints}: {error.code}", lease_id)
        return
    desk.tell(f"boots {count} from server {made.id} with {flavor} {hints}", lease_id)
    for _ in range(count if lease_id else 0):
        desk.ledger.boots(made.id, lease_id, desk.sizes.get(lease_id, 0) if count == 1 else 0)


def _boot_in_lease(desk: Desk) -> None:
    """Boot a server in the newest lease that is active, as it has to be done."""
    for lease_id in reversed(desk.mine[-_LOOKED_AT:]):
        answer = desk.client.ask("GET", f"leases/{lease_id}")
        if answer.status_code == 200 and answer.json()["lease"]["state"] == "active":
            _boot_into(desk, lease_id, answer.json()["lease"])
            return


def _boot_into(desk: Desk, lease_id: str, lease: Mapping[str, Any], count: int = 1) -> None:
    if any(each["resource_type"] == "physical:host" or each.get("exclusive") for each in lease["reservations"]):
        boot(desk, "small", lease_id, count=count, lease=lease_id)
    else:
        boot(desk, names.flavor_id(lease_id, 0), lease_id, count=count)


def _book_servers(desk: Desk) -> None:
    """Ask for a lease whose servers the service boots."""
    book(desk, desk.terms() | {"servers": [{"name": "managed", "image_id": IMAGE, "networks": "none"}]})


def _boot_late(desk: Desk) -> None:
    """Boot a server in the last seconds of a lease."""
    lease_id = desk.some_lease()
    if lease_id is None:
        return
    lease = desk.client.ask("GET", f"leases/{lease_id}").json().get("lease", {})
    end = lease.get("end_date")
    if lease.get("state") == "active" and end:
        left = instant(end) - time.time()
        if 0 < left < 1_200:
            time.sleep(max(0.0, left - desk.random.uniform(-2.0, 4.0)))
            _boot_into(desk, lease_id, lease)


def _boot_at_any_time(desk: Desk) -> None:
    """Boot a server in a lease that may not have started, may be suspended, or may be over."""
    known = [*desk.mine[-_LOOKED_AT:], *desk.past[-_LOOKED_AT:]]
    if known:
        lease_id = desk.random.choice(known)
        answer = desk.client.ask("GET", f"leases/{lease_id}")
        if answer.status_code == 200:
            _boot_into(desk, lease_id, answer.json()["lease"])


def _boot_too_many(desk: Desk) -> None:
    """Boot more servers than a lease has room for."""
    lease_id = desk.some_lease()
    if lease_id is not None:
        answer = desk.client.ask("GET", f"leases/{lease_id}")
        if answer.status_code == 200:
            _boot_into(desk, lease_id, answer.json()["lease"], _TOO_MANY)


def boot_anywhere(desk: Desk) -> None:
    """Boot a server that gives way to leases, or one that does not."""
    boot(desk, desk.random.choice((SPOT, SPOT, "small")))


def boot_in_zone(desk: Desk) -> None:
    """Name a host, or a zone, in which a server is to be."""
    host = f"compute-{desk.random.randint(1, 4)}"
    boot(desk, desk.random.choice((SPOT, "small")), zone=desk.random.choice((f"nova:{host}", host, "nova")))


def boot_with_others(desk: Desk) -> None:
    """Try to boot with the hint, or the flavor, of a lease of somebody else."""
    now = time.time()
    others = [
        each
        for each in desk.ledger.leases.values()
        if each.project != desk.project and (each.end is None or now < each.end)
    ]
    if others:
        lease_id = desk.random.choice(others[-20:]).lease_id
        # The boot does not count for the lease, as it must not get a server there.
        if desk.random.random() < 0.5:
            boot(desk, "small", lease=lease_id)
        else:
            boot(desk, names.flavor_id(lease_id, 0))


def _boot_in_group(desk: Desk) -> None:
    """Boot servers in a server group, and delete the group while they are there."""
    groups = desk.client.nova.server_groups
    try:
        group = groups.create(f"{desk.name}-group", policy=desk.random.choice(("affinity", "anti-affinity")))
        for _ in range(2):
            boot(desk, desk.random.choice((SPOT, "small")), group=group.id)
        groups.delete(group.id)
    except ClientException as error:
        desk.tell(f"may not use a server group: {error.code}")


def _some_server(desk: Desk) -> Any | None:
    servers = desk.client.nova.servers.list()
    return desk.random.choice(servers) if servers else None


def _command(desk: Desk, what: str, act: Callable[[Desk, Any], object], server: Any) -> None:
    try:
        act(desk, server)
    except ClientException as error:
        desk.tell(f"may not {what} server {server.id}: {error.code}")
    else:
        desk.tell(f"can {what} server {server.id}")


def trick(what: str, act: Callable[[Desk, Any], object]) -> Verb:
    """Return the verb that commands one of the tenant's servers."""

    def verb(desk: Desk) -> None:
        server = _some_server(desk)
        if server is not None:
            _command(desk, what, act, server)

    return verb


def _tag_fully(desk: Desk, server: Any) -> None:
    server.set_tags([f"{desk.name}-{number}" for number in range(_TAGS)])


def _foreign_tag(desk: Desk) -> str:
    known = list(desk.ledger.leases)[-10:]
    return names.tag(desk.random.choice(known)) if known else "mine"


#: Command -> how it is given.
_COMMANDS: Mapping[str, Callable[[Desk, Any], object]] = {
    "resize": lambda desk, server: server.resize(desk.random.choice((*FLAVORS, SPOT))),
    "confirm": lambda desk, server: server.confirm_resize(),
    "revert": lambda desk, server: server.revert_resize(),
    "rescue": lambda desk, server: server.rescue(),
    "unrescue": lambda desk, server: server.unrescue(),
    "lock": lambda desk, server: server.lock(),
    "unlock": lambda desk, server: server.unlock(),
    "snapshot": lambda desk, server: server.create_image("copy"),
    "pause": lambda desk, server: server.pause(),
    "stop": lambda desk, server: server.stop(),
    "start": lambda desk, server: server.start(),
    "suspend": lambda desk, server: server.suspend(),
    "resume": lambda desk, server: server.resume(),
    "shelve": lambda desk, server: server.shelve(),
    "unshelve": lambda desk, server: server.unshelve(),
    "rebuild": lambda desk, server: server.rebuild(IMAGE),
    "reboot": lambda desk, server: server.reboot("HARD"),
    "rename": lambda desk, server: server.update(name="n" * _LONG),
    "tag": lambda desk, server: server.add_tag(_foreign_tag(desk)),
    "tag-fully": _tag_fully,
}


def _nag(desk: Desk) -> None:
    """Repeat a command again and again."""
    server = _some_server(desk)
    if server is not None:
        what = desk.random.choice(("reboot", "snapshot", "start", "resume", "rescue", "unshelve", "unlock", "rebuild"))
        for _ in range(_REPEATED):
            _command(desk, what, _COMMANDS[what], server)
            time.sleep(desk.random.uniform(*_BETWEEN))


#: Name -> verb, with the weight by which tenants choose it.
SERVERS: Mapping[str, tuple[Verb, float]] = {
    "boot": (_boot_in_lease, 8.0),
    "book-servers": (_book_servers, 3.0),
    "boot-late": (_boot_late, 1.0),
    "boot-at-any-time": (_boot_at_any_time, 1.0),
    "boot-too-many": (_boot_too_many, 0.5),
    "boot-anywhere": (boot_anywhere, 1.5),
    "boot-in-zone": (boot_in_zone, 0.5),
    "boot-with-others": (boot_with_others, 0.7),
    "boot-in-group": (_boot_in_group, 0.4),
    "delete-server": (trick("delete", lambda desk, server: server.delete()), 0.7),
    "nag": (_nag, 0.4),
    **{what: (trick(what, act), 0.35) for what, act in _COMMANDS.items()},
}
