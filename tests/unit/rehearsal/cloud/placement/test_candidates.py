from __future__ import annotations

from lease_scheduler.rehearsal.cloud.placement.candidates import Group, Wish, candidates
from lease_scheduler.rehearsal.cloud.placement.records import Consumer, Inventory
from lease_scheduler.rehearsal.cloud.placement.store import Store


def _store() -> Store:
    """Return two hosts, the first one with two GPUs of different kinds."""
    store = Store(classes=dict.fromkeys(("VCPU", "VGPU")))
    for name in ("one", "two"):
        store.set_inventories(store.add_provider(name, name), {"VCPU": Inventory(4)})
    for name, trait in (("gpu-a", "A100"), ("gpu-t", "T4")):
        made = store.add_provider(name, name, "one")
        made.traits = frozenset({trait})
        store.set_inventories(made, {"VGPU": Inventory(2)})
    return store


def _found(store: Store, wish: Wish) -> list[object]:
    return [each.amounts for each in candidates(store, wish)]


def test_hosts_with_room_in_their_order() -> None:
    store = _store()
    assert _found(store, Wish(Group({"VCPU": 3}))) == [{"one": {"VCPU": 3}}, {"two": {"VCPU": 3}}]
    store.allocate({"a": (Consumer("a", "p", "u", None), {"one": {"VCPU": 2}})})
    assert _found(store, Wish(Group({"VCPU": 3}))) == [{"two": {"VCPU": 3}}]


def test_several_providers_of_a_tree_serve_what_is_in_no_group() -> None:
    wish = Wish(Group({"VCPU": 1, "VGPU": 1}))
    assert _found(_store(), wish) == [
        {"one": {"VCPU": 1}, "gpu-a": {"VGPU": 1}},
        {"one": {"VCPU": 1}, "gpu-t": {"VGPU": 1}},
    ]


def test_traits_come_from_providers_that_give_something() -> None:
    wish = Wish(Group({"VCPU": 1, "VGPU": 1}, frozenset({"T4"})))
    assert _found(_store(), wish) == [{"one": {"VCPU": 1}, "gpu-t": {"VGPU": 1}}]
    assert _found(_store(), Wish(Group({"VCPU": 1}, frozenset({"T4"})))) == []


def test_one_provider_serves_a_group_and_may_serve_two_unless_they_are_isolated() -> None:
    gpu = Group({"VGPU": 1})
    together = _found(_store(), Wish(Group({"VCPU": 1}), (gpu, gpu)))
    assert {"one": {"VCPU": 1}, "gpu-a": {"VGPU": 2}} in together
    apart = _found(_store(), Wish(Group({"VCPU": 1}), (gpu, gpu), is_isolated=True))
    assert apart
    assert all(found == {"one": {"VCPU": 1}, "gpu-a": {"VGPU": 1}, "gpu-t": {"VGPU": 1}} for found in apart)
    assert _found(_store(), Wish(Group({"VCPU": 1}), (Group({"VGPU": 3}),))) == []


def test_a_forbidden_trait_of_the_host_keeps_it_out() -> None:
    store = _store()
    store.providers["one"].traits = frozenset({"OFF"})
    assert _found(store, Wish(Group({"VCPU": 1}, forbidden=frozenset({"OFF"})))) == [{"two": {"VCPU": 1}}]
