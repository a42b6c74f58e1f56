"""Ids of requests that were given up before they arrived."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.records.site_state import WITHDRAWN
from lease_scheduler.records.writes import StoreChanges
from lease_scheduler.service.core.withdrawn_ids import LIFETIME, MOST, WithdrawnIds

_KEY = ("", *WITHDRAWN)


class _Stored:
    """What the store has after the changes."""

    def __init__(self) -> None:
        self.entries: dict[str, Any] = {}

    def add(self, ids: WithdrawnIds, lease_id: str, project_id: str, now: int) -> None:
        changes = StoreChanges(now)
        ids.add(lease_id, project_id, now, changes)
        for (*key, subject), entry in changes.policy_state.items():
            assert tuple(key) == _KEY
            if entry is None:
                self.entries.pop(subject, None)
            else:
                self.entries[subject] = entry

    def read(self) -> WithdrawnIds:
        return WithdrawnIds({_KEY: self.entries})


def test_an_id_is_remembered_for_its_lifetime_and_then_no_longer_stored() -> None:
    ids, stored = WithdrawnIds({}), _Stored()
    stored.add(ids, "a", "red", 100)
    for each in (ids, stored.read()):
        assert each.has("a", 100)
        assert each.has("a", 100 + LIFETIME - 1)
        assert not each.has("a", 100 + LIFETIME)
        assert not each.has("b", 100)
    stored.add(ids, "b", "blue", 100 + LIFETIME)
    assert list(stored.entries) == ["b"]


def test_a_project_with_too_many_loses_its_oldest_and_no_other_project_does() -> None:
    ids, stored = WithdrawnIds({}), _Stored()
    stored.add(ids, "of blue", "blue", 0)
    for number in range(MOST + 2):
        stored.add(ids, str(number), "red", 10 + number)
    known = [each for each in ("of blue", "0", "1", "2", str(MOST + 1)) if ids.has(each, 2_000)]
    assert known == ["of blue", "2", str(MOST + 1)]
    assert len(stored.entries) == MOST + 1


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["red", "blue"]), st.integers(0, LIFETIME // 2)), max_size=20)
)
def test_store_and_memory_remember_the_same(added: list[tuple[int, str, int]]) -> None:
    ids, stored, now = WithdrawnIds({}), _Stored(), 0
    for number, project_id, later in added:
        now += later
        stored.add(ids, str(number), project_id, now)
        again = stored.read()
        assert ids.has(str(number), now)
        assert [ids.has(str(each), now) for each in range(6)] == [again.has(str(each), now) for each in range(6)]


def test_a_damaged_entry_does_not_keep_the_engine_from_starting() -> None:
    good = {"project_id": "red", "until": 200}
    ids = WithdrawnIds({_KEY: {"a": good, "b": {"project_id": "red"}, "c": {"project_id": "red", "until": "soon"}}})
    assert [each for each in "abc" if ids.has(each, 100)] == ["a"]
