"""The families of policies, and a policy of each of them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from lease_scheduler.conf import scheduling
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policies, load_policy, policy_names
from lease_scheduler.policy.policy_set import FAMILIES, PolicySet


def test_a_family_that_is_left_out_has_its_default_policy() -> None:
    chosen = load_policies({"preemption": "no-preemption"}, PolicyOptions())
    assert chosen.preemption.name == "no-preemption"
    assert {name: policy.name for name, policy in chosen.by_family().items() if name != "preemption"} == {
        name: family.default for name, family in FAMILIES.items() if name != "preemption"
    }


@pytest.mark.parametrize("name", FAMILIES)
def test_the_default_of_a_family_is_the_policy_of_that_name(name: str) -> None:
    """So a set that is made without names equals one that is loaded without names."""
    family, made = FAMILIES[name], getattr(PolicySet(), name)
    assert type(made) is type(load_policy(name, family.default, PolicyOptions()))
    assert made.name == family.default
    assert isinstance(made, family.base)


def test_a_set_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        PolicySet().admission = PolicySet().admission  # type: ignore[misc]


def test_each_family_has_an_option_and_policies() -> None:
    assert [each.name for each in fields(PolicySet)] == list(FAMILIES)
    options = {option.name: option for option in scheduling.OPTIONS}
    for family in FAMILIES.values():
        option = options[family.option]
        assert option.default == family.default
        assert option.mutable
        assert f"decides {family.decides}. Name of an entry point in the namespace {family.namespace}." in str(
            option.help
        )
        assert family.default in policy_names(family.name)


def test_a_name_without_a_family_is_refused() -> None:
    with pytest.raises(
        InvalidValueError, match="policies: there is no family 'premption'; the families are: admission"
    ):
        load_policies({"premption": "by-kind"}, PolicyOptions())
