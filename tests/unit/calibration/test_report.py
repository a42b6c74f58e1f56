"""The results of a calibration for operators and for oslo.config."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from lease_scheduler.calibration import findings, report
from lease_scheduler.calibration.accuracy import accuracies
from lease_scheduler.calibration.findings import Size
from lease_scheduler.calibration.samples import Batch, MeasuredOperation, Sample
from lease_scheduler.cmd import configuration
from lease_scheduler.conf.values import planning_options
from lease_scheduler.model.resources import MEMORY_MB, Resources
from lease_scheduler.plan.options import Exclusion, PlanningOptions, ShelvedSize

_SIZE = Size(1024, 20_480, ShelvedSize.DISK)
_SETTING = report.Setting(1_795_305_600.0, "small", _SIZE, "tiny", ["a", "b"], "Nova's notifications")


def _batches() -> list[Batch]:
    alone = [
        Batch(operation, number, [Sample(operation, "s", "a", 0.0, 0.5, 16.5)])
        for operation in MeasuredOperation
        for number in range(2)
    ]
    both = [Sample(MeasuredOperation.SUSPEND, host, host, 0.0, 0.5, 16.5) for host in ("a", "b")]
    failed = Sample(MeasuredOperation.SHELVE, "s", "a", 0.0, problem="shelve: is not over after 600 s")
    return [*alone, Batch(MeasuredOperation.SUSPEND, 0, both), Batch(MeasuredOperation.SHELVE, 2, [failed])]


def _text(table: object) -> str:
    console = Console(width=118)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def test_the_service_reads_what_is_written(tmp_path: Path) -> None:
    """Every line, preceded by when and how it was measured."""
    path = tmp_path / "calibration.conf"
    path.write_text(report.configuration(_SETTING, findings.options(_batches(), _SIZE)))
    conf = configuration.load(["--config-file", str(path)])
    options = planning_options(conf)
    assert (options.suspend_rate, options.resume_rate) == (64.0, 64.0)
    assert (options.shelve_rate, options.unshelve_rate) == (1_280.0, 1_280.0)
    assert options.shelved_size is ShelvedSize.DISK
    assert options.exclusion is Exclusion.LOCAL
    assert (options.enactment_overhead, options.stop_time, options.shutdown_time) == (1, 16, 16)
    assert conf.nova.preparation_time == 17
    first = path.read_text().splitlines()[:3]
    assert all(line.startswith("# ") for line in first)
    assert "2026-11-22 00:00 UTC, on a, b" in first[0]


def test_the_tables_have_a_row_for_each_operation() -> None:
    single = _text(report.single(_batches(), _SIZE))
    (shelve,) = [line.split() for line in single.splitlines() if line.startswith(" shelve")]
    assert shelve == ["shelve", "2", "1", "0", "16.00", "0.00", "16.00", "16.00", "16.00", "20480", "1280.00"]
    assert "command to beginning" in single
    (suspend,) = [
        line.split() for line in _text(report.at_once(_batches())).splitlines() if line.startswith(" suspend")
    ]
    assert suspend == ["suspend", "2", "1.00", "local"]
    assert report.at_once(_batches()[:4]) is None


def test_the_json_document_has_samples_options_and_predictions() -> None:
    """Including failed samples and predictions."""
    batches = _batches()
    checks = accuracies(
        batches, Resources({MEMORY_MB: 1024}), PlanningOptions(suspend_rate=128, override_resume_time=0)
    )
    told = json.loads(report.document(_SETTING, batches, findings.options(batches, _SIZE), checks))
    assert len(told["samples"]) == 2 * len(MeasuredOperation) + 2 + 1
    assert [each["problem"] for each in told["samples"] if each["problem"]] == ["shelve: is not over after 600 s"]
    by_way = {(each["operation"], each["count"]): each for each in told["accuracy"]}
    assert (by_way["suspend", 1]["predicted"], by_way["suspend", 1]["observed"]) == (8, 16.5)
    assert not by_way["suspend", 1]["is_kept"]
    assert by_way["resume", 1]["predicted"] == 0
    assert {each["name"] for each in told["options"]} >= {"suspend_rate", "shelve_rate", "enactment_overhead"}
