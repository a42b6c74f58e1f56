"""Unit tests are in the folders described in doc/source/contributor/testing.rst, "Where tests live"."""

from __future__ import annotations

import ast
from pathlib import Path

_UNIT = Path(__file__).parent
_ROOT = _UNIT.parents[1]
_PACKAGE = _ROOT / "lease_scheduler"


def test_each_folder_of_unit_tests_is_a_folder_of_what_they_test() -> None:
    """Of the package, or of the repository for benchmarks, tools and the like."""
    folders = {path.parent.relative_to(_UNIT) for path in _UNIT.rglob("test_*.py")}
    assert [str(each) for each in sorted(folders) if not ((_PACKAGE / each).is_dir() or (_ROOT / each).is_dir())] == []


def test_a_test_module_has_the_name_of_a_module_or_says_what_it_is_about() -> None:
    unnamed = []
    for path in sorted(_UNIT.rglob("test_*.py")):
        folder, name = path.parent.relative_to(_UNIT), path.stem.removeprefix("test_")
        places = [root / folder / name for root in (_PACKAGE, _ROOT)]
        is_named = any(place.with_suffix(".py").is_file() or place.is_dir() for place in places)
        if not is_named and not ast.get_docstring(ast.parse(path.read_text())):
            unnamed.append(str(path.relative_to(_ROOT)))
    assert unnamed == []
