"""Lines over time."""

from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.reports.over_time import plot_over_time


def test_the_same_lines_give_the_same_file(tmp_path: Path) -> None:
    panels = {"one": {"a": [1.0, 2.0], "b": [2.0, 1.0]}, "other": {"a": [0.0]}}
    files = [tmp_path / "1.svg", tmp_path / "2.svg"]
    for path in files:
        plot_over_time(panels, path, interval=0.5, time="days", measure="hosts")
    assert files[0].read_bytes() == files[1].read_bytes()
    assert b"days" in files[0].read_bytes()


@pytest.mark.parametrize("panels", [{}, {"one": {str(number): [1.0] for number in range(8)}}])
def test_what_cannot_be_drawn_is_refused(panels: dict[str, dict[str, list[float]]], tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="panels"):
        plot_over_time(panels, tmp_path / "1.svg", interval=1, time="days", measure="hosts")
