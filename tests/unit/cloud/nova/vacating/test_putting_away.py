"""Servers that are put away, whatever their project does to them."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from novaclient.exceptions import BadRequest, ClientException

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api.locks import Locks
from lease_scheduler.cloud.nova.api.throttle import Throttle
from lease_scheduler.cloud.nova.vacating.options import PATIENCE, Escalation, RoomOptions
from lease_scheduler.cloud.nova.vacating.putting_away import PuttingAway
from lease_scheduler.cloud.nova.vacating.shelving import Shelving
from lease_scheduler.model.kinds import PreemptionMode

_LATE = 60
_LEASED = {"lease:id": "x", "resources:VCPU": "0"}


def _server(status: str = "ACTIVE", task: str | None = None, specs: Mapping[str, str] = _LEASED, **said: Any) -> Any:
    found = SimpleNamespace(
        **{"id": "s", "tenant_id": "biology", "locked": False, "name": "s", "status": status, **said},
        flavor={"extra_specs": dict(specs)},
    )
    setattr(found, "OS-EXT-STS:task_state", task)
    host = None if status == "SHELVED_OFFLOADED" else "node1"
    setattr(found, "OS-EXT-SRV-ATTR:host", said.pop("host", host))
    setattr(found, "OS-EXT-SRV-ATTR:hypervisor_hostname", host)
    return found


class FakeNova:
    """Notes commands.

    :ivar refused: command -> what Nova answers
    """

    def __init__(self, **refused: Exception) -> None:
        self.told: list[str] = []
        self.refused = refused
        names = (
            *("shelve", "shelve_offload", "stop", "suspend", "unpause", "unrescue", "confirm_resize", "reset_state"),
            "reboot",
        )
        self.servers = SimpleNamespace(**{name: self._command(name) for name in (*names, "lock", "unlock", "update")})
        self.instance_action = SimpleNamespace(list=lambda server: [])

    def _command(self, name: str) -> Any:
        def tell(server: Any, *arguments: Any, **options: Any) -> None:
            self.told.append(f"{name} {options['name']}" if "name" in options else name)
            if name in self.refused:
                raise self.refused[name]

        return tell


def _putting_away(nova: FakeNova, **options: Any) -> tuple[PuttingAway, list[str]]:
    released: list[str] = []
    given_up = SimpleNamespace(is_given_up=lambda server: False, give_up=lambda server: released.append(server.id))
    lost = SimpleNamespace(repair=lambda server: False, is_stranded=lambda server: False)
    room = RoomOptions(escalate_after=_LATE, **options)
    locks = Locks(nova, lambda trust_id: nova)
    anything: Any = (nova, Throttle(9, 9), lost, locks, released.append, given_up, room)
    return PuttingAway(*anything), released


@pytest.mark.parametrize(
    ("status", "mode", "told"),
    [
        ("ACTIVE", "shelve", ["shelve"]),
        ("ACTIVE", "suspend", ["suspend"]),
        ("ACTIVE", "stop", ["stop"]),
        ("PAUSED", "shelve", ["shelve"]),
        # Nova stops and suspends only what runs.
        ("PAUSED", "stop", ["unpause"]),
        ("PAUSED", "suspend", ["unpause"]),
        ("SHUTOFF", "shelve", ["shelve"]),
        ("SHELVED", "stop", ["shelve_offload"]),
        ("RESCUE", "stop", ["unrescue"]),
        ("VERIFY_RESIZE", "shelve", ["confirm_resize"]),
        ("ERROR", "shelve", ["reboot"]),
        ("ERROR", "suspend", ["reboot"]),
    ],
)
def test_the_lock_comes_first_and_then_what_the_state_calls_for(status: str, mode: str, told: list[str]) -> None:
    nova = FakeNova()
    away, _ = _putting_away(nova)
    assert not away.put_away([_server(status)], PreemptionMode(mode), -1)
    assert nova.told == ["lock", *told]


@pytest.mark.parametrize("status", ["SHUTOFF", "SUSPENDED"])
def test_what_is_away_already_is_locked(status: str) -> None:
    nova = FakeNova()
    away, _ = _putting_away(nova)
    assert away.put_away([_server(status)], PreemptionMode.STOP, -1)
    assert nova.told == ["lock"]


def test_one_that_has_failed_is_rebooted_once_and_then_put_away_as_it_is() -> None:
    """Its hypervisor may have lost it; if it cannot define it anew either, the state is reset."""
    nova = FakeNova()
    away, _ = _putting_away(nova)
    for _ in range(2):
        assert not away.put_away([_server("ERROR")], PreemptionMode.SUSPEND, -1)
    assert nova.told == ["lock", "reboot", "lock", "reset_state", "suspend"]


def test_one_that_found_no_host_needs_not_be_put_away() -> None:
    nova = FakeNova()
    away, _ = _putting_away(nova)
    assert away.put_away([_server("ERROR", host=None)], PreemptionMode.SHELVE, -1)
    assert nova.told == []


@pytest.mark.parametrize("late", [-1, 1])
def test_an_image_is_aborted_once_the_operation_is_late(late: int) -> None:
    nova = FakeNova()
    away, _ = _putting_away(nova)
    assert not away.put_away([_server(task="image_uploading")], PreemptionMode.SHELVE, late)
    assert nova.told == ["lock", *(["reset_state", "shelve"] if late > 0 else [])]


def test_an_image_of_a_stopped_server_keeps_nothing_from_going_on() -> None:
    away, _ = _putting_away(FakeNova())
    assert away.put_away([_server("SHUTOFF", task="image_snapshot")], PreemptionMode.STOP, -1)


@pytest.mark.parametrize("code", [400, 403, 413, 500])
@pytest.mark.parametrize("specs", [_LEASED, {"lease:preemptible": "true"}])
def test_one_that_nova_does_not_shelve_is_stopped(code: int, specs: Mapping[str, str]) -> None:
    nova = FakeNova(shelve=ClientException(code))
    away, released = _putting_away(nova)
    for _ in range(4):
        assert not away.put_away([_server(specs=specs)], PreemptionMode.SHELVE, -1)
    assert nova.told[-1] == "stop"
    assert away.put_away([_server("SHUTOFF", specs=specs)], PreemptionMode.SHELVE, -1)
    # Only one that claims for itself has anything to give up.
    assert released == ([] if specs is _LEASED else ["s"])


@pytest.mark.parametrize(
    ("escalation", "specs"),
    [(Escalation.NONE, {"lease:preemptible": "true"}), (Escalation.STOP, {"resources1:VGPU": "1"})],
)
def test_one_that_may_not_be_stopped_fails_the_operation(escalation: Escalation, specs: Mapping[str, str]) -> None:
    nova = FakeNova(shelve=BadRequest(400))
    away, _ = _putting_away(nova, escalation=escalation)
    for _ in range(9):
        assert not away.put_away([_server(specs=specs)], PreemptionMode.SHELVE, -1)
    assert "stop" not in nova.told
    with pytest.raises(StepFailedError, match="made no room in time"):
        away.put_away([_server(specs=specs)], PreemptionMode.SHELVE, PATIENCE * _LATE + 1)


_GUEST = {"lease:preemptible": "true"}


@pytest.mark.parametrize(
    ("task", "late", "specs", "is_away"),
    [
        ("shelving_image_uploading", 1, _GUEST, True),
        ("shelving_image_pending_upload", 1, _GUEST, True),
        ("shelving_offloading", 1, _GUEST, True),
        # It still runs.
        ("shelving", 1, _GUEST, False),
        # It is not time yet.
        ("shelving_image_uploading", 0, _GUEST, False),
        # Its lease holds what it needs, and releases that when it has left.
        ("shelving_image_uploading", 1, _LEASED, False),
        ("shelving_image_uploading", 1, {**_GUEST, "resources1:VGPU": "1"}, False),
    ],
)
def test_one_whose_disk_is_copied_gives_up_its_room_when_it_is_time(
    task: str, late: int, specs: Mapping[str, str], is_away: bool
) -> None:
    away, released = _putting_away(FakeNova())
    assert away.put_away([_server(task=task, specs=specs)], PreemptionMode.SHELVE, late) == is_away
    assert released == (["s"] if is_away else [])
    # Not if it has to leave the host, or if operators do not allow it.
    assert not away.put_away([_server(task=task, specs=specs)], PreemptionMode.SHELVE, late, must_leave=True)
    strict, _ = _putting_away(FakeNova(), escalation=Escalation.NONE)
    assert not strict.put_away([_server(task=task, specs=specs)], PreemptionMode.SHELVE, late)


def test_an_operation_that_is_late_from_its_beginning_is_tried_all_the_same() -> None:
    nova = FakeNova()
    away, _ = _putting_away(nova, escalation=Escalation.NONE)
    with pytest.raises(StepFailedError):
        away.put_away([_server()], PreemptionMode.SHELVE, 10 * _LATE)
    assert nova.told == ["lock", "shelve"]


def test_a_server_that_fails_keeps_no_other_from_being_handled() -> None:
    nova = FakeNova()
    away, _ = _putting_away(nova)
    with pytest.raises(StepFailedError):
        away.put_away([_server(id="a"), _server(id="b")], PreemptionMode.STOP, 10 * _LATE)
    assert nova.told == ["lock", "stop"] * 2


@pytest.mark.parametrize("length", [247, 248, 255])
def test_a_name_is_shortened_only_while_nova_reads_it(length: int) -> None:
    nova = FakeNova()
    name = "n" * length
    assert Shelving(nova).shelve(_server(name=name))
    renamed = length > 247
    assert nova.told == ([f"update {'n' * 247}", "shelve", f"update {name}"] if renamed else ["shelve"])


@pytest.mark.parametrize("status", ["SHUTOFF", "SUSPENDED"])
def test_a_server_that_must_leave_its_host_is_not_away_because_it_is_stopped(status: str) -> None:
    """However late it is: its lease continues elsewhere, and would resume it on a host that others have."""
    nova = FakeNova()
    away, _ = _putting_away(nova)
    assert away.put_away([_server(status)], PreemptionMode.SHELVE, _LATE + 1)
    assert not away.put_away([_server(status)], PreemptionMode.SHELVE, _LATE + 1, must_leave=True)
    assert nova.told[-1] == "shelve"
