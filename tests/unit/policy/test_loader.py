from __future__ import annotations

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy import loader
from lease_scheduler.policy.base import PolicyOptions


def test_every_policy_of_the_specification_is_installed() -> None:
    """haizea F35, F36, F37, F38: Haizea's names, and ours."""
    assert set(loader.policy_names("admission")) >= {"accept-all", "no-ARs", "minimum-notice"}
    assert set(loader.policy_names("preemption")) >= {
        "no-preemption", "ar-preempts-everything", "ar-preempts-be", "deadline", "by-kind",
    }  # fmt: skip
    assert set(loader.policy_names("pricing")) >= {"free", "constant", "random", "maximum", "adaptive"}
    assert set(loader.policy_names("mapper")) >= {"greedy", "spread"}
    assert set(loader.policy_names("host_selection")) >= {"greedy", "no-policy", "packing"}


def test_every_installed_policy_loads() -> None:
    options = PolicyOptions()
    loaders = {
        "admission": loader.load_admission,
        "preemption": loader.load_preemption,
        "host_selection": loader.load_host_selection,
        "mapper": loader.load_mapper,
        "pricing": loader.load_pricing,
    }
    for kind, load in loaders.items():
        for name in loader.policy_names(kind):
            assert load(name, options).options is options  # type: ignore[attr-defined]


def test_an_unknown_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InvalidValueError, match=r"scheduling.policy_host_selection: .*'best'.*greedy"):
        loader.load_host_selection("best", PolicyOptions())
