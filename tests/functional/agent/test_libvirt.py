"""Two real guests of QEMU on one processor, which the agent weighs through libvirt (issue 22).

Their CPU time is measured. Needs libvirt with its QEMU driver, on a machine whose cgroups have the CPU controller, and
libvirt-python.
"""

from __future__ import annotations

import time

import pytest

from lease_scheduler.agent.keeper import WeightKeeper
from lease_scheduler.agent.libvirt_domains import Libvirt
from lease_scheduler.agent.protocol import Answer, Request
from tests.functional.agent.guests import BUSY, URI, running_guests

pytestmark = pytest.mark.slow

#: CPU seconds of both guests together for which is measured.
_MEASURED = 2.0
_LIMIT = 120.0


def test_guests_get_cpu_time_by_their_weights() -> None:
    """The example of dfrs A32: with weights of 70 and 30 both use 70 % and 30 % of what they get together."""
    with running_guests([BUSY, BUSY]) as guests:
        _weigh(*guests)


def _weigh(first: str, second: str) -> None:
    hypervisor = Libvirt(URI)
    keeper = WeightKeeper(hypervisor, 600.0, ratio=1000.0)
    run = keeper.answer(Request("site", "host", "nonce")).run

    def order(revision: int, weights: dict[str, int]) -> Answer:
        answer = keeper.answer(Request("site", "host", "nonce", run, revision, weights))
        assert (answer.accepted, answer.problem) == (True, None)
        return answer

    def part_of_first() -> float:
        def used() -> tuple[float, float]:
            servers = hypervisor.servers()
            return servers[first].cpu_seconds, servers[second].cpu_seconds

        before, end = used(), time.monotonic() + _LIMIT
        while time.monotonic() < end:
            parts = [now - then for now, then in zip(used(), before, strict=True)]
            if sum(parts) >= _MEASURED:
                return parts[0] / sum(parts)
            time.sleep(0.1)
        pytest.fail(f"the guests have not used {_MEASURED} s of CPU time in {_LIMIT} s")

    # They may still be booting, which one of them may have begun earlier.
    part_of_first()
    answer = order(1, {first: 70, second: 30})
    assert answer.servers[first].shares / answer.servers[second].shares == pytest.approx(70 / 30, rel=0.05)
    assert part_of_first() == pytest.approx(0.7, abs=0.07)
    order(2, {first: 25, second: 75})
    assert part_of_first() == pytest.approx(0.25, abs=0.07)
    order(3, {})
    assert hypervisor.servers()[first].shares == hypervisor.servers()[first].usual_shares
    assert part_of_first() == pytest.approx(0.5, abs=0.07)
