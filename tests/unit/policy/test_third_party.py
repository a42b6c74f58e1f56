"""A policy from another package: one class, one entry point, selected by its name."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "plugins" / "third_party_policy"

RANK = """
import numpy as np
from stevedore import DriverManager

from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.plan.interfaces import HostsAt
from lease_scheduler.policy.base import PolicyOptions

hosts = HostsAt(
    numbers=np.array([3, 5, 8, 9]),
    leases=np.array([2, 1, 0, 1]),
    free=np.array([0.25, 0.5, 1.0, 0.5]),
    unchanged=np.array([10, 10, 10, 10]),
)
request = LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({"VCPU": 1})),), 0)
options = PolicyOptions({"emptiest_first_minimum_free": "50"})
manager = DriverManager(
    "lease_scheduler.policy.host_selection", "emptiest-first", invoke_on_load=True, invoke_args=(options,)
)
print(manager.driver.rank(hosts, request).tolist())
"""

# Two hosts: the first lease leaves 60 % of one of them free; the second one needs exactly that of both.
WORKLOAD = """<lease-workload name="two-hosts">
  <site><resource-types names="CPU Memory"/>
    <nodes><node-set numnodes="2"><res type="CPU" amount="100"/><res type="Memory" amount="1000"/></node-set></nodes>
  </site>
  <lease-requests>
    <lease-request arrival="00:00:00"><lease id="1" preemptible="false">
      <nodes><node-set numnodes="1"><res type="CPU" amount="40"/><res type="Memory" amount="400"/></node-set></nodes>
      <start/><duration time="01:00:00"/><software><none/></software>
    </lease></lease-request>
    <lease-request arrival="00:10:00"><lease id="2" preemptible="false">
      <nodes><node-set numnodes="2"><res type="CPU" amount="60"/><res type="Memory" amount="600"/></node-set></nodes>
      <start/><duration time="00:10:00"/><software><none/></software>
    </lease></lease-request>
  </lease-requests>
</lease-workload>
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process in which the other package is installed, built without network."""
    # Building writes files beside the sources.
    sources = shutil.copytree(PACKAGE, tmp_path_factory.mktemp("sources") / "package")
    installed = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    run([*pip, "--target", str(installed), str(sources)], dict(os.environ))
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(installed), str(Path(__file__).parents[3])]),
        # stevedore caches entry points there.
        "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")),
    }


def run(command: list[str], environment: dict[str, str]) -> str:
    """Run a command, which must succeed, and return what it prints."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_third_party_policy_is_loaded_by_name_with_its_options(environment: dict[str, str]) -> None:
    """haizea F38: the fullest host is left out, equally empty ones keep their order."""
    assert run([sys.executable, "-c", RANK], environment) == "[8, 5, 9]\n"


@pytest.mark.parametrize(("minimum_free", "start_of_second"), [("0", "600"), ("60", "600"), ("61", "3600")])
def test_an_operator_can_select_a_third_party_policy(
    environment: dict[str, str], tmp_path: Path, minimum_free: str, start_of_second: str
) -> None:
    """haizea F38: its option decides when the second lease finds two hosts that are empty enough."""
    (tmp_path / "two-hosts.lwf").write_text(WORKLOAD)
    run(
        [
            *[sys.executable, "-m", "lease_scheduler.cmd.lease_sim", "run", str(tmp_path / "two-hosts.lwf"), "--quiet"],
            *["--set", "scheduling.policy_host_selection=emptiest-first"],
            *["--set", f"policy.extra=emptiest_first_minimum_free:{minimum_free}"],
            *["--output", str(tmp_path / "results")],
        ],
        environment,
    )
    with (tmp_path / "results" / "leases.csv").open(newline="") as file:
        leases = {row["lease_id"]: row for row in csv.DictReader(file)}
    assert (leases["1"]["state"], leases["1"]["start"]) == ("done", "0")
    assert (leases["2"]["state"], leases["2"]["start"]) == ("done", start_of_second)


def test_without_the_package_the_name_is_refused(tmp_path: Path) -> None:
    """haizea F38: the error lists what is installed."""
    (tmp_path / "two-hosts.lwf").write_text(WORKLOAD)
    done = subprocess.run(
        [
            *[sys.executable, "-m", "lease_scheduler.cmd.lease_sim", "run", str(tmp_path / "two-hosts.lwf"), "--quiet"],
            *["--set", "scheduling.policy_host_selection=emptiest-first"],
        ],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "there is no policy 'emptiest-first'; installed are: greedy, no-policy, packing" in done.stderr
