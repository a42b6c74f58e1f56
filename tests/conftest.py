"""Settings for all tests."""

from __future__ import annotations

import gc
import os
import tarfile
from collections.abc import Callable, Generator
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.running_order import dealt

pytest_plugins = ["tests.servers.fixtures"]

# The same examples on every run and machine; HYPOTHESIS_PROFILE=hunt looks for new ones.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None, max_examples=100)
settings.register_profile("hunt", deadline=None, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# Programs that tests start keep their compiled modules, as installed ones do. Compiling takes as long as the rest of a
# start, so a killed engine would come back later than in production.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage meanwhile: the tests stay, and looking takes a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests in an order in which all workers are busy until the end.

    Long are those of folders in which programs and servers are started. Those of a module stay together, because a
    module that is interrupted starts its servers twice; so do those of a class in Nova, which share a Nova. The crash
    tests come first, because one of them takes minutes.
    """
    in_nova = [list(tests) for kind, tests in groupby(items, _class_in_nova) if kind]
    others = [item for item in items if not _class_in_nova(item)]
    others.sort(key=lambda item: "crash" not in item.path.parts)
    ordered = _spread(in_nova, [list(tests) for _, tests in groupby(others, lambda item: item.path)])
    workers: int = getattr(config, "workerinput", {}).get("workercount", 1)
    items[:] = dealt(ordered, lambda item: (item.path, _class_in_nova(item)), _is_long, workers)


def _spread(in_nova: list[list[pytest.Item]], modules: list[list[pytest.Item]]) -> list[pytest.Item]:
    """Put the tests in Nova, which compute for minutes, between modules that mostly wait."""
    long = sum(_is_long(tests[0]) for tests in modules)
    order: list[pytest.Item] = []
    placed = passed = 0
    for tests in modules:
        order += tests
        passed += _is_long(tests[0])
        while placed < len(in_nova) and placed * long < passed * len(in_nova):
            order += in_nova[placed]
            placed += 1
    return [*order, *chain.from_iterable(in_nova[placed:])]


def _is_long(item: pytest.Item) -> bool:
    return not {"functional", "compat"}.isdisjoint(item.path.parts)


def _class_in_nova(item: pytest.Item) -> str:
    """Return the class of a test that runs inside Nova, and of any other an empty text."""
    return item.name.rpartition(".")[0] if item.name.startswith("test_on_nova[") else ""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exempt the collected tests and all modules, which stay, from garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests marked ``data`` where the recorded workloads are not at hand."""
    if item.get_closest_marker("data") and not os.environ.get("LEASE_SCHEDULER_DATA"):
        pytest.skip("needs the recorded workloads: set LEASE_SCHEDULER_DATA to their folder")


@pytest.fixture(scope="session")
def unpack() -> Callable[[Path, Path], None]:
    """Unpacks an archive of the recorded workloads into a folder."""
    # Python has the filter only from 3.11.4 on, and Debian 12 ships 3.11.2.
    options: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}

    def into(path: Path, folder: Path) -> None:
        with tarfile.open(path) as archive:
            archive.extractall(folder, **options)

    return into
