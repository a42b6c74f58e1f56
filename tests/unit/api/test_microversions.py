"""The history of microversions."""

from __future__ import annotations

import re
from pathlib import Path

from lease_scheduler.api.microversions import HISTORY

PAGE = Path(__file__).parents[3] / "doc" / "source" / "api" / "microversions.rst"


def test_every_microversion_has_a_section_in_the_documentation() -> None:
    assert re.findall(r"^(\d+\.\d+)\n-+$", PAGE.read_text(), re.MULTILINE) == list(HISTORY)


def test_every_microversion_has_one_line() -> None:
    assert all(text and "\n" not in text and text.endswith(".") for text in HISTORY.values())
