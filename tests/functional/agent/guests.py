"""Guests of QEMU without hardware support (TCG), which libvirt runs: each uses a part of one processor."""

from __future__ import annotations

import importlib
import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

URI = "qemu:///system"

#: Ticks of the timer, of which there are 18.2 a second, in which a guest works and rests once.
PERIOD = 10
BUSY = 255

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


def boot_sector(ticks: int) -> bytes:
    """Return a boot sector that works for some of ``PERIOD`` ticks of the timer, and rests for the others.

    With ``BUSY`` it hardly ever rests.
    """
    code = bytes(
        [
            *(0xFB, 0x31, 0xC0, 0x8E, 0xD8),  # sti; ds = 0
            *(0x8B, 0x1E, 0x6C, 0x04),  # begin: bx = the count of ticks, which the BIOS keeps at 046C
            *(0xA1, 0x6C, 0x04, 0x29, 0xD8, 0x3D, ticks, 0x00, 0x72, 0xF6),  # until it is higher by so many
            *(0xF4,),  # rest: wait for an interrupt
            *(0xA1, 0x6C, 0x04, 0x29, 0xD8, 0x3D, PERIOD, 0x00, 0x72, 0xF5),  # until the period is over
            *(0xEB, 0xE5),  # go on at begin
        ]
    )
    return code.ljust(510, b"\0") + b"\x55\xaa"


@contextmanager
def running_guests(ticks: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Run a guest for each number of ticks on the first processor; skip the test where there is no libvirt.

    :return: id -> domain of libvirt, in this order
    """
    try:
        libvirt = importlib.import_module("libvirt")
        libvirt.registerErrorHandler(lambda context, error: None, None)
        connection = libvirt.open(URI)
    except Exception as error:
        pytest.skip(f"there is no libvirt here: {error}")
    domains: dict[str, Any] = {}
    images: list[Path] = []
    try:
        for each in ticks:
            domain_id = str(uuid.uuid4())
            # QEMU runs as another user, which must be able to read it.
            images.append(Path("/var/tmp") / f"lease-scheduler-{domain_id}.img")
            images[-1].write_bytes(boot_sector(each))
            images[-1].chmod(0o644)
            text = _DOMAIN.format(id=domain_id, image=images[-1], cpu=processors()[0])
            domains[domain_id] = connection.defineXML(text)
            domains[domain_id].create()
        yield domains
    finally:
        for domain in domains.values():
            if domain.isActive():
                domain.destroy()
            domain.undefine()
        connection.close()
        for image in images:
            image.unlink()


def processors() -> list[int]:
    """Return the processors on which guests can run."""
    return sorted(os.sched_getaffinity(0))


def pin(domain: Any, processor: int) -> None:
    """Have a running domain use one processor only."""
    libvirt = importlib.import_module("libvirt")
    where = tuple(number == processor for number in range(os.cpu_count() or 1))
    domain.pinVcpuFlags(0, where, libvirt.VIR_DOMAIN_AFFECT_LIVE)
    domain.pinEmulator(where, libvirt.VIR_DOMAIN_AFFECT_LIVE)
