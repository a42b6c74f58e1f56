"""The gabbi files of blazar-tempest-plugin, unchanged.

Its seven scenario tests boot servers; ``tests/functional/lab/test_blazar.py`` runs them on a real Nova. They are named
here so that a new test in another version is not overlooked.
"""

from __future__ import annotations

import ast
import sys
import unittest
from pathlib import Path

import pytest
from gabbi import driver

from tests.compat import gabbi_files
from tests.compat.shell import ReservationService
from tests.servers import fixtures

HOSTS = ("compute-1", "compute-2", "compute-3", "compute-4")

#: Number of steps of each file; all of them have to run.
STEPS = {"allocations": 9, "hosts": 6, "leases": 7}

#: Run on the lab.
SCENARIOS = {
    "test_flavor_reservation": {"test_flavor_instance_reservation"},
    "test_host_reservation": {"test_host_reservation", "test_lease_expiration", "test_update_host_reservation"},
    "test_instance_reservation": {
        "test_instance_reservation",
        "test_lease_expiration",
        "test_update_instance_reservation",
    },
}


@pytest.fixture(scope="module")
def package(request: pytest.FixtureRequest) -> Path:
    """The unpacked package."""
    assert request.config.cache is not None
    try:
        folder = gabbi_files.fetch(request.config.cache.mkdir("blazar-tempest-plugin"))
    except gabbi_files.FetchError as error:
        fixtures.missing(str(error))
    return folder / "blazar_tempest_plugin" / "tests"


@pytest.mark.parametrize("name", STEPS)
def test_gabbi_file(reservation_service: ReservationService, package: Path, name: str) -> None:
    with gabbi_files.tempest_paths(reservation_service.url, HOSTS) as url:
        files = driver.build_tests(
            str(package / "api" / "gabbits"),
            unittest.TestLoader(),
            test_loader_name=__name__,
            fixture_module=gabbi_files,
            url=url,
        )
        (suite,) = [each for each in files if _file_of(each) == name]
        result = unittest.TestResult()
        suite.run(result)
    problems = [f"{test}\n{text}" for test, text in [*result.errors, *result.failures]]
    problems += [f"{test}: skipped, {reason}" for test, reason in result.skipped]
    assert not problems, "\n\n".join(problems)
    assert result.testsRun == STEPS[name]


def _file_of(suite: unittest.TestSuite) -> str:
    (name,) = {type(test).__name__.removeprefix(f"{__name__}_").partition("_")[0] for test in suite}
    return name


def test_what_needs_a_real_nova_is_known(package: Path) -> None:
    found = {}
    for path in sorted((package / "scenario").glob("test_*.py")):
        functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
        found[path.stem] = {function.name for function in functions if function.name.startswith("test_")}
    # The test of concurrent lists of leases needs no Nova: see test_parallel.py.
    assert found.pop("test_reservation_concurrency")
    assert found == SCENARIOS
    assert sys.modules.get("tempest") is None, "the files are read, not run"
