"""The tests that run inside Nova, started in the environment that has it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.servers.base import MissingServerError
from tests.servers.fixtures import missing
from tests.servers.openstack import environment

_ROOT = Path(__file__).parents[3]
_LIMIT = 900


@pytest.fixture(scope="module")
def python(request: pytest.FixtureRequest) -> Path:
    """The interpreter of the environment."""
    try:
        return environment.install(request.config.cache.mkdir("openstack"))
    except MissingServerError as error:
        missing(str(error))


def _run(python: Path, *words: str) -> str:
    """What a program said that ran there; it must succeed."""
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


def test_filter_and_weigher(python: Path) -> None:
    """On the objects of nova-scheduler."""
    folder = "tests/in_nova"
    options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--import-mode=importlib"]
    places = ["--rootdir", folder, "--confcutdir", folder, "--ignore", f"{folder}/functional", folder]
    assert " passed" in _run(python, "pytest", *options, *places)


def _classes() -> list[str]:
    """The classes of tests, as unittest calls them; their modules cannot be imported here."""
    return [
        f"{path.stem}.{name}"
        for path in sorted((_ROOT / "tests" / "in_nova" / "functional").glob("test_*.py"))
        for name in re.findall(r"^class (\w+Test)\(", path.read_text(), re.MULTILINE)
    ]


@pytest.mark.parametrize("name", _classes())
def test_on_nova(python: Path, name: str) -> None:
    """On a Nova and a Placement that run in the process of the test, a class at a time so that none takes too long."""
    assert "\nOK" in _run(python, "unittest", f"tests.in_nova.functional.{name}")
