from __future__ import annotations

import os
from pathlib import Path

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.papers.haizea import (
    deadline_checks,
    image_checks,
    pricing_checks,
    reservation_checks,
    suspension_checks,
)
from lease_scheduler.papers.haizea.best_effort_and_reservations import HOURS, LOADS, SIZES, read_set_of_2008, set_name
from lease_scheduler.papers.haizea.deadlines import MODES, read_trace
from lease_scheduler.simulation.campaigns.case import Case
from lease_scheduler.simulation.generators.reservations import preset_by_name


def test_all_72_sets_are_known_to_the_generator() -> None:
    names = {set_name(load, hours, size) for load in LOADS for hours in HOURS for size in SIZES}
    assert len(names) == 72
    assert {preset_by_name(name).name for name in names} == names


def test_cases_have_unique_names() -> None:
    """Outcomes are kept by name, so two cases must never share one."""
    cases: list[Case] = [
        *reservation_checks.table_cases((1, 2, 3, 4)),
        *reservation_checks.cases_of_2008(),
        *reservation_checks.grid_cases("generated"),
        *reservation_checks.grid_cases("2008"),
        *deadline_checks.cases(1),
        *image_checks.cases((1, 2, 3, 4)),
        *image_checks.grid_cases(),
        *suspension_checks.table_cases((1, 2, 3, 4)),
        *suspension_checks.grid_cases(),
        *pricing_checks.cases((1, 2, 3, 4, 5)),
        *pricing_checks.grid_cases(),
    ]
    names = {case.name: case for case in cases}
    assert all(names[case.name] == case for case in cases)
    assert len(reservation_checks.grid_cases("generated")) == 144
    assert len(deadline_checks.cases(1)) == 2 * 2 * 9 * len(MODES)


def test_without_the_folder_of_logs_the_error_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEASE_SCHEDULER_DATA", raising=False)
    with pytest.raises(InvalidValueError, match="LEASE_SCHEDULER_DATA: must name the folder"):
        read_set_of_2008(set_name(10, 4, "medium"))
    with pytest.raises(InvalidValueError, match="LEASE_SCHEDULER_DATA: must name the folder"):
        read_trace("DS")


@pytest.mark.data
def test_the_sets_of_2008_have_the_loads_of_their_names() -> None:
    """haizea 6.4: 28,198 reservations in 72 files."""
    assert Path(os.environ["LEASE_SCHEDULER_DATA"]).is_dir()
    total = 0
    for load in LOADS:
        for size in SIZES:
            leases = [lease.request for h in HOURS for lease in read_set_of_2008(set_name(load, h, size)).leases]
            total += len(leases)
            used = sum(request.node_count * request.duration for request in leases) / len(HOURS)
            assert used / (144 * 2_592_000) == pytest.approx(load / 100, abs=0.004)
    assert total == 28_198
