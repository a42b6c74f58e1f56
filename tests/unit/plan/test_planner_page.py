"""The page about the planner names what there is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PLAN = ROOT / "lease_scheduler" / "plan"
PAGE = (ROOT / "doc" / "source" / "contributor" / "planner.rst").read_text()


def _rows() -> dict[str, str]:
    """Return folder -> what the page says to read first there."""
    rows = re.findall(r"^   \* - ``(\w+)``\n     - .*\n     - (.*)$", PAGE, flags=re.MULTILINE)
    return dict(rows)


def test_every_folder_has_its_row() -> None:
    folders = {path.parent.name for path in PLAN.glob("*/__init__.py")}
    assert _rows().keys() == folders


def test_what_to_read_first_is_in_the_folder() -> None:
    for folder, first in _rows().items():
        modules = re.findall(r"``(\w+\.py)``", first)
        assert modules
        assert [name for name in modules if not (PLAN / folder / name).is_file()] == []


def test_modules_in_the_text_exist() -> None:
    for name in re.findall(r"``(\w+/\w+\.py)``", PAGE):
        assert (PLAN.parent / name).is_file(), name
