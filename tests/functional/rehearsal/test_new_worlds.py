"""New worlds each day: their seeds follow from the date, and what is rehearsed is the same on every machine."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest

from lease_scheduler.cmd.rehearsing.rehearsal import Rehearsal, run
from lease_scheduler.rehearsal.runtime.patching import Patches

# Killed processes do not close the file of the simulated cloud.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")

#: Worlds with the model of Nova, and worlds with the cloud that engines simulate; together about a minute of work.
_WITH_NOVA, _SIMULATED = 4, 3

#: Simulated days of a world.
_DAYS = 0.03

_HOSTS, _TENANTS = 3, 4

#: Seeds of a day.
_PER_DAY = 100


def _first_seed() -> int:
    said = os.environ.get("LEASE_SCHEDULER_SEED")
    return int(said) if said else datetime.now(UTC).toordinal() * _PER_DAY


@pytest.mark.parametrize("number", range(_WITH_NOVA + _SIMULATED))
def test_nothing_breaks_in_a_new_world(patches: Patches, image: bytes, number: int) -> None:
    seed, with_nova = _first_seed() + number, number < _WITH_NOVA
    cloud = "nova" if with_nova else "simulated"
    again = f"make world SEED={seed} DAYS={_DAYS} HOSTS={_HOSTS} TENANTS={_TENANTS} CLOUD={cloud}"
    print(again)
    rehearsal = Rehearsal(seed, _HOSTS, _TENANTS, with_nova=with_nova)
    outcome = run(rehearsal, _DAYS, patches, image)
    story = "\n".join(str(each) for each in outcome.story)
    assert outcome.violation is None, f"{again}\n{outcome.violation}\n{story}"
    assert outcome.leases > 2
