"""The tests that run inside Nova, started in the environment that has it."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers.base import MissingServerError
from tests.servers.fixtures import REQUIRE_SERVERS, missing
from tests.servers.openstack import environment

_ROOT = Path(__file__).parents[3]
#: Seconds; faulthandler_timeout would end all of pytest some time later.
_LIMIT = 400
#: Number of tests that one process runs.
_PIECE = 7


@pytest.fixture(scope="module")
def python(request: pytest.FixtureRequest) -> Path:
    """The interpreter of the environment."""
    try:
        return environment.install(request.config.cache.mkdir("openstack"))
    except MissingServerError as error:
        missing(str(error))


def _run(python: Path, *words: str) -> str:
    """Run a program in the environment; it must succeed. Return its output."""
    ended = subprocess.run(
        [str(python), "-W", "ignore", "-m", *words],
        cwd=_ROOT,
        env=environment.variables(PYTHONPATH=str(_ROOT)),
        capture_output=True,
        text=True,
        timeout=_LIMIT,
        check=False,
    )
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said[-20_000:]
    return said


def _all_ran(verdict: str) -> None:
    """Check the last line of a successful run: unittest also succeeds if tests were skipped."""
    if "skipped" in verdict:
        missing(f"Nova's environment lacks something: {verdict}")
    assert verdict == "OK" or re.fullmatch(r"\d+ passed.*", verdict), verdict


@pytest.mark.parametrize("verdict", ["OK (skipped=3)", "12 passed, 1 skipped in 0.5s"])
def test_skipped_tests_do_not_pass(verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REQUIRE_SERVERS, "1")
    with pytest.raises(pytest.fail.Exception, match="skipped"):
        _all_ran(verdict)
    monkeypatch.delenv(REQUIRE_SERVERS)
    with pytest.raises(pytest.skip.Exception, match="skipped"):
        _all_ran(verdict)
    _all_ran("OK")
    _all_ran("12 passed in 0.5s")


def test_filter_and_weigher(python: Path) -> None:
    """On the objects of nova-scheduler."""
    folder = "tests/in_nova"
    options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--import-mode=importlib"]
    places = ["--rootdir", folder, "--confcutdir", folder, "--ignore", f"{folder}/functional", folder]
    _all_ran(_run(python, "pytest", *options, *places).splitlines()[-1])


def _tests(path: Path) -> list[str]:
    """Return the tests of a module by unittest's names; the module cannot be imported here."""
    classes = {node.name: node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)}

    def methods(name: str) -> list[str]:
        bases = [base.id for base in classes[name].bases if isinstance(base, ast.Name) and base.id in classes]
        own = [node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)]
        return [method for base in bases for method in methods(base)] + own

    return [
        f"tests.in_nova.functional.{path.stem}.{name}.{method}"
        for name in classes
        if name.endswith("Test")
        for method in methods(name)
        if method.startswith("test_")
    ]


def _pieces() -> Iterator[Any]:
    """Yield some tests of a module at a time, so that none takes too long and few start a Nova of their own."""
    for path in sorted((_ROOT / "tests" / "in_nova" / "functional").glob("test_*.py")):
        tests = _tests(path)
        for first in range(0, len(tests), _PIECE):
            yield pytest.param(tests[first : first + _PIECE], id=f"{path.stem}-{first + 1}")


@pytest.mark.parametrize("names", list(_pieces()))
def test_on_nova(python: Path, names: list[str]) -> None:
    """On a Nova and a Placement that run in the process of the test."""
    said = _run(python, "unittest", *names)
    assert f"Ran {len(names)} test" in said
    (verdict,) = [line for line in said.splitlines() if line == "OK" or line.startswith("OK (")]
    _all_ran(verdict)
