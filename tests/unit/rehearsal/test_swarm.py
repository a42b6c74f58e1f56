from __future__ import annotations

from lease_scheduler.rehearsal.faults.catalogue import NAMES, names_for
from lease_scheduler.rehearsal.swarm import chosen, pace, stream

_LETTERS = tuple("abcdefgh")


def test_a_seed_always_chooses_the_same() -> None:
    assert chosen(3, "letters", _LETTERS) == chosen(3, "letters", _LETTERS)
    assert stream(3, "x").random() == stream(3, "x").random()


def test_seeds_choose_different_subsets_in_order() -> None:
    found = {chosen(seed, "letters", _LETTERS) for seed in range(50)}
    assert len(found) > 30
    assert all(list(each) == sorted(each) for each in found)


def test_each_name_is_chosen_by_some_seeds_and_left_out_by_others() -> None:
    found = [names_for(seed) for seed in range(60)]
    for name in NAMES:
        assert 0 < sum(name in each for each in found) < 60


def test_the_names_of_faults_are_unique() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_a_seed_makes_faults_as_rare_as_in_a_long_world_or_denser() -> None:
    found = [pace(seed) for seed in range(50)]
    assert min(found) < 0.2
    assert max(found) == 1.0
    assert [pace(seed) for seed in range(50)] == found
