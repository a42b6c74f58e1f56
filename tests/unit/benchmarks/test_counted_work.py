"""The guard against slow-downs has to notice work that grows, fails or vanishes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from benchmarks.counted_work import simulated_run
from benchmarks.counted_work.check import main
from benchmarks.counted_work.figures import deviations, range_around, read_ranges, write_ranges
from benchmarks.counted_work.statements import counted_statements
from lease_scheduler.plan.capacity.availability import Availability
from lease_scheduler.store.sql.database import open_database

_DAY = 86_400


def test_a_figure_may_differ_by_a_twentieth() -> None:
    assert range_around(1_000) == (950, 1_050)
    assert range_around(7) == (6, 8)
    assert range_around(0) == (0, 0)


def test_deviations_name_what_grew_and_what_fell_and_those_that_grew_most_come_first() -> None:
    ranges = {"a": (95, 105), "b": (95, 105), "c": (95, 105), "d": (95, 105)}
    assert deviations({"a": 106, "b": 210, "c": 105, "d": 94}, ranges) == [
        "b grew: 210, at most 105 (+100%)",
        "a grew: 106, at most 105 (+1%)",
        "d fell: 94, at least 95 (-1%)",
    ]


def test_work_of_a_new_kind_and_work_that_is_not_done_any_more_deviate() -> None:
    assert deviations({"new": 3}, {"old": (4, 6)}) == [
        "new grew: 3, at most 0 (new)",
        "old fell: 0, at least 4 (-100%)",
    ]


def test_ranges_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "ranges.json"
    assert read_ranges(path) == {}
    write_ranges(path, {"two": {"b": 100, "a": 1}, "one": {"c": 0}})
    assert read_ranges(path) == {"one": {"c": (0, 0)}, "two": {"a": (0, 2), "b": (95, 105)}}
    assert path.read_text().count("\n") == 9


def test_the_check_fails_when_work_grows_until_the_ranges_are_updated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = {"statements": 100}
    scenarios = {"a scenario": lambda: figures}
    words = ["--ranges", str(tmp_path / "ranges.json")]
    assert main([*words, "--update"], scenarios) == 0
    assert main(words, scenarios) == 0
    capsys.readouterr()
    figures["statements"] = 120
    assert main(words, scenarios) == 1
    said = capsys.readouterr().out
    assert said.startswith("a scenario: statements grew: 120, at most 105 (+14%)\n")
    assert "make benchmark-ranges" in said
    assert main([*words, "--update"], scenarios) == 0
    assert main(words, scenarios) == 0


def test_a_planner_that_does_its_work_twice_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The result of the run is the same; it only takes more work."""
    before = simulated_run.count(_DAY)
    assert deviations(simulated_run.count(_DAY), {name: (figure, figure) for name, figure in before.items()}) == []
    changed = Availability.changed

    def twice(availability: Availability, *arguments: Any) -> Availability:
        changed(availability, *arguments)
        return changed(availability, *arguments)

    monkeypatch.setattr(Availability, "changed", twice)
    found = deviations(simulated_run.count(_DAY), {name: range_around(figure) for name, figure in before.items()})
    assert any(line.startswith("calls, plan/capacity/availability grew:") for line in found)
    assert not any("leases" in line for line in found)


def test_statements_and_rows_are_counted_by_table(tmp_path: Path) -> None:
    found: Counter[str] = Counter()
    with counted_statements(found):
        database = open_database(f"sqlite:///{tmp_path}/test.sqlite")
        with database.begin() as connection:
            # Statements that open a database concern no tables.
            found.clear()
            connection.execute(text("CREATE TABLE things (a INTEGER)"))
            connection.execute(text("INSERT INTO things VALUES (1), (2), (3)"))
            connection.execute(text("UPDATE things SET a = 2 WHERE a > 1"))
            assert len(connection.execute(text("SELECT a FROM things")).all()) == 3
        database.dispose()
    assert found == {
        "statements": 3,
        "statements, insert things": 1,
        "statements, update things": 1,
        "statements, select things": 1,
        "rows written, things": 5,
        "rows read": 3,
    }


def test_a_scenario_without_ranges_and_one_that_is_gone_are_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ranges.json"
    write_ranges(path, {"gone": {"calls": 10}})
    assert main(["--ranges", str(path)], {"new": lambda: {"calls": 10}}) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["gone: calls fell: 0, at least 9 (-100%)", "new: calls grew: 10, at most 0 (new)"]
