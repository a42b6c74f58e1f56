"""Counters against brute force, and probes against the files of a run (haizea F43, F82-F85, F90)."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.haizea import converted
from lease_scheduler.plan.transfers.options import TransferOptions
from lease_scheduler.simulation.accounting import Average, Counter
from lease_scheduler.simulation.formats.data_file import read_data_file, write_data_file
from lease_scheduler.simulation.probes.loader import probe_names
from lease_scheduler.simulation.reports import tables
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload

from .random_runs import RUN_SETTINGS, workloads

_CHANGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=30)


@given(_CHANGES)
def test_averages_equal_those_computed_second_by_second(changes: list[tuple[int, int]]) -> None:
    counter, normal = Counter(Average.TIME_WEIGHTED), Counter(Average.NORMAL)
    held: list[int] = []
    now, value = 3, 0
    for pause, value_then in changes:
        held += [value] * (pause if held or counter.entries else 0)
        now, value = now + pause, value_then
        counter.put(now, value)
        normal.put(now, value)
    assert counter.entries == normal.entries
    begin = counter.entries[0].instant
    for number, entry in enumerate(counter.entries):
        elapsed = entry.instant - begin
        expected = sum(held[:elapsed]) / elapsed if elapsed else entry.value
        assert counter.averages()[number] == pytest.approx(expected)
        values = [each.value for each in normal.entries[: number + 1]]
        assert normal.averages()[number] == pytest.approx(sum(values) / len(values))
    instants = [entry.instant for entry in counter.entries]
    assert instants == sorted(set(instants))
    assert all(a.value != b.value for a, b in zip(counter.entries, counter.entries[1:], strict=False))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(workloads(), RUN_SETTINGS, st.sampled_from([None, TransferOptions(bandwidth=100.0)]))
def test_the_records_of_probes_give_the_files_of_the_run(
    workload: Workload, run_settings: RunSettings, transfers: TransferOptions | None
) -> None:
    plain = Run(workload, replace(run_settings, transfers=transfers)).execute()
    probed = replace(run_settings, transfers=transfers, probes=tuple(probe_names()), attributes={"profile": "p"})
    result = Run(workload, probed).execute()
    assert result.leases == plain.leases
    assert result.occupations == plain.occupations
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data")
        write_data_file(result.accounting, result.workload_name, path)
        run = converted.AccountedRun(*read_data_file(path))
        again = Path(folder, "again")
        write_data_file(run.accounting, run.workload, again)
        assert json.loads(again.read_text()) == json.loads(path.read_text())
    labels = run.attributes
    per_lease = converted.per_lease([run]).splitlines()
    assert [line.split(",")[:8] for line in per_lease[1:]] == [
        line.split(",")[:8] for line in tables.perlease_csv(result, labels).splitlines()[1:]
    ]
    ours, theirs = (text.splitlines() for text in (converted.per_run([run]), tables.perrun_csv(result, labels)))
    assert all(line.startswith(known) for line, known in zip(ours, theirs, strict=True))
    assert converted.counter([run], "CPU utilization") == tables.utilization_csv(result, labels)
