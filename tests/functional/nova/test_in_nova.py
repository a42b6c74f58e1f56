"""The tests that run inside Nova, started in the environment that has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.functional.nova.in_nova import FOLDER, all_ran, names_in, run, run_tests
from tests.servers.fixtures import REQUIRE_SERVERS

#: Number of tests that one process runs.
_PIECE = 7


@pytest.mark.parametrize("verdict", ["OK (skipped=3)", "12 passed, 1 skipped in 0.5s"])
def test_skipped_tests_do_not_pass(verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REQUIRE_SERVERS, "1")
    with pytest.raises(pytest.fail.Exception, match="skipped"):
        all_ran(verdict)
    monkeypatch.delenv(REQUIRE_SERVERS)
    with pytest.raises(pytest.skip.Exception, match="skipped"):
        all_ran(verdict)
    all_ran("OK")
    all_ran("12 passed in 0.5s")


def test_filter_and_weigher(python: Path) -> None:
    """On the objects of nova-scheduler."""
    folder = "tests/in_nova"
    options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--import-mode=importlib"]
    places = ["--rootdir", folder, "--confcutdir", folder, "--ignore", f"{folder}/functional", folder]
    all_ran(run(python, "pytest", *options, *places).splitlines()[-1])


def _pieces() -> Iterator[Any]:
    """Yield some tests of a module at a time, so that none takes too long and few start a Nova of their own."""
    for path in sorted(FOLDER.glob("test_*.py")):
        tests = names_in(path)
        for first in range(0, len(tests), _PIECE):
            yield pytest.param(tests[first : first + _PIECE], id=f"{path.stem}-{first + 1}")


@pytest.mark.parametrize("names", list(_pieces()))
def test_on_nova(python: Path, names: list[str]) -> None:
    """On a Nova and a Placement that run in the process of the test."""
    run_tests(python, names)
