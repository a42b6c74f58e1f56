"""Two real guests of QEMU on one processor, which the agent weighs through libvirt (issue 22).

Their CPU time is measured. Needs libvirt with its QEMU driver, on a machine whose cgroups have the CPU controller, and
libvirt-python.
"""

from __future__ import annotations

import importlib
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.agent.keeper import WeightKeeper
from lease_scheduler.agent.libvirt_domains import Libvirt
from lease_scheduler.agent.protocol import Answer, Request

pytestmark = pytest.mark.slow

_URI = "qemu:///system"

#: CPU seconds of both guests together for which is measured.
_MEASURED = 2.0
_LIMIT = 120.0

#: A boot sector: disable interrupts, and jump to this jump for ever.
_SPIN = bytes([0xFA, 0xEB, 0xFE]).ljust(510, b"\0") + b"\x55\xaa"

_DOMAIN = """
<domain type='qemu'>
  <name>lease-scheduler-{id}</name><uuid>{id}</uuid><memory unit='MiB'>16</memory>
  <vcpu>1</vcpu><cputune><vcpupin vcpu='0' cpuset='{cpu}'/><emulatorpin cpuset='{cpu}'/></cputune>
  <os><type arch='x86_64'>hvm</type><boot dev='fd'/></os>
  <devices>
    <disk type='file' device='floppy'>
      <driver name='qemu' type='raw'/><source file='{image}'/><target dev='fda'/><readonly/>
    </disk>
  </devices>
</domain>
"""


@pytest.fixture
def guests() -> Iterator[list[str]]:
    """Two guests that use all that they get of one processor."""
    try:
        libvirt = importlib.import_module("libvirt")
        libvirt.registerErrorHandler(lambda context, error: None, None)
        connection = libvirt.open(_URI)
    except Exception as error:
        pytest.skip(f"there is no libvirt here: {error}")
    # QEMU runs as another user, which must be able to read it.
    image = Path("/var/tmp") / f"lease-scheduler-{uuid.uuid4()}.img"
    image.write_bytes(_SPIN)
    image.chmod(0o644)
    domains: list[Any] = []
    cpu = min(os.sched_getaffinity(0))
    try:
        for _ in range(2):
            domains.append(connection.defineXML(_DOMAIN.format(id=uuid.uuid4(), image=image, cpu=cpu)))
            domains[-1].create()
        yield [domain.UUIDString() for domain in domains]
    finally:
        for domain in domains:
            if domain.isActive():
                domain.destroy()
            domain.undefine()
        connection.close()
        image.unlink()


def test_guests_get_cpu_time_by_their_weights(guests: list[str]) -> None:
    """The example of dfrs A32: with weights of 70 and 30 both use 70 % and 30 % of what they get together."""
    hypervisor = Libvirt(_URI)
    keeper = WeightKeeper(hypervisor, 600.0, ratio=1000.0)
    first, second = guests
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
