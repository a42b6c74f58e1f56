"""Allocation candidates: what each tree of providers could give to a request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lease_scheduler.rehearsal.cloud.placement.records import Provider
from lease_scheduler.rehearsal.cloud.placement.store import Store


@dataclass(frozen=True)
class Group:
    """What a request asks for.

    :ivar resources: class -> amount
    :ivar traits: required ones
    :ivar forbidden: traits that must not be there
    """

    resources: Mapping[str, int] = field(default_factory=dict)
    traits: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Wish:
    """A request for candidates.

    :ivar loose: what any providers of a tree may give together
    :ivar groups: what one provider must give, for each
    :ivar is_isolated: whether each group needs a provider of its own
    """

    loose: Group
    groups: tuple[Group, ...] = ()
    is_isolated: bool = False


@dataclass(frozen=True)
class Candidate:
    """An allocation that a tree could give.

    :ivar amounts: provider -> class -> amount
    """

    root_id: str
    amounts: Mapping[str, Mapping[str, int]]


def candidates(store: Store, wish: Wish, limit: int = 1000) -> Iterator[Candidate]:
    """Yield what the trees could give, tree by tree, in the order in which their roots were created."""
    count = 0
    trees: dict[str, list[Provider]] = {}
    for each in store.providers.values():
        trees.setdefault(each.root_id, []).append(each)
    for root_id, tree in trees.items():
        root = store.providers[root_id]
        if wish.loose.forbidden & root.traits:
            continue
        for amounts in _Search(store, tree, wish).found():
            if root.id not in amounts and not wish.groups:
                # All of it comes from below the root, as from a shared provider; Nova asks for no such thing.
                continue
            yield Candidate(root.id, amounts)
            count += 1
            if count >= limit:
                return


class _Search:
    """Search of the allocations of one tree."""

    def __init__(self, store: Store, tree: list[Provider], wish: Wish) -> None:
        self._store = store
        self._tree = tree
        self._wish = wish
        self._used = {each.id: store.usages(each.id) for each in tree}

    def found(self) -> Iterator[Mapping[str, Mapping[str, int]]]:
        """Yield the allocations, each once."""
        yield from self._loose([*self._wish.loose.resources.items()], {})

    def _loose(
        self, left: list[tuple[str, int]], amounts: dict[str, dict[str, int]]
    ) -> Iterator[dict[str, dict[str, int]]]:
        if not left:
            # Those that give something must have the required traits, together.
            traits = frozenset().union(*(each.traits for each in self._tree if each.id in amounts))
            if self._wish.loose.traits <= traits:
                yield from self._grouped([*self._wish.groups], amounts, frozenset())
            return
        (name, amount), *others = left
        for provider in self._tree:
            if self._fits(provider, {name: amount}, amounts):
                yield from self._loose(others, _added(amounts, provider.id, {name: amount}))

    def _grouped(
        self, left: list[Group], amounts: dict[str, dict[str, int]], taken: frozenset[str]
    ) -> Iterator[dict[str, dict[str, int]]]:
        if not left:
            yield amounts
            return
        group, *others = left
        for provider in self._tree:
            if not group.traits <= provider.traits or group.forbidden & provider.traits:
                continue
            if self._wish.is_isolated and provider.id in taken:
                continue
            if self._fits(provider, group.resources, amounts):
                yield from self._grouped(others, _added(amounts, provider.id, group.resources), taken | {provider.id})

    def _fits(self, provider: Provider, wanted: Mapping[str, int], amounts: Mapping[str, Mapping[str, int]]) -> bool:
        chosen = amounts.get(provider.id, {})
        for name, amount in wanted.items():
            inventory = provider.inventories.get(name)
            if inventory is None or not inventory.fits_unit(amount + chosen.get(name, 0)):
                return False
            if self._used[provider.id].get(name, 0) + chosen.get(name, 0) + amount > inventory.capacity:
                return False
        return True


def _added(
    amounts: Mapping[str, Mapping[str, int]], provider_id: str, more: Mapping[str, int]
) -> dict[str, dict[str, int]]:
    found = {key: dict(value) for key, value in amounts.items()}
    mine = found.setdefault(provider_id, {})
    for name, amount in more.items():
        mine[name] = mine.get(name, 0) + amount
    return found
