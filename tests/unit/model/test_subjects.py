"""Names that can be kept."""

from __future__ import annotations

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.subjects import checked_subject


@pytest.mark.parametrize("name", ["a", "northern-site", "x" * 255, "größer"])
def test_a_printable_name_is_returned(name: str) -> None:
    assert checked_subject("peer", name) == name


@pytest.mark.parametrize("name", ["", "x" * 256, "a\nb", "a\x00"])
def test_another_is_refused_with_the_field(name: str) -> None:
    with pytest.raises(InvalidValueError, match="^peer: must be 1 to 255 printable characters"):
        checked_subject("peer", name)
