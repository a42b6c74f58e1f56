"""Short worlds with people and faults: what must hold does, and a service that breaks it is found out."""

from __future__ import annotations

from typing import Any

import pytest

from lease_scheduler.cmd.rehearsing.casting import Cast
from lease_scheduler.cmd.rehearsing.rehearsal import Outcome, Rehearsal, run
from lease_scheduler.rehearsal.faults.catalogue import NAMES
from lease_scheduler.rehearsal.runtime.patching import Patches
from lease_scheduler.service.telling.outbox import Outbox

# Killed processes do not close the file of the simulated cloud.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")

_HOSTS, _TENANTS = 3, 3

#: Simulated days: the last quarter is as long as it takes to settle.
_DAYS = 0.09


def _run(patches: Patches, image: bytes, seed: int, *faults: str, days: float = _DAYS, **said: Any) -> Outcome:
    cast = Cast(faults) if faults else Cast((), acts=(), fates=())
    rehearsal = Rehearsal(seed, _HOSTS, _TENANTS, cast=cast, calm=None if faults else 0.0, **said)
    return run(rehearsal, days, patches, image)


@pytest.mark.parametrize("seed", [1])
def test_leases_outlive_killed_engines_and_a_failing_database(patches: Patches, image: bytes, seed: int) -> None:
    outcome = _run(patches, image, seed, "kill", "statements", "double-messages", "lost-messages")
    assert outcome.violation is None, (outcome.violation, [str(each) for each in outcome.story])
    assert outcome.leases > 5


def test_leases_are_carried_out_in_nova(patches: Patches, image: bytes) -> None:
    """With the real driver and the real check of tokens, while hosts fail and the cloud gives errors."""
    outcome = _run(patches, image, 4, "kill", "cloud-errors", "lost-hints", days=0.04, with_nova=True)
    assert outcome.violation is None, (outcome.violation, [str(each) for each in outcome.story])
    assert outcome.leases > 2


def test_one_seed_gives_one_history_with_people_and_faults(patches: Patches, image: bytes) -> None:
    first = _run(patches, image, 3, *NAMES, days=0.01)
    assert _run(patches, image, 3, *NAMES, days=0.01) == first
    assert _run(patches, image, 4, *NAMES, days=0.01).digest != first.digest


def test_an_outbox_that_forgets_what_it_has_not_sent_is_found(
    patches: Patches, image: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Outbox._send_some

    def forget(outbox: Outbox) -> bool:
        told: Any = outbox._send
        outbox._send = lambda message: None if message.event_type == "lease.event.end_lease" else told(message)
        try:
            return send(outbox)
        finally:
            outbox._send = told

    monkeypatch.setattr(Outbox, "_send_some", forget)
    outcome = _run(patches, image, 1)
    assert outcome.violation is not None
    assert outcome.violation.invariant == "every transition is told"
    lease_id = outcome.violation.subject
    about = [each.what for each in outcome.story if each.subject == lease_id]
    assert any(each.startswith("has ") for each in about)
    assert any(each.startswith(f"{lease_id} goes from active to ") for each in about)
    assert list(outcome.story) == sorted(outcome.story, key=lambda each: each.instant)
