"""The options of pools: which values a pool sees, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.cmd.configuration import Reloading, load
from lease_scheduler.cmd.options.loading import load_configuration
from lease_scheduler.cmd.options.pools import conf_of_pool, host_patterns, pool_rules
from lease_scheduler.cmd.options.service import live_engine_options
from lease_scheduler.cmd.options.simulation import run_settings
from lease_scheduler.cmd.planning import SitePlanning
from lease_scheduler.cmd.policies import configured_policies
from lease_scheduler.conf.pools import OVERRIDDEN, options_of_pool
from lease_scheduler.conf.unknown import refuse_unknown_options
from lease_scheduler.conf.values import live_planning_options, policy_options
from lease_scheduler.engine.relocation_options import RelocationOptions
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.pools import PoolRule
from lease_scheduler.plan.options import RoomLead, Suspension

#: Parts of the service ask the cloud for its preparation time.
_CLOUD = "[service]\ncloud = simulated\n"
_FILE = """
[scheduling]
suspension = none
policy_preemption = by-kind
backfilling = intermediate
backfilling_reservations = 4
least_slack_first = false
[policy]
pricing_rate = 7
[pools]
names = general, gpu
[pool:gpu]
hosts = gpu-*, node-[0-9]
projects = physics
roles = GPU-User
suspension = all
room_lead = lose
refund_share = 0.25
backfilling = conservative
policy_preemption = no-preemption
policy_pricing = constant
pricing_rate = 3
"""


def _load(tmp_path: Path, text: str) -> Any:
    file = tmp_path / "service.conf"
    file.write_text(_CLOUD + text)
    return load(["--config-file", str(file)], program="program")


def test_a_pool_sees_what_it_sets_and_else_what_the_site_has(tmp_path: Path) -> None:
    conf = _load(tmp_path, _FILE)
    general, gpu = conf_of_pool(conf, "general"), conf_of_pool(conf, "gpu")
    assert live_planning_options(general) == live_planning_options(conf)
    own = live_planning_options(gpu)
    assert (own.suspension, own.room_lead, own.backfilling_limit) == (Suspension.ALL, RoomLead.LOSE, None)
    assert own.least_slack_first is False
    assert policy_options(general)["pricing_rate"] == "7.0"
    assert policy_options(gpu)["pricing_rate"] == "3.0"
    assert policy_options(gpu)["pricing_max_rate"] == policy_options(conf)["pricing_max_rate"]
    assert live_engine_options(gpu).refund_share == 0.25
    assert live_engine_options(general) == live_engine_options(conf)
    assert gpu.service.site == conf.service.site


def test_every_option_of_planning_and_policies_can_be_set_for_a_pool() -> None:
    names = [option.name for option in options_of_pool()]
    assert len(names) == len(set(names))
    assert {option.name for options in OVERRIDDEN.values() for option in options} <= set(names)
    assert all(option.default is None for option in options_of_pool()[3:])


def test_each_pool_has_its_own_policies(tmp_path: Path) -> None:
    planning = SitePlanning(_load(tmp_path, _FILE))
    assert list(planning.pools) == ["general", "gpu"]
    general, gpu = (found.policies.make() for found in planning.pools.values())
    assert (general.preemption.name, gpu.preemption.name) == ("by-kind", "no-preemption")
    assert (general.pricing.charges, gpu.pricing.charges) == (False, True)
    assert gpu.pricing.rate(None, None) == 3.0
    assert gpu.admission is not general.admission


def test_projects_and_hosts_of_a_pool(tmp_path: Path) -> None:
    conf = _load(tmp_path, _FILE)
    rules = (PoolRule("general"), PoolRule("gpu", frozenset({"physics"}), frozenset({"gpu-user"})))
    assert pool_rules(conf) == rules
    assert (host_patterns(conf, "general"), host_patterns(conf, "gpu")) == ((), ("gpu-*", "node-[0-9]"))


def test_a_site_without_pools_has_none(tmp_path: Path) -> None:
    conf = _load(tmp_path, "")
    assert pool_rules(conf) == ()
    assert SitePlanning(conf).pools == {}


def test_options_of_pools_are_read_again(tmp_path: Path) -> None:
    """Those that may change while the service runs do so in pools, too; the names of pools need a restart."""
    file = tmp_path / "service.conf"
    conf = _load(tmp_path, _FILE)
    planning = SitePlanning(conf)
    again = _FILE.replace("pricing_rate = 3", "pricing_rate = 5").replace("physics", "biology")
    file.write_text(_CLOUD + again.replace("general, gpu", "general, gpu, rack"))
    Reloading(conf, ["--config-file", str(file)], lambda fresh: None, planning.check)()
    assert planning.pools["gpu"].policies.make().pricing.rate(None, None) == 5.0
    assert pool_rules(conf)[1].projects == {"biology"}
    assert conf.pools.names == ["general", "gpu"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[pools]\nnames = a, a\n", "pools.names: a is there twice"),
        ("[pools]\nnames = a b\n", r"doesn't match regex"),
        ("[pools]\nnames = a\n[pool:a]\npolicy_preemtion = x\n", "is policy_preemption meant"),
        ("[pools]\nnames = a\n[pool:b]\nhosts = x\n", r"\[pool:b\]: \[pools\] names has a; add the pool there"),
        ("[pool:b]\nhosts = x\n", r"\[pools\] names has no pool"),
        ("[pool]\nnames = a\n", r"is \[pools\] meant"),
        (
            "[pools]\nnames = a\n[pool:a]\nroom_lead = charge\n",
            "pool a: scheduling.room_lead: charge is for simulations",
        ),
        ("[pools]\nnames = a\n[pool:a]\nbackfilling = intermediate\n", "pool a: scheduling.backfilling_reservations"),
        ("[pools]\nnames = a\n[pool:a]\nsuspend_rate = 0\n", "suspend_rate"),
        ("[pools]\nnames = a\n[engine]\npolicy_preemption = x\n", r"belongs to \[scheduling\]"),
    ],
)
def test_what_is_wrong_is_refused_at_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        _load(tmp_path, text)
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    with pytest.raises(InvalidValueError, match=message):
        raise InvalidValueError("it", line)


def test_a_policy_that_does_not_exist_names_the_pool(tmp_path: Path) -> None:
    conf = _load(tmp_path, "[pools]\nnames = a\n[pool:a]\npolicy_queueing = best\n")
    with pytest.raises(InvalidValueError, match="pool a: scheduling.policy_queueing: there is no policy 'best'"):
        SitePlanning(conf)


def test_the_simulator_has_no_pools(tmp_path: Path) -> None:
    file = tmp_path / "service.conf"
    file.write_text(_FILE)
    with pytest.raises(InvalidValueError, match="pools.names: is for the service; a simulated site has one pool"):
        run_settings(load_configuration([file], {}))


def test_an_empty_group_of_a_pool_is_no_mistake(tmp_path: Path) -> None:
    """The sample configuration has one as an example."""
    file = tmp_path / "a.conf"
    file.write_text("[pool:example]\n")
    refuse_unknown_options([file])


def test_a_pool_may_move_its_running_leases(tmp_path: Path) -> None:
    text = "[pools]\nnames = general, gpu\n[pool:gpu]\npolicy_relocation = energy-aware\nrelocation_budget = 3\n"
    conf = _load(tmp_path, text)
    general, gpu = conf_of_pool(conf, "general"), conf_of_pool(conf, "gpu")

    assert configured_policies(gpu).relocation.relocates
    assert not configured_policies(general).relocation.relocates
    assert live_engine_options(gpu).relocation == replace(live_engine_options(general).relocation, budget=3)
    assert live_engine_options(general).relocation == RelocationOptions()


@pytest.mark.parametrize("option", ["relocation_interval = 0", "relocation_budget = 0", "relocation_rest = no"])
def test_wrong_limits_of_moves_are_refused(tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _load(tmp_path, f"[scheduling]\n{option}\n")
    assert option.split()[0] in capsys.readouterr().err
