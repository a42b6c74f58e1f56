"""What worlds share: the substitutes of what programs wait for, and a database with its tables."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from lease_scheduler.cmd.rehearsing.rehearsal import Rehearsal
from lease_scheduler.rehearsal.runtime.patching import Patches, patched
from lease_scheduler.rehearsal.world import opened


@pytest.fixture(scope="module")
def patches() -> Iterator[Patches]:
    with patched() as made:
        yield made
    # Here, and not in the middle of another test.
    gc.collect()


@pytest.fixture(scope="module")
def image(patches: Patches) -> bytes:
    """Return a database with its tables."""
    rehearsal = Rehearsal(0)
    with opened(rehearsal.world_options(), rehearsal.programs(), patches) as world:
        return world.database.image()
