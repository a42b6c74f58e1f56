"""blazar-tempest-plugin, unchanged, against our service on a real Nova with the profile for Blazar's clients.

Its declarative tests need a service without any resources; its scenarios need a cloud with all hosts reservable.
Tempest runs in an environment of its own, and is told that there are no networks.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import types
import unittest
from collections.abc import Iterator
from pathlib import Path

import pytest
from gabbi import driver, fixture

from tests.compat import gabbi_files
from tests.functional.lab.service import Document, Service, in_seconds, running_service
from tests.servers import fixtures
from tests.servers.base import wait_until
from tests.servers.keystone import PASSWORD, REGION
from tests.servers.openstack import environment
from tests.servers.openstack.lab import Lab

pytestmark = pytest.mark.slow

_LIMIT = 120.0
_INSTALL_LIMIT_SECONDS = 600
_TEMPEST_LIMIT_SECONDS = 1200
_TEMPEST = "tempest==47.0.0"

_PROFILE: dict[str, dict[str, object]] = {
    "blazar": {"profile": "true"},
    "engine": {"discover_hosts": "false"},
    # Some of the plugin's leases are of the year 2050.
    "enforcement": {"max_lead_time": -1},
}

#: Runs the tests of a module. The plugin finds tempest's scenario module only if it has been imported before.
_PROGRAM = """
import sys, unittest
import tempest.scenario.manager
unittest.main(module=None, argv=["unittest", "-v", sys.argv[1]])
"""

#: Tests of each module; all of them have to run.
SCENARIOS = {
    "test_flavor_reservation": 1,
    "test_host_reservation": 3,
    "test_instance_reservation": 3,
    "test_reservation_concurrency": 1,
}


# -- the plugin's own tests ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["allocations", "hosts", "leases"])
def test_gabbi_file(lab: Lab, request: pytest.FixtureRequest, name: str) -> None:
    """Runs before the service of the other tests starts, because two services would not agree on the pool."""
    lab.ensure_running()
    try:
        package = gabbi_files.fetch(request.config.cache.mkdir("blazar-tempest-plugin"))
    except gabbi_files.FetchError as error:
        fixtures.missing(str(error))
    hosts = [each["hypervisor_hostname"] for each in lab.admin.compute("GET", "/os-hypervisors")["hypervisors"]]
    with running_service(lab, hosts=(), settings=_PROFILE) as started:
        # Until an engine leads, requests are refused.
        assert wait_until(lambda: started.ask(started.operator, "DELETE", "os-hosts/1").status_code == 404, _LIMIT)
        with gabbi_files.tempest_paths(f"http://127.0.0.1:{started.port}", hosts) as url:
            files = driver.build_tests(
                str(package / "blazar_tempest_plugin" / "tests" / "api" / "gabbits"),
                unittest.TestLoader(),
                test_loader_name=__name__,
                fixture_module=_with_token(lab.keystone.token(started.operator)),
                url=url,
            )
            (suite,) = [each for each in files if _file_of(each) == name]
            result = unittest.TestResult()
            suite.run(result)
    problems = [f"{test}\n{text}" for test, text in [*result.errors, *result.failures, *result.skipped]]
    assert not problems, "\n\n".join(problems)
    assert result.testsRun > 1


def _file_of(suite: unittest.TestSuite) -> str:
    (name,) = {type(test).__name__.removeprefix(f"{__name__}_").partition("_")[0] for test in suite}
    return name


def _with_token(token: str) -> types.ModuleType:
    """Return a module with the fixture by which the files log in."""

    class AuthenticationFixture(fixture.GabbiFixture):  # type: ignore[misc]
        def start_fixture(self) -> None:
            os.environ["OS_TOKEN"] = token

        def stop_fixture(self) -> None:
            os.environ.pop("OS_TOKEN", None)

    module = types.ModuleType("tokens")
    module.AuthenticationFixture = AuthenticationFixture  # type: ignore[attr-defined]
    return module


@pytest.fixture(scope="module")
def tempest(request: pytest.FixtureRequest) -> Path:
    """The interpreter of an environment with tempest and the plugin."""
    cache: Path = request.config.cache.mkdir("tempest")
    home = cache / f"{_TEMPEST}-{gabbi_files.REQUIREMENT}-{sys.implementation.cache_tag}"
    python = home / "bin" / "python"
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "done").exists():
            pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            for command in (
                [sys.executable, "-m", "venv", "--clear", str(home)],
                [*pip, _TEMPEST, gabbi_files.REQUIREMENT],
            ):
                ended = subprocess.run(
                    command, capture_output=True, text=True, timeout=_INSTALL_LIMIT_SECONDS, check=False
                )
                if ended.returncode:
                    fixtures.missing(f"tempest cannot be installed: {ended.stderr.strip()}")
            (home / "done").touch()
    return python


@pytest.fixture(scope="module")
def service(lab: Lab) -> Iterator[Service]:
    """Our service with the profile, with all hosts in its pool and an entry in the catalogue."""
    with running_service(lab, settings=_PROFILE) as started:
        entry = lab.keystone.ensure_service("reservation", f"http://127.0.0.1:{started.port}/v1")
        try:
            yield started
        finally:
            lab.keystone.remove_service(entry)


def _tempest_configuration(service: Service, folder: Path) -> None:
    lab = service.lab
    (image,) = lab.admin.image("GET", "/v2/images?status=active&visibility=public")["images"]
    no_services = dict.fromkeys(("cinder", "neutron", "swift", "horizon"), False)
    sections: dict[str, dict[str, object]] = {
        "DEFAULT": {"log_dir": folder, "log_file": "tempest.log"},
        "oslo_concurrency": {"lock_path": folder / "locks"},
        "auth": {
            "use_dynamic_credentials": True,
            "create_isolated_networks": False,
            "admin_username": "admin",
            "admin_password": PASSWORD,
            "admin_project_name": "admin",
            "admin_domain_name": "Default",
            "tempest_roles": "member",
        },
        "identity": {
            "uri_v3": lab.keystone.url,
            "auth_version": "v3",
            "region": REGION,
            "default_domain_id": "default",
        },
        "compute": {
            "image_ref": image["id"],
            "image_ref_alt": image["id"],
            "flavor_ref": lab.flavors["small"],
            "flavor_ref_alt": lab.flavors["small"],
            "region": REGION,
            "build_interval": 1,
        },
        "service_available": {"blazar": True, **no_services},
        "validation": {"run_validation": False},
    }
    (folder / "tempest.conf").write_text(environment.ini(sections))


@pytest.mark.parametrize("module", SCENARIOS)
def test_scenario(service: Service, tempest: Path, module: str, tmp_path: Path) -> None:
    _tempest_configuration(service, tmp_path)
    ended = subprocess.run(
        [str(tempest), "-W", "ignore", "-c", _PROGRAM, f"blazar_tempest_plugin.tests.scenario.{module}"],
        cwd=tmp_path,
        env=environment.variables(TEMPEST_CONFIG_DIR=str(tmp_path), TEMPEST_CONFIG="tempest.conf"),
        capture_output=True,
        text=True,
        timeout=_TEMPEST_LIMIT_SECONDS,
        check=False,
    )
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, f"{said[-10_000:]}\n{service.said()}"
    assert f"Ran {SCENARIOS[module]} test" in said, said
    assert "skipped" not in said, said
    service.nothing_left()


# -- what the plugin does not check ------------------------------------------------------------------------------


def test_tenants_and_their_reservations(service: Service) -> None:
    """Two projects, each with a host: neither gets onto the other's host, whatever the request says."""
    admin, ada, bob = service.admin, service.client(service.ada), service.client(service.bob)
    end, _ = in_seconds(600)
    leases = {
        user.name: service.lease(user, start_date="now", end_date=end, reservations=[_one_host()])
        for user in (service.ada, service.bob)
    }
    for lease in leases.values():
        service.becomes(lease, "active")
    ids = {name: str(lease["reservations"][0]["id"]) for name, lease in leases.items()}
    zones = {each["name"]: each for each in admin.compute("GET", "/os-aggregates")["aggregates"]}
    (own,) = zones[ids[service.ada.name]]["hosts"]
    adas_zone = f"blazar_{ids[service.ada.name]}"
    small = service.lab.flavors["small"]
    mine = ada.boot("mine", small, hints={"reservation": ids[service.ada.name]})
    others = [
        bob.boot("hint", small, hints={"reservation": ids[service.ada.name]}),
        bob.boot("zone", small, availability_zone=adas_zone),
        bob.boot(
            "both", small, {"reservation": ids[service.bob.name]}, availability_zone=f"blazar_{ids[service.ada.name]}"
        ),
        bob.boot("neither", small),
    ]
    states = service.settled([mine, *others])
    assert [states[each] for each in (mine, *others)] == ["ACTIVE", *["ERROR"] * 4]
    assert admin.server(mine)["OS-EXT-SRV-ATTR:host"] == own
    service.remove_servers(others)
    for lease in leases.values():
        service.is_cancelled(lease)
    service.nothing_left()


def test_a_group_of_servers_goes_with_its_lease(service: Service) -> None:
    """Whether the lease has started or not."""
    for start in (None, in_seconds(3_600)[0]):
        instances: Document = {
            "resource_type": "virtual:instance",
            "vcpus": 1,
            "memory_mb": 512,
            "disk_gb": 1,
            "amount": 2,
            "affinity": True,
            "resource_properties": "",
        }
        lease = service.lease(
            service.ada, start_date=start or "now", end_date=in_seconds(7_200)[0], reservations=[instances]
        )
        (reservation,) = lease["reservations"]
        groups = service.admin.compute("GET", "/os-server-groups?all_projects=1")["server_groups"]
        assert [(each["id"], each["policy"]) for each in groups] == [(reservation["server_group_id"], "affinity")]
        if start is None:
            service.becomes(lease, "active")
            client = service.client(service.ada)
            hints = {"group": reservation["server_group_id"]}
            servers = [client.boot("together", reservation["id"], hints=hints) for _ in range(3)]
            assert sorted(service.settled(servers).values()) == ["ACTIVE", "ACTIVE", "ERROR"]
        service.is_cancelled(lease)
        assert wait_until(lambda: _groups(service) == [], _LIMIT)
    service.nothing_left()


def _groups(service: Service) -> list[Document]:
    found: list[Document] = service.admin.compute("GET", "/os-server-groups?all_projects=1")["server_groups"]
    return found


def _one_host() -> Document:
    return {
        "resource_type": "physical:host",
        "min": 1,
        "max": 1,
        "hypervisor_properties": "",
        "resource_properties": "",
    }
