"""Reconciliations do not overlap: an older one would take back what a newer one has found."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from tests.functional.reconcile.conftest import Service


@pytest.mark.parametrize("dry_run", [False, True])
def test_one_comparison_waits_for_another(make_service: Callable[..., Service], dry_run: bool) -> None:
    service = make_service()
    looking, go_on = Event(), Event()
    looks: list[str] = []

    def look_slowly() -> None:
        looks.append("begins")
        looking.set()
        assert go_on.wait(30)
        looks.append("ends")

    # The reconciliation at its start is over.
    service.engine.reconciler.reconcile()
    service.cloud.while_looking = look_slowly
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(service.engine.reconciler.reconcile)
        assert looking.wait(30)
        second = pool.submit(service.engine.reconciler.reconcile, dry_run=dry_run)
        assert not go_on.wait(0.5)
        assert looks == ["begins"], "the second one has not looked at the cloud"
        assert not second.done()
        go_on.set()
        first.result(30)
        second.result(30)
    assert looks == ["begins", "ends"] * 2
