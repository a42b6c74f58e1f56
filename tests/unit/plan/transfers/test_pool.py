"""The images that a host keeps (haizea F63; Sotomayor 2010, algorithm 6)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.plan.transfers.pool import Pool, pooled, with_image, with_user, without_user

_GB4 = 4096


def _image(name: str, size: int = _GB4) -> DiskImage:
    return DiskImage(name, size)


def _arrived(pool: Pool, name: str, user: str, until: int, limit: int | None) -> Pool:
    found = with_image(pool, _image(name), frozenset({user} if user else ()), until, limit)
    assert found is not None
    return found[0]


def _names(pool: Pool) -> list[str]:
    return [entry.image.image_id for entry in pool]


def test_an_image_stays_when_its_last_lease_is_over() -> None:
    pool = without_user(_arrived((), "a", "1", 100, None), "1")

    entry = pooled(pool, "a")
    assert entry is not None
    assert entry.users == frozenset()
    assert entry.expires == 100


def test_expiry_only_grows() -> None:
    pool = with_user(_arrived((), "a", "1", 100, None), "a", "2", 50)
    later = with_user(pool, "a", "3", 300)

    assert [entry.expires for entry in pool] == [100]
    assert [entry.expires for entry in later] == [300]
    assert later[0].users == {"1", "2", "3"}


def test_the_image_that_expires_first_is_evicted() -> None:
    pool: Pool = ()
    for name, until in (("a", 300), ("b", 100), ("c", 200)):
        pool = without_user(_arrived(pool, name, "1", until, 3 * _GB4), "1")

    found = with_image(pool, _image("d"), frozenset({"2"}), 400, 3 * _GB4)

    assert found is not None
    assert (_names(found[0]), found[1]) == (["a", "c", "d"], 1)


def test_an_image_that_is_needed_is_never_evicted() -> None:
    pool = _arrived(_arrived((), "a", "1", 10, 2 * _GB4), "b", "2", 20, 2 * _GB4)

    assert with_image(pool, _image("c"), frozenset({"3"}), 30, 2 * _GB4) is None
    found = with_image(without_user(pool, "2"), _image("c"), frozenset({"3"}), 30, 2 * _GB4)
    assert found is not None
    assert _names(found[0]) == ["a", "c"]


def test_an_image_that_arrives_again_only_gets_another_user() -> None:
    pool = _arrived((), "a", "1", 10, _GB4)

    found = with_image(pool, _image("a"), frozenset({"2"}), 30, _GB4)

    assert found is not None
    assert (_names(found[0]), found[0][0].users, found[0][0].expires, found[1]) == (["a"], frozenset("12"), 30, 0)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans(), st.integers(0, 500)), max_size=20))
def test_a_pool_is_never_over_its_limit(arrivals: list[tuple[str, bool, int]]) -> None:
    """haizea 4.15: the limit includes the new image; the programs of 2010 ignored that."""
    sizes = {name: 1000 + 700 * index for index, name in enumerate("abcdef")}
    pool: Pool = ()
    for number, (name, is_needed, until) in enumerate(arrivals):
        users = frozenset({str(number)} if is_needed else ())
        found = with_image(pool, _image(name, sizes[name]), users, until, 6000)
        needed = sum(entry.image.size_mb for entry in pool if entry.users and entry.image.image_id != name)
        assert (found is None) == (pooled(pool, name) is None and needed + sizes[name] > 6000)
        if found is not None:
            assert {entry.image.image_id for entry in pool if entry.users} <= set(_names(found[0]))
            pool = found[0]
        assert sum(entry.image.size_mb for entry in pool) <= 6000
