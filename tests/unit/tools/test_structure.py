"""The check of the sizes of modules and constructors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.structure import Limits, main, problems, read_limits

_LONG = "".join(f"VALUE_{number} = {number}\n" for number in range(6))

_WIDE = """class Wide:
    def __init__(self, one, two, *, three):
        pass
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "package" / "room").mkdir(parents=True)
    (tmp_path / "package" / "room" / "long.py").write_text(_LONG)
    (tmp_path / "package" / "wide.py").write_text(_WIDE)
    return tmp_path


@pytest.mark.parametrize("limits", [Limits(6, 3), Limits(100, 100)])
def test_what_is_within_the_limits_is_no_problem(package: Path, limits: Limits) -> None:
    assert list(problems(package, "package", limits)) == []


def test_a_long_module_and_a_wide_constructor_are_named_with_their_sizes(package: Path) -> None:
    assert list(problems(package, "package", Limits(5, 2))) == [
        "package/room/long.py: 6 lines, more than 5",
        "package/wide.py:1: the constructor of Wide has 3 parameters, more than 2",
    ]


def test_exceptions_are_allowed(package: Path) -> None:
    limits = Limits(5, 2, frozenset({"package/room/long.py", "package/wide.py:Wide"}))
    assert list(problems(package, "package", limits)) == []


def test_exceptions_that_nothing_needs_are_named(package: Path) -> None:
    limits = Limits(100, 2, frozenset({"package/room/long.py", "package/wide.py:Wide"}))
    assert list(problems(package, "package", limits)) == [
        "pyproject.toml: the exception package/room/long.py is not needed"
    ]


def test_limits_are_read_from_pyproject(tmp_path: Path) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text('[tool.structure]\nlines = 400\nparameters = 8\nexceptions = ["a.py"]\n')
    assert read_limits(project) == Limits(400, 8, frozenset({"a.py"}))


def test_the_status_is_one_if_something_is_too_large(
    package: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (package / "package").rename(package / "lease_scheduler")
    (package / "pyproject.toml").write_text("[tool.structure]\nlines = 5\nparameters = 8\n")
    monkeypatch.chdir(package)
    assert main() == 1
    assert capsys.readouterr().out == "lease_scheduler/room/long.py: 6 lines, more than 5\n"
    (package / "pyproject.toml").write_text("[tool.structure]\nlines = 6\nparameters = 8\n")
    assert main() == 0
    assert capsys.readouterr().out == ""
