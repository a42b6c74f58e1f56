"""What the members of a project can do to a server by themselves, by Nova's default policies.

Each action is given a server that runs. Nova is done with it when the action returns, unless the hypervisor is held up:
then the server is in the middle of it, for longer than anybody waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock
from uuid import uuid4

from nova.conf import CONF
from nova.exception import NovaException
from nova.virt.fake import FakeDriver
from novaclient.exceptions import Conflict

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.locks import REASON
from tests.in_nova.functional.site import IMAGE, LIMIT, POLL
from tests.in_nova.functional.tenants import TenantSite

#: Nova's limits.
_TAGS, _NAME, _METADATA = 50, 255, 128

#: Seconds in which Nova says what became of a server that it has nothing to do with any more, and in which it is done.
_SETTLING, _LOST_AFTER = 3.0, 20.0

_METHODS = ("snapshot", "spawn", "reboot", "power_off", "rescue", "suspend", "migrate_disk_and_power_off", "destroy")


class MemberSite(TenantSite):
    """A site whose hypervisors can be held up.

    :ivar other_size: id of a flavor to which the servers can be resized
    """

    def setUp(self) -> None:
        super().setUp()
        self.other_size = ""
        # The fixture's belongs to the service's own project.
        port = next(iter(self.neutron._ports.values()))
        port.update(tenant_id=self.project, project_id=self.project)
        self.port_id = port["id"]
        #: Server -> the method of the hypervisor that does not come back, or fails, the next time.
        self._to_hold_up: dict[str, str] = {}
        self._to_fail: dict[str, str] = {}
        self._held_up: set[str] = set()
        #: Servers whose hypervisors go on.
        self._let_go: set[str] = set()
        for name in _METHODS:
            patch = mock.patch.object(FakeDriver, name, self._holding_up(name))
            patch.start()
            self.addCleanup(patch.stop)
        self.addCleanup(self.let_go)

    def _holding_up(self, name: str) -> Callable[..., Any]:
        original = getattr(FakeDriver, name)

        def method(driver: Any, *arguments: Any, **named: Any) -> Any:
            (server_id, *_) = [each.uuid for each in (*arguments, *named.values()) if hasattr(each, "vm_state")]
            if self._to_fail.get(server_id) == name:
                del self._to_fail[server_id]
                raise NovaException("as in a hypervisor that cannot do it")
            if self._to_hold_up.get(server_id) == name:
                del self._to_hold_up[server_id]
                self._held_up.add(server_id)
                while server_id not in self._let_go:
                    time.sleep(POLL)
                self._held_up.remove(server_id)
            return original(driver, *arguments, **named)

        return method

    def hold_up(self, server: Any, name: str, call: Callable[[Any], Any]) -> None:
        """Make a call that ends in a method of the hypervisor, which does not come back."""
        self._to_hold_up[server.id] = name
        try:
            call(server)
        except Exception:
            self._to_hold_up.pop(server.id, None)
            raise
        end = time.monotonic() + LIMIT
        while server.id not in self._held_up:
            assert time.monotonic() < end, f"{name} is not called"
            time.sleep(POLL)

    def break_down(self, server: Any, name: str, call: Callable[[Any], Any]) -> None:
        """Make a call that ends in a method of the hypervisor, which fails."""
        self._to_fail[server.id] = name
        try:
            call(server)
        except Exception:
            del self._to_fail[server.id]
            raise

    def settled(self, server: Any, *wanted: str) -> Any:
        """Wait until Nova has nothing to do with a server, and then check that it did what it was told.

        :raises Conflict: it has not, for example because nova-scheduler found no host
        """
        begun, done_again = time.monotonic(), False
        time.sleep(2 * POLL)
        while of.is_busy(found := self.nova.servers.get(server.id)) or (
            wanted and found.status not in wanted and time.monotonic() - begun < _SETTLING
        ):
            assert time.monotonic() < begun + LIMIT, (found.status, of.task(found))
            if time.monotonic() - begun > _LOST_AFTER and not done_again:
                # Nova's database in memory loses a write now and then, so that the end of an image stays unknown.
                self.nova.servers.reset_state(server, "active")
                if found.status in of.ASIDE:
                    aside = {of.STOPPED: self.nova.servers.stop, of.SUSPENDED: self.nova.servers.suspend}
                    aside[found.status](server)
                done_again = True
            time.sleep(2 * POLL)
        if wanted and found.status not in wanted:
            raise Conflict(409, f"{found.status} instead of {wanted}: {getattr(found, 'fault', None)}")
        return found

    def let_go(self) -> None:
        """Have all hypervisors go on, and wait until they do."""
        end = time.monotonic() + LIMIT
        while self._held_up:
            self._let_go |= self._held_up
            assert time.monotonic() < end
            time.sleep(POLL)
        self._to_hold_up.clear()
        self._let_go.clear()

    @contextmanager
    def flagged(self, **options: Any) -> Iterator[None]:
        """Within the block, Nova has other options."""
        old = {name: getattr(CONF, name) for name in options}
        self.flags(**options)
        try:
            yield
        finally:
            self.flags(**old)


@dataclass(frozen=True)
class Action:
    """What a member does to a server.

    :ivar do: does it; called with the site and the server
    :ivar status: what Nova then says of a server that ran; empty if it is gone
    :ivar is_endless: whether the server is busy with it for longer than anybody waits
    """

    do: Callable[[Any, Any], Any]
    status: str = "ACTIVE"
    is_endless: bool = False


def _mine(method: str, /, *arguments: Any, **named: Any) -> Callable[[Any, Any], Any]:
    """Return an action that calls a method of novaclient's servers."""
    return lambda site, server: getattr(site.tenant.servers, method)(server, *arguments, **named)


def _then(*steps: tuple[Callable[[Any, Any], Any], str]) -> Callable[[Any, Any], None]:
    """Return an action of several, each with the status for which the next one has to wait."""

    def do(site: Any, server: Any) -> None:
        for step, status in steps:
            step(site, server)
            site.settled(server, status)

    return do


def _flagged(do: Callable[[Any, Any], Any], status: str, **options: Any) -> Callable[[Any, Any], None]:
    def flagged(site: Any, server: Any) -> None:
        with site.flagged(**options):
            do(site, server)
            site.settled(server, status)

    return flagged


def _held_up(method: str, do: Callable[[Any, Any], Any]) -> Action:
    return Action(lambda site, server: site.hold_up(server, method, lambda each: do(site, each)), "", is_endless=True)


def _resize(site: Any, server: Any) -> None:
    site.tenant.servers.resize(server, site.other_size)


def _attach_port(site: Any, server: Any) -> None:
    server.interface_attach(site.port_id, None, None)


def _attach_volume(site: Any, server: Any) -> None:
    site.tenant.volumes.create_server_volume(server.id, str(uuid4()))


def _fail(site: Any, server: Any) -> None:
    site.break_down(server, "spawn", lambda each: _REBUILD(site, each))


_LOCK, _STOP, _SHELVE, _RESCUE = _mine("lock"), _mine("stop"), _mine("shelve"), _mine("rescue")
_SNAPSHOT, _BACKUP = _mine("create_image", "mine"), _mine("backup", "mine", "daily", 1)
_REBUILD, _REBOOT, _SUSPEND, _DELETE = (
    _mine("rebuild", IMAGE),
    _mine("reboot", "HARD"),
    _mine("suspend"),
    _mine("delete"),
)

#: By name. The first is to compare with.
ACTIONS: Mapping[str, Action] = {
    "nothing": Action(lambda site, server: None),
    "lock": Action(_LOCK),
    "lock with our reason": Action(_mine("lock", reason=f'{REASON} {{"claims": {{"VCPU": 1}}}}')),
    "as many tags as Nova takes": Action(_mine("set_tags", [f"t{number}" for number in range(_TAGS)])),
    "our tags": Action(_mine("set_tags", [names.tag(str(uuid4())), "lease-preempted", "lease-vm:99999999"])),
    "the longest name": Action(_mine("update", name="é" * _NAME)),
    "as much metadata as Nova takes": Action(
        lambda site, server: site.tenant.servers.set_meta(
            server, {f"{number}".ljust(_NAME, "k"): "v" * _NAME for number in range(_METADATA)}
        )
    ),
    "change the password": Action(_mine("change_password", "secret")),
    "attach a port": Action(_attach_port),
    "attach a volume": Action(_attach_volume),
    "reboot": Action(_REBOOT),
    "rebuild": Action(_REBUILD),
    "snapshot": Action(_SNAPSHOT),
    "backup": Action(_BACKUP),
    "rescue": Action(_RESCUE, "RESCUE"),
    "rescue and lock": Action(_then((_RESCUE, "RESCUE"), (_LOCK, "RESCUE")), "RESCUE"),
    "pause": Action(_mine("pause"), "PAUSED"),
    "suspend": Action(_SUSPEND, "SUSPENDED"),
    "stop": Action(_STOP, "SHUTOFF"),
    "stop and lock": Action(_then((_STOP, "SHUTOFF"), (_LOCK, "SHUTOFF")), "SHUTOFF"),
    "stop and start": Action(_then((_STOP, "SHUTOFF"), (_mine("start"), "ACTIVE"))),
    "shelve": Action(_SHELVE, "SHELVED_OFFLOADED"),
    "shelve and unshelve": Action(_then((_SHELVE, "SHELVED_OFFLOADED"), (_mine("unshelve"), "ACTIVE"))),
    "shelve without leaving the host": Action(_flagged(_SHELVE, "SHELVED", shelved_offload_time=-1), "SHELVED"),
    "resize": Action(_resize, "VERIFY_RESIZE"),
    "resize and revert": Action(_then((_resize, "VERIFY_RESIZE"), (_mine("revert_resize"), "ACTIVE"))),
    "fail": Action(_fail, "ERROR"),
    "fail and lock": Action(_then((_fail, "ERROR"), (_LOCK, "ERROR")), "ERROR"),
    "delete": Action(_DELETE, ""),
    "delete where Nova keeps it": Action(
        _flagged(_DELETE, "SOFT_DELETED", reclaim_instance_interval=3600), "SOFT_DELETED"
    ),
    "be in a snapshot": _held_up("snapshot", _SNAPSHOT),
    "be in a backup": _held_up("snapshot", _BACKUP),
    "be in a rebuild": _held_up("spawn", _REBUILD),
    "be in a reboot": _held_up("reboot", _REBOOT),
    "be in a rescue": _held_up("rescue", _RESCUE),
    "be stopping": _held_up("power_off", _STOP),
    "be suspending": _held_up("suspend", _SUSPEND),
    "be shelving": _held_up("snapshot", _SHELVE),
    "be resizing": _held_up("migrate_disk_and_power_off", _resize),
    "be in its deletion": _held_up("destroy", _DELETE),
}
