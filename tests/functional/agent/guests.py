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

#: Rate of a guest that always works.
BUSY = 2**20

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

#: Instructions that set eax to the time in units of 2^20 cycles.
_TIME = (0x0F, 0x31, 0x66, 0x0F, 0xAC, 0xD0, 0x14)

#: Turns of an empty loop in a unit of work, which takes about half a millisecond.
_UNIT = 200_000


def boot_sector(rate: int) -> bytes:
    """Return a boot sector for which work arrives at a constant rate.

    It always works while some is left, and forgets what it is behind with by more than 32 units of work. So it uses
    what it needs or what it gets, whichever is less.

    :param rate: units of work for 2^36 cycles of the time stamp counter, which counts real time; at most ``BUSY``
    """
    prepare = [
        *(0xFA, 0x31, 0xC0, 0x8E, 0xD8, 0x8E, 0xD0, 0xBC, 0x00, 0x7C),  # cli; ds = ss = 0; sp = 7C00
        *(0xC7, 0x06, 0x20, 0x00, 0x00, 0x00, 0xA3, 0x22, 0x00),  # the timer calls the handler below
        *(0xB0, 0x34, 0xE6, 0x43, 0xB0, 0x4E, 0xE6, 0x40, 0xB0, 0x17, 0xE6, 0x40, 0xFB),  # 200 ticks a second; sti
        *(*_TIME, 0x66, 0x89, 0xC7, 0x66, 0x31, 0xF6),  # edi = the time; esi, the units done, = 0
    ]
    cycle = [
        *(*_TIME, 0x66, 0x29, 0xF8),  # eax = the time since then
        *(0x66, 0xB9, *rate.to_bytes(4, "little"), 0x66, 0xF7, 0xE1),  # edx:eax = times the rate
        *(0x66, 0x0F, 0xAC, 0xD0, 0x10, 0x66, 0x89, 0xC2, 0x66, 0x29, 0xF2),  # eax = units to do; edx = units behind
        *(0x7E, 0x1B),  # if there are none, rest
        *(0x66, 0x83, 0xFA, 0x20, 0x76, 0x07, 0x66, 0x89, 0xC6, 0x66, 0x83, 0xEE, 0x20),  # forget all but 32
        *(0x66, 0xB9, *_UNIT.to_bytes(4, "little"), 0x66, 0x49, 0x75, 0xFC, 0x66, 0x46),  # do a unit
    ]
    cycle += [0xEB, 256 - len(cycle) - 2]  # go on at the beginning of the cycle
    cycle += [0xF4, 0xEB, 256 - len(cycle) - 3]  # rest: wait for an interrupt, and go on there, too
    handler = [0x50, 0xB0, 0x20, 0xE6, 0x20, 0x58, 0xCF]  # tell the controller that the tick was heard
    address = 0x7C00 + len(prepare) + len(cycle)
    prepare[14:16] = address & 0xFF, address >> 8
    return bytes([*prepare, *cycle, *handler]).ljust(510, b"\0") + b"\x55\xaa"


@contextmanager
def running_guests(rates: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Run a guest for each rate on the first processor; skip the test where there is no libvirt.

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
        for each in rates:
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
