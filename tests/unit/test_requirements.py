"""The requirements name everything that the code imports, so that an installation lacks nothing."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from configparser import ConfigParser
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_ROOT = Path(__file__).parents[2]
_OURS = {"benchmarks", "lease_scheduler", "setup", "tests", "tools"}

#: Installed wherever these parts of ours are loaded: the filter and the weigher in nova-scheduler, and their tests.
#: Nova brings eventlet.
_HOSTS_OF_OURS = {"nova", "placement", "eventlet"}

#: Loaded by the name at the beginning of a database URL, or by zoneinfo where the system has no time zones.
_BY_NAME = {"psycopg2-binary", "pymysql", "tzdata"}


def _required(*files: str) -> set[str]:
    return _names(line for file in files for line in (_ROOT / file).read_text().splitlines())


def _extras() -> set[str]:
    """Return the packages of optional features."""
    setup = ConfigParser()
    setup.read(_ROOT / "setup.cfg")
    return _names(line for _, lines in setup.items("extras") for line in lines.splitlines())


def _names(lines: Iterable[str]) -> set[str]:
    stripped = (line.partition("#")[0].strip() for line in lines)
    return {canonicalize_name(Requirement(line).name) for line in stripped if line}


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@cache
def _distributions(folder: str) -> dict[str, set[str]]:
    """Return, for each imported package of others, the distributions that it may come from."""
    names = {name for path in (_ROOT / folder).rglob("*.py") for name in _imports(path)}
    known = packages_distributions()
    foreign = names - _OURS - _HOSTS_OF_OURS - sys.stdlib_module_names
    return {name: {canonicalize_name(each) for each in known.get(name, [name])} for name in foreign}


@pytest.mark.parametrize(
    ("folder", "files"),
    [
        ("lease_scheduler", ["requirements.txt"]),
        *((folder, ["requirements.txt", "test-requirements.txt"]) for folder in ("tests", "benchmarks", "tools")),
    ],
)
def test_every_import_is_required(folder: str, files: list[str]) -> None:
    required = _required(*files) | _extras()
    assert {name for name, sources in _distributions(folder).items() if not sources & required} == set()


def test_nothing_is_required_in_vain() -> None:
    used = set().union(*_distributions("lease_scheduler").values(), _BY_NAME, {"pbr"})
    assert _required("requirements.txt") - used == set()
