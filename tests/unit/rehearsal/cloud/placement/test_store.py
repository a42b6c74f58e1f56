from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.rehearsal.cloud.http import Refusal
from lease_scheduler.rehearsal.cloud.placement.records import Consumer, Inventory, Provider
from lease_scheduler.rehearsal.cloud.placement.store import CONCURRENT_UPDATE, Store

CLASSES = ("VCPU", "MEMORY_MB")


def _store(*totals: int) -> tuple[Store, list[Provider]]:
    store = Store(classes=dict.fromkeys(CLASSES))
    made = [store.add_provider(f"p{number}", f"host{number}") for number in range(len(totals))]
    for provider, total in zip(made, totals, strict=True):
        store.set_inventories(provider, {name: Inventory(total) for name in CLASSES})
    return store, made


def _claim(store: Store, name: str, amounts: dict[str, dict[str, int]]) -> None:
    store.allocate({name: (Consumer(name, "project", "user", "INSTANCE"), amounts)})


_AMOUNTS = st.dictionaries(
    st.sampled_from(["p0", "p1", "p2"]),
    st.dictionaries(st.sampled_from(CLASSES), st.integers(1, 6), min_size=1),
    max_size=3,
)


@given(st.lists(st.tuples(st.sampled_from("abcd"), _AMOUNTS), max_size=30))
def test_whatever_is_asked_nothing_is_oversold_and_a_refusal_changes_nothing(
    asked: list[tuple[str, dict[str, dict[str, int]]]],
) -> None:
    store, providers = _store(4, 8, 12)
    for consumer, amounts in asked:
        before = {name: store.held(name) for name in "abcd"}
        try:
            _claim(store, consumer, amounts)
        except Refusal as refusal:
            assert refusal.status == 409
            assert {name: store.held(name) for name in "abcd"} == before
        else:
            assert store.held(consumer) == amounts
        for each in providers:
            used = store.usages(each.id)
            assert all(used.get(name, 0) <= inventory.capacity for name, inventory in each.inventories.items())


def test_a_claim_changes_the_generation_of_its_providers_and_of_its_consumer() -> None:
    store, (first, second) = _store(4, 4)
    before = (first.generation, second.generation)
    _claim(store, "a", {first.id: {"VCPU": 1}})
    _claim(store, "a", {first.id: {"VCPU": 2}})
    assert (first.generation, second.generation) == (before[0] + 2, before[1])
    assert store.consumers["a"].generation == 2


def test_a_consumer_without_allocations_is_gone() -> None:
    store, (first,) = _store(4)
    _claim(store, "a", {first.id: {"VCPU": 1}})
    _claim(store, "a", {})
    assert store.consumers == {}
    assert not store.release("a")


def test_units_and_reserves_count() -> None:
    store, (first,) = _store(4)
    store.set_inventories(first, {"VCPU": Inventory(10, 2, min_unit=2, max_unit=4, step_size=2, allocation_ratio=0.5)})
    for amount in (1, 3, 6):
        with pytest.raises(Refusal, match="violate inventory constraints"):
            _claim(store, "a", {first.id: {"VCPU": amount}})
    _claim(store, "a", {first.id: {"VCPU": 4}})
    with pytest.raises(Refusal, match="exceed the capacity"):
        _claim(store, "b", {first.id: {"VCPU": 2}})


@pytest.mark.parametrize(
    ("amounts", "status"),
    [({"elsewhere": {"VCPU": 1}}, 400), ({"p0": {"CUSTOM_X": 1}}, 400), ({"p0": {"VGPU": 1}}, 409)],
)
def test_what_does_not_exist_is_refused(amounts: dict[str, dict[str, int]], status: int) -> None:
    store, _ = _store(4)
    store.classes["VGPU"] = None
    with pytest.raises(Refusal) as refused:
        _claim(store, "a", amounts)
    assert refused.value.status == status


def test_inventory_in_use_stays() -> None:
    store, (first,) = _store(4)
    _claim(store, "a", {first.id: {"VCPU": 3}})
    with pytest.raises(Refusal) as refused:
        store.set_inventories(first, {})
    assert (refused.value.status, refused.value.code) == (409, "placement.inventory.inuse")
    with pytest.raises(Refusal) as refused:
        store.remove_inventory(first, "VCPU")
    assert (refused.value.status, refused.value.code) == (409, CONCURRENT_UPDATE)
    # A smaller total is accepted, and then more is taken than there is.
    store.set_inventories(first, {name: Inventory(2) for name in CLASSES})
    assert store.usages(first.id)["VCPU"] > first.inventories["VCPU"].capacity


def test_a_provider_with_children_or_allocations_stays() -> None:
    store, (first,) = _store(4)
    child = store.add_provider("child", "gpu", first.id)
    assert (child.root_id, [each.id for each in store.tree(child.id)]) == (first.id, [first.id, "child"])
    with pytest.raises(Refusal, match="child"):
        store.remove_provider(first.id)
    store.remove_provider("child")
    _claim(store, "a", {first.id: {"VCPU": 1}})
    with pytest.raises(Refusal, match="alloc"):
        store.remove_provider(first.id)
    with pytest.raises(Refusal) as refused:
        store.add_provider("other", first.name)
    assert refused.value.code == "placement.duplicate_name"
