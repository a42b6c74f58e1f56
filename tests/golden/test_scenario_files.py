"""Every scenario file of Haizea 1.1 under all combinations of three options (haizea F18, F92)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from lease_scheduler.engine.prices import affordable
from lease_scheduler.model.errors import InputFileError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.options import Migration, PlanningOptions, Suspension
from lease_scheduler.plan.transfers.options import Mechanism, Reuse, TransferOptions
from lease_scheduler.simulation import metrics
from lease_scheduler.simulation.formats.lwf import read_lwf
from lease_scheduler.simulation.formats.lwfa import Annotations, LeaseAnnotation, annotate, read_annotations
from lease_scheduler.simulation.invariants import check_result
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload

_BACKFILLING = {"off": 0, "aggressive": 1, "intermediate": 2, "conservative": None}
_COMBINATIONS = list(product(_BACKFILLING, Suspension, Migration))
#: The second and third are combined with the mapper ``deadline``: deadline leases may preempt each other.
_POLICIES = ("ar-preempts-everything", "deadline", "by-kind")
_TRANSFERS = (
    TransferOptions(bandwidth=100),
    TransferOptions(bandwidth=100, reuse=Reuse.IMAGE_CACHES),
    TransferOptions(bandwidth=100, reuse=Reuse.IMAGE_CACHES, cache_size_mb=1024),
    TransferOptions(bandwidth=100, mechanism=Mechanism.UNICAST, reuse=Reuse.IMAGE_CACHES),
    TransferOptions(bandwidth=100, avoid_redundant=False),
)
_FILES = (
    *(f"deadline{number}" for number in range(1, 10)),
    *(f"deadline10-{number}" for number in range(1, 5)),
    "migrate",
    "piggybacking",
    "preemption",
    "preemption_prematureend",
    "prematureend_in_start",
    "price1",
    "pricedeadline",
    "reservation",
    "reuse1",
    "wait",
)
_PRICES: tuple[tuple[str, dict[str, str]], ...] = (
    ("constant", {"pricing_rate": "0.10"}),
    ("constant", {"pricing_rate": "1.00", "pricing_surcharge": "1"}),
    ("constant", {"pricing_rate": "11.00"}),
    ("random", {"pricing_max_rate": "5.00"}),
    ("maximum", {}),
    ("adaptive", {}),
    ("adaptive", {"pricing_rate": "4.00", "pricing_surcharge": "1"}),
)
_ANNOTATIONS = ("annotations1", "annotations2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, unpack: Callable[[Path, Path], None]) -> Path:
    """The unpacked scenario files."""
    data = os.environ.get("LEASE_SCHEDULER_DATA")
    if data is None:
        pytest.skip("LEASE_SCHEDULER_DATA does not name the folder of workloads")
    unpacked = tmp_path_factory.mktemp("scenarios")
    unpack(Path(data, "haizea", "scenario-lwf-1.1.tar.gz"), unpacked)
    return unpacked / "haizea-1.1-lwf"


@pytest.mark.data
def test_every_scenario_file_is_known(folder: Path) -> None:
    """The list of files below matches the archive."""
    assert sorted(path.stem for path in folder.glob("*.lwf")) == sorted(_FILES)
    assert sorted(path.stem for path in folder.glob("*.lwfa")) == sorted(_ANNOTATIONS)


@pytest.mark.data
@pytest.mark.parametrize("name", _FILES)
def test_invariants_hold_under_every_combination(name: str, folder: Path) -> None:
    """haizea F47, F51, F54, F57: 36 combinations of options with each of three policies."""
    workload = read_lwf(folder / f"{name}.lwf")
    for policy in _POLICIES:
        for combination in _COMBINATIONS:
            _check(workload, policy, *combination)


@pytest.mark.data
@pytest.mark.parametrize("name", _FILES)
def test_invariants_hold_with_annotations(name: str, folder: Path) -> None:
    """haizea F26: the same with the annotations that fit the file."""
    workload = read_lwf(folder / f"{name}.lwf")
    fitting = []
    for stem in _ANNOTATIONS:
        try:
            fitting.append(annotate(workload, read_annotations(folder / f"{stem}.lwfa")))
        except InputFileError as error:
            assert error.line is not None
    assert fitting or name == "price1", "all files but the one with a single lease take an annotation"
    for annotated in fitting:
        for combination in _COMBINATIONS:
            _check(annotated, "by-kind", *combination)


@pytest.mark.data
@pytest.mark.parametrize("name", _FILES)
def test_invariants_hold_with_image_transfers(name: str, folder: Path) -> None:
    """haizea F60-F68: the same with images that have to be transferred, in each of five ways."""
    workload = read_lwf(folder / f"{name}.lwf")
    for transfers in _TRANSFERS:
        for combination in _COMBINATIONS:
            _check(workload, "by-kind", *combination, transfers)


@pytest.mark.data
@pytest.mark.parametrize("name", _FILES)
def test_invariants_hold_with_prices(name: str, folder: Path) -> None:
    """haizea F77-F82: the same with each pricing strategy; the user's limit is below two of the rates."""
    workload = read_lwf(folder / f"{name}.lwf")
    if not name.startswith("price"):
        rates = tuple(LeaseAnnotation(extras={"simul_userrate": "2.5"}) for _ in workload.leases)
        workload = annotate(workload, Annotations(rates))
    for pricing, options in _PRICES:
        for combination in _COMBINATIONS:
            settings = replace(
                _settings("by-kind", *combination, None).with_policies(pricing=pricing), policy_options=options
            )
            _check_prices(workload, settings)


def _check_prices(workload: Workload, settings: RunSettings) -> None:
    result = Run(workload, settings).execute()

    check_result(result, workload)
    for lease in result.leases:
        request = lease.request
        assert lease.state in {LeaseState.DONE, LeaseState.REJECTED, LeaseState.REJECTED_BY_USER}, (settings, request)
        if lease.state is LeaseState.REJECTED:
            continue
        assert lease.grant.price is not None and request.max_price is not None, (settings, request)
        # Only leases that are too expensive are rejected by their users.
        assert (lease.state is LeaseState.DONE) == affordable(request, lease.grant), (settings, request)
    money = metrics.revenue(result.leases)
    assert money is not None
    worth = sum(metrics.worth_to_user(lease.request) or 0.0 for lease in workload.leases)
    assert money.earned + money.missed == pytest.approx(worth, rel=1e-9)
    assert money.undercharged >= -1e-9


@pytest.mark.data
def test_prices_of_the_scenario_files(folder: Path) -> None:
    """haizea P1, F78: four node-hours of a user who pays 1.00; and two leases of one who pays 10.00."""

    def found(name: str, rate: str) -> list[tuple[LeaseState, float | None]]:
        settings = _settings("by-kind", "aggressive", Suspension.ALL, Migration.YES, None)
        settings = replace(settings.with_policies(pricing="constant"), policy_options={"pricing_rate": rate})
        leases = Run(read_lwf(folder / f"{name}.lwf"), settings).execute().leases
        return [(lease.state, lease.grant.price) for lease in leases]

    assert found("price1", "0.10") == [(LeaseState.DONE, 0.40)]
    assert found("price1", "1.00") == [(LeaseState.DONE, 4.0)]
    assert found("price1", "1.01") == [(LeaseState.REJECTED_BY_USER, 4.04)]
    # The first lease makes room for the second one and still meets its deadline.
    assert found("pricedeadline", "10") == [(LeaseState.DONE, 40.0), (LeaseState.DONE, 20.0)]
    refused = LeaseState.REJECTED_BY_USER
    assert found("pricedeadline", "11") == [(refused, 44.0), (refused, 22.0)]


@pytest.mark.data
def test_images_of_the_scenario_files_are_shared_and_reused(folder: Path) -> None:
    """haizea F63, F65, F66: only in the files that are about it, and only if it is switched on."""

    def counters(name: str, transfers: TransferOptions) -> dict[str, int]:
        run_settings = _settings("by-kind", "aggressive", Suspension.ALL, Migration.YES, transfers)
        found = Run(read_lwf(folder / f"{name}.lwf"), run_settings).execute().counters
        return {what: found.get(f"{what}_images", 0) for what in ("reused", "shared")}

    plain, pools = TransferOptions(bandwidth=100), TransferOptions(bandwidth=100, reuse=Reuse.IMAGE_CACHES)
    alone = TransferOptions(bandwidth=100, avoid_redundant=False)
    assert counters("reuse1", pools)["reused"] > 0
    assert counters("reuse1", plain)["reused"] == 0
    assert counters("piggybacking", plain)["shared"] > 0
    assert counters("piggybacking", alone) == {"reused": 0, "shared": 0}


def _check(
    workload: Workload,
    policy: str,
    backfilling: str,
    suspension: Suspension,
    migration: Migration,
    transfers: TransferOptions | None = None,
) -> None:
    run_settings = _settings(policy, backfilling, suspension, migration, transfers)
    result = Run(workload, run_settings).execute()

    check_result(result, workload)
    for lease in result.leases:
        # A best-effort lease is never rejected, and no accepted lease is dropped.
        allowed = {LeaseState.DONE} if lease.kind is LeaseKind.BEST_EFFORT else {LeaseState.DONE, LeaseState.REJECTED}
        assert lease.state in allowed, (workload.name, policy, backfilling, suspension, migration, lease.lease_id)


def _settings(
    policy: str, backfilling: str, suspension: Suspension, migration: Migration, transfers: TransferOptions | None
) -> RunSettings:
    planning = PlanningOptions(
        backfilling_limit=_BACKFILLING[backfilling],
        suspension=suspension,
        suspend_rate=32,
        resume_rate=32,
        migration=migration,
        migration_bandwidth=100,
        migrate_disks=transfers is not None,
    )
    return RunSettings(
        policies={"preemption": policy},
        planning=planning,
        deadline_preemption=policy != "ar-preempts-everything",
        transfers=transfers,
        check_invariants=True,
    )
