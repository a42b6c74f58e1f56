from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from lease_scheduler.rehearsal.cloud.nova.scheduler import plugins


def test_the_stand_ins_for_nova_are_gone_afterwards() -> None:
    before = {name for name in sys.modules if name.partition(".")[0] == "nova"}
    lease_filter, lease_weigher = plugins.load({"freepool": "mine", "weight_multiplier": -1.0}, lambda: 0.0)
    assert {name for name in sys.modules if name.partition(".")[0] == "nova"} == before
    assert "lease_scheduler.nova.lease_filter" not in sys.modules
    assert type(lease_filter).__name__ == "LeaseFilter"
    assert lease_filter._freepool == "mine"
    assert lease_weigher.weight_multiplier(SimpleNamespace(aggregates=())) == -1.0


@pytest.mark.parametrize(("said", "expected"), [([], 2.0), (["3", "1.5"], 1.5), (["x"], 2.0)])
def test_an_aggregate_may_say_another_weight(said: list[str], expected: float) -> None:
    aggregates = [SimpleNamespace(metadata={"weight": each}) for each in said]
    assert plugins.weight_multiplier(SimpleNamespace(aggregates=aggregates), "weight", 2.0) == expected


def test_a_rebuild_is_known_by_its_hint() -> None:
    assert plugins.is_rebuild(SimpleNamespace(scheduler_hints={"_nova_check_type": ["rebuild"]}))
    assert not plugins.is_rebuild(SimpleNamespace(scheduler_hints=None))
