"""The settings of the DevStack plug-in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.devstack.node import COMPUTE, CONTROLLER, make_node

_SHOW = """
set -o errexit -o nounset
source "$FUNCTIONS"
source "$PLUGIN/settings"
declare -p ENABLED_SERVICES ${!LEASE_SCHEDULER_*}
"""

_OURS = {"lease-scheduler-api", "lease-scheduler-engine"}


def _settings(folder: Path, services: tuple[str, ...] = CONTROLLER, **variables: str) -> dict[str, str]:
    ended = make_node(folder, services, **variables).bash(_SHOW)
    assert ended.returncode == 0, ended.stderr
    pairs = (line.split(" ", 2)[2].split("=", 1) for line in ended.stdout.splitlines())
    return {name: value.strip('"') for name, value in pairs}


@pytest.mark.parametrize(
    ("services", "variables", "enabled"),
    [
        (CONTROLLER, {}, _OURS),
        (CONTROLLER, {"DISABLED_SERVICES": "lease-scheduler-engine"}, {"lease-scheduler-api"}),
        (COMPUTE, {}, set()),
        ((*COMPUTE, "lease-scheduler-engine"), {}, {"lease-scheduler-engine"}),
    ],
)
def test_the_node_with_keystone_gets_the_service(
    tmp_path: Path, services: tuple[str, ...], variables: dict[str, str], enabled: set[str]
) -> None:
    """Unless local.conf says otherwise."""
    found = _settings(tmp_path, services, **variables)["ENABLED_SERVICES"].split(",")
    assert set(found) & _OURS == enabled
    assert len(found) == len(set(found))


def test_what_local_conf_says_stays(tmp_path: Path) -> None:
    mine = {
        "LEASE_SCHEDULER_CONF_DIR": "/srv/conf",
        "LEASE_SCHEDULER_STATE_PATH": "/srv/state",
        "LEASE_SCHEDULER_DATABASE": "leases",
        "LEASE_SCHEDULER_USER": "leaser",
        "LEASE_SCHEDULER_SERVICE_HOST": "leases.example.org",
        "LEASE_SCHEDULER_SERVICE_PROTOCOL": "https",
        "LEASE_SCHEDULER_COORDINATION_URL": "etcd3+http://192.0.2.10:2379",
        "LEASE_SCHEDULER_FREEPOOL_NAME": "pool",
        "LEASE_SCHEDULER_ALLOW_PREEMPTIBLES": "False",
        "LEASE_SCHEDULER_ON_DEMAND_HORIZON": "3600",
        "LEASE_SCHEDULER_PROVIDER_CONFIG_DIR": "/srv/provider_config",
        "LEASE_SCHEDULER_NOTIFICATION_LIMIT": "50",
    }
    found = _settings(tmp_path, CONTROLLER, **mine)
    assert {name: found[name] for name in mine} == mine
    assert found["LEASE_SCHEDULER_CONF"] == "/srv/conf/lease-scheduler.conf"


def test_what_nobody_says_comes_from_devstack(tmp_path: Path) -> None:
    found = _settings(tmp_path, LEASE_SCHEDULER_CONF_DIR="", SERVICE_PROTOCOL="https")
    assert found["LEASE_SCHEDULER_SERVICE_HOST"] == "192.0.2.10"
    assert found["LEASE_SCHEDULER_SERVICE_PROTOCOL"] == "https"
    assert found["LEASE_SCHEDULER_STATE_PATH"] == str(tmp_path / "data" / "lease-scheduler")
    assert found["LEASE_SCHEDULER_CONF"] == "/etc/lease-scheduler/lease-scheduler.conf"
    assert Path(found["LEASE_SCHEDULER_DIR"]) == Path(__file__).parents[3]
