"""Settings for all tests."""

from __future__ import annotations

import gc
import os
import tarfile
from collections.abc import Callable
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

pytest_plugins = ["tests.servers.fixtures"]

# The same examples on every run and machine; HYPOTHESIS_PROFILE=hunt looks for new ones.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None, max_examples=100)
settings.register_profile("hunt", deadline=None, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# Programs that tests start keep their compiled modules, as installed ones do. Compiling takes as long as the rest of a
# start, so a killed engine would come back later than in production.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the tests that run inside Nova, which compute for minutes, among tests that mostly wait.

    They go between modules, because a module that is interrupted starts its servers twice. Those of one class, which
    share a Nova, stay together. The crash tests come first, because one of them takes minutes, and all would wait for
    it in the end.
    """
    items.sort(key=lambda item: "crash" not in item.path.parts)
    in_nova = [list(tests) for kind, tests in groupby(items, _class_in_nova) if kind]
    others = [item for item in items if not _class_in_nova(item)]
    spread: list[pytest.Item] = []
    passed = 0
    for _, module in groupby(others, lambda item: item.path):
        while in_nova and passed * (len(items) - len(others)) >= (len(spread) - passed) * len(others):
            spread += in_nova.pop(0)
        tests = list(module)
        spread += tests
        passed += len(tests)
    items[:] = [*spread, *chain.from_iterable(in_nova)]


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
