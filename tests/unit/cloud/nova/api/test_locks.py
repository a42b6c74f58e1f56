"""Locks of servers that make room, and the words in which they say what has to be restored."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from novaclient.exceptions import Forbidden

from lease_scheduler.cloud.nova.api.locks import REASON, Locks, Reason, reason

_LONGEST = 255


class FakeNova:
    """A server with its lock, as an administrator sees and changes it.

    :ivar locked_by: project whose action locked it last
    """

    def __init__(self, text: str | None = None, locked_by: str | None = None) -> None:
        self.server = SimpleNamespace(
            id="s", tenant_id="biology", status="ACTIVE", locked=locked_by is not None, locked_reason=text
        )
        self.locked_by = locked_by
        self.commands: list[str] = []
        self.servers = SimpleNamespace(lock=self._lock, unlock=self._unlock)
        self.instance_action = SimpleNamespace(list=self._actions)

    def _actions(self, server: Any) -> list[Any]:
        return [SimpleNamespace(action="start", project_id="biology")] + [
            SimpleNamespace(action="lock", project_id=each) for each in [self.locked_by] if each is not None
        ]

    def _lock(self, server: Any, reason: str) -> None:
        assert len(reason) <= _LONGEST
        self.commands.append("lock")
        self.server.locked, self.server.locked_reason, self.locked_by = True, reason, "service"

    def _unlock(self, server: Any) -> None:
        self.commands.append("unlock")
        self.server.locked, self.server.locked_reason, self.locked_by = False, None, None


def _restored() -> tuple[Locks, FakeNova, list[tuple[str, str]]]:
    nova, restored = FakeNova("mine", "biology"), []
    tenant = SimpleNamespace(servers=SimpleNamespace(lock=lambda each, reason: restored.append((each, reason))))
    return Locks(nova, lambda trust_id: tenant), nova, restored


def test_a_server_is_locked_once_and_unlocked() -> None:
    nova = FakeNova()
    locks = Locks(nova, lambda trust_id: nova)
    for _ in range(3):
        locks.lock(nova.server)
    assert (nova.commands, nova.server.locked_reason) == (["lock"], REASON)
    for _ in range(2):
        locks.unlock(nova.server)
    assert nova.commands == ["lock", "unlock"]


def test_the_lock_of_its_project_is_replaced_and_restored_with_a_trust() -> None:
    locks, nova, restored = _restored()
    locks.lock(nova.server)
    assert nova.locked_by == "service"
    # After a restart of the engine.
    again = Locks(nova, locks._on_behalf_of)
    again.unlock(nova.server, "trust")
    assert (nova.commands, restored) == (["lock", "unlock"], [("s", "mine")])


def test_without_a_trust_it_is_unlocked() -> None:
    locks, nova, restored = _restored()
    locks.lock(nova.server)
    locks.unlock(nova.server)
    assert (nova.server.locked, restored) == (False, [])


def test_the_lock_of_an_operator_stays() -> None:
    nova = FakeNova("evidence", "operators")
    locks = Locks(nova, lambda trust_id: nova)
    locks.lock(nova.server)
    locks.unlock(nova.server)
    assert (nova.commands, nova.server.locked_reason) == ([], "evidence")


@pytest.mark.parametrize("text", [REASON, f"{REASON} {{", f"{REASON} []", f'{REASON} {{"claims": {{"VCPU": "many"}}}}'])
def test_a_project_that_locks_its_server_in_our_words_does_not_keep_it_from_being_locked(text: str) -> None:
    """Its own lock it could lift."""
    nova = FakeNova(text, "biology")
    Locks(nova, lambda trust_id: nova).lock(nova.server)
    assert (nova.commands, nova.locked_by) == (["lock"], "service")


def test_a_server_that_is_unlocked_meanwhile_is_locked_again() -> None:
    nova = FakeNova()
    locks = Locks(nova, lambda trust_id: nova)
    locks.lock(nova.server)
    nova._unlock(nova.server)
    locks.lock(nova.server)
    assert nova.server.locked


def test_a_trust_that_cannot_be_used_keeps_nothing_from_going_on() -> None:
    nova = FakeNova("mine", "biology")

    def refuse(trust_id: str | None) -> Any:
        raise Forbidden(403)

    locks = Locks(nova, refuse)
    locks.lock(nova.server)
    locks.unlock(nova.server, "trust")
    assert not nova.server.locked


def test_what_is_forgotten_is_not_locked_any_more() -> None:
    nova = FakeNova()
    locks = Locks(nova, lambda trust_id: nova)
    locks.lock(nova.server)
    assert locks.known() == {"s"}
    locks.prune(locks.known(), {"s"})
    assert locks.known() == {"s"}
    locks.prune(frozenset(), ())
    assert locks.known() == {"s"}
    locks.prune(locks.known(), ())
    assert not locks.known()


@given(
    st.none() | st.text(max_size=_LONGEST), st.dictionaries(st.sampled_from(["VCPU", "DISK_GB"]), st.integers(1, 9999))
)
def test_what_a_lock_says_can_be_read_again(own: str | None, claims: dict[str, int]) -> None:
    text = str(Reason(own, claims))
    assert len(text) <= _LONGEST
    found = reason(SimpleNamespace(id="s", locked=True, locked_reason=text))
    assert found is not None
    assert found.claims == claims
    assert (found.own is None) == (own is None)
    if own is not None and len(json.dumps(own)) <= 80:
        assert found.own == own
