from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy import loader
from lease_scheduler.policy.base import Policy, PolicyOptions
from lease_scheduler.policy.duration.base import DurationPolicy
from lease_scheduler.policy.host_selection.base import HostSelectionPolicy
from lease_scheduler.policy.host_selection.no_policy import NoPolicy
from lease_scheduler.policy.mapper.base import MapperPolicy
from lease_scheduler.policy.policy_set import FAMILIES
from lease_scheduler.policy.preemption.base import PreemptionPolicy
from lease_scheduler.policy.queueing.base import QueueingPolicy


def test_every_policy_of_the_specification_is_installed() -> None:
    """haizea F35, F36, F37, F38: Haizea's names, and ours."""
    assert set(loader.policy_names("admission")) >= {"accept-all", "no-ARs", "minimum-notice"}
    assert set(loader.policy_names("preemption")) >= {
        "no-preemption", "ar-preempts-everything", "ar-preempts-be", "deadline", "by-kind",
    }  # fmt: skip
    assert set(loader.policy_names("pricing")) >= {"free", "constant", "random", "maximum", "adaptive"}
    assert set(loader.policy_names("penalty")) >= {"none", "proportional", "tiered"}
    assert set(loader.policy_names("mapper")) >= {"greedy", "spread"}
    assert set(loader.policy_names("queueing")) >= {"fifo"}
    assert set(loader.policy_names("duration")) >= {"requested"}
    assert set(loader.policy_names("host_selection")) >= {"greedy", "no-policy", "packing"}


def test_every_installed_policy_loads() -> None:
    options = PolicyOptions()
    for family, declared in FAMILIES.items():
        names = loader.policy_names(family)
        assert names
        for name in names:
            policy = loader.load_policy(family, name, options)
            assert isinstance(policy, declared.base)
            assert policy.options is options
            assert policy.name == name


def test_an_unknown_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InvalidValueError, match=r"scheduling.policy_host_selection: .*'best'.*greedy"):
        loader.load_policy("host_selection", "best", PolicyOptions())


def test_a_class_of_another_family_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "DriverManager", lambda *_, **__: SimpleNamespace(driver=NoPolicy(PolicyOptions())))
    with pytest.raises(InvalidValueError, match=r"scheduling.policy_mapper: 'no-policy' does not extend MapperPolicy"):
        loader.load_policy("mapper", "no-policy", PolicyOptions())


@pytest.mark.parametrize("base", [DurationPolicy, HostSelectionPolicy, MapperPolicy, PreemptionPolicy, QueueingPolicy])
def test_a_policy_without_its_method_cannot_be_made(base: Callable[[PolicyOptions], Policy]) -> None:
    """The planner's Protocols are the only declaration of these methods, and they still have to be implemented."""
    with pytest.raises(TypeError, match="abstract"):
        base(PolicyOptions())
