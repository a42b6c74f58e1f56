"""Resource vectors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources

AMOUNTS = st.dictionaries(st.sampled_from([VCPU, MEMORY_MB, DISK_GB, "CUSTOM_FPGA"]), st.integers(0, 10**6))


@given(AMOUNTS)
def test_a_vector_is_a_mapping_of_what_is_not_zero(amounts: dict[str, int]) -> None:
    """haizea F1: at most one entry per type."""
    vector = Resources(amounts)
    assert dict(vector) == {name: amount for name, amount in amounts.items() if amount}
    assert len(vector) == len(dict(vector))


@given(AMOUNTS, AMOUNTS)
def test_equal_vectors_have_equal_hashes(first: dict[str, int], second: dict[str, int]) -> None:
    """haizea F1: zeros and the order of the classes have no meaning."""
    shuffled = dict(reversed(first.items()))
    assert Resources(shuffled) == Resources({**first, "CUSTOM_UNUSED": 0})
    assert hash(Resources(shuffled)) == hash(Resources({**first, "CUSTOM_UNUSED": 0}))
    assert (Resources(first) == Resources(second)) == (dict(Resources(first)) == dict(Resources(second)))


def test_a_vector_is_not_equal_to_something_else() -> None:
    """haizea F1: equality is among vectors only, so that it agrees with the hash."""
    assert Resources({VCPU: 1}) != {VCPU: 1}


def test_a_vector_does_not_follow_the_mapping_that_it_was_made_of() -> None:
    """haizea F1: values are frozen."""
    amounts = {VCPU: 1}
    vector = Resources(amounts)
    amounts[VCPU] = 2
    assert vector[VCPU] == 1


def test_a_class_that_is_not_in_the_vector() -> None:
    """haizea F1: a vector is a mapping in which missing classes have the amount 0."""
    assert Resources({VCPU: 1}).get(MEMORY_MB, 0) == 0
    with pytest.raises(KeyError):
        Resources({VCPU: 1})[MEMORY_MB]


@given(AMOUNTS, AMOUNTS)
def test_fitting_compares_every_class(demand: dict[str, int], capacity: dict[str, int]) -> None:
    """haizea F2: a class that the capacity lacks counts as none of it."""
    expected = all(amount <= capacity.get(name, 0) for name, amount in demand.items())
    assert Resources(demand).fits_in(Resources(capacity)) == expected


@given(AMOUNTS)
def test_everything_fits_in_itself_and_nothing_fits_everywhere(amounts: dict[str, int]) -> None:
    """haizea F2: the limits of fitting."""
    assert Resources(amounts).fits_in(Resources(amounts))
    assert Resources({}).fits_in(Resources(amounts))


@pytest.mark.parametrize("amount", [-1, 1.0, 0.5, "1", None, True, False])
def test_amounts_are_whole_numbers_from_zero_up(amount: Any) -> None:
    """haizea F2: the error names the class and the amount."""
    with pytest.raises(
        InvalidValueError, match=r"^resources\.MEMORY_MB: must be an integer of at least 0, not "
    ) as caught:
        Resources({VCPU: 1, MEMORY_MB: amount})
    assert caught.value.field == "resources.MEMORY_MB"
    assert repr(amount) in caught.value.problem


def test_replacing_amounts_makes_a_new_vector() -> None:
    """haizea F76: memory is overridden without touching the rest."""
    vector = Resources({VCPU: 2, MEMORY_MB: 1024})
    assert vector.replaced(MEMORY_MB=512, CUSTOM_FPGA=1) == Resources({VCPU: 2, MEMORY_MB: 512, "CUSTOM_FPGA": 1})
    assert vector.replaced(MEMORY_MB=0) == Resources({VCPU: 2})
    assert vector == Resources({VCPU: 2, MEMORY_MB: 1024})


def test_text_for_people_and_for_developers() -> None:
    """haizea F1: classes are in the order of their names."""
    vector = Resources({VCPU: 2, MEMORY_MB: 1024})
    assert str(vector) == "MEMORY_MB:1024,VCPU:2"
    assert repr(vector) == "Resources({'MEMORY_MB': 1024, 'VCPU': 2})"
