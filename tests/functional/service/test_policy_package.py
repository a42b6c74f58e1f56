"""A policy of another package: an engine in this process decides with it, and the simulator does."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lease_scheduler.cmd import configuration, lease_sim, wiring
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.store.sql import migrate
from tests.functional.lease_document import lease_document
from tests.functional.service.package import install

_LIMIT = 60.0
_PACKAGE = Path(__file__).parents[2] / "plugins" / "small_leases"

#: A lease of one node, and one of two, on two hosts.
_WORKLOAD = """<lease-workload name="two-leases">
  <site><resource-types names="CPU Memory"/>
    <nodes><node-set numnodes="2"><res type="CPU" amount="100"/><res type="Memory" amount="1000"/></node-set></nodes>
  </site>
  <lease-requests>{leases}</lease-requests>
</lease-workload>
"""
_LEASE = """
    <lease-request arrival="00:00:00"><lease id="{count}" preemptible="false">
      <nodes>
        <node-set numnodes="{count}"><res type="CPU" amount="40"/><res type="Memory" amount="400"/></node-set>
      </nodes>
      <start/><duration time="01:00:00"/><software><none/></software>
    </lease></lease-request>"""


@pytest.fixture(name="selected")
def _selected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration file that selects the policy of an installed package."""
    install(_PACKAGE, tmp_path / "installed", monkeypatch)
    found = tmp_path / "small-leases.conf"
    found.write_text("[scheduling]\npolicy_admission = small-leases\n[policy]\nextra = small_leases_most:1\n")
    return found


def test_an_engine_decides_with_it(selected: Path, tmp_path: Path) -> None:
    conf = configuration.load(
        ["--config-file", str(selected)],
        {
            ("database", "connection"): f"sqlite:///{tmp_path}/service.sqlite",
            ("service", "cloud"): "simulated",
            ("service", "site"): "policy-package",
            ("service", "state_path"): str(tmp_path),
        },
    )
    wiring.default_transport(conf, "fake://")
    migrate.upgrade(wiring.database(conf))
    engine = wiring.engine_service(conf, "engine")
    engine.start()
    try:
        assert engine.leadership.is_leading.wait(_LIMIT)
        names = [hypervisor.name for hypervisor in engine.driver.hypervisors()][:2]
        engine.methods["create_hosts"]({}, names)
        small, large = (lease_document("a lease", "immediate", count, duration=60) for count in (1, 2))
        assert engine.methods["create_lease"]({}, small)["lease_id"] == small["id"]
        with pytest.raises(RefusedError, match="nodes: at most 1, not 2"):
            engine.methods["create_lease"]({}, large)
    finally:
        engine.stop()


def test_the_simulator_decides_with_it(selected: Path, tmp_path: Path) -> None:
    workload, results = tmp_path / "two-leases.lwf", tmp_path / "results"
    workload.write_text(_WORKLOAD.format(leases="".join(_LEASE.format(count=count) for count in (1, 2))))
    words = ["run", str(workload), "--quiet", "--config-file", str(selected), "--output", str(results)]
    assert lease_sim.main(words) == 0
    with (results / "leases.csv").open(newline="") as file:
        states = {row["lease_id"]: row["state"] for row in csv.DictReader(file)}
    assert states == {"1": "done", "2": "rejected"}
