"""OpenNebula's templates as leases (haizea F21, F22; Sotomayor 2010, section 4.1.1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.haizea.frontend.lease_xml import WrittenLease
from lease_scheduler.haizea.frontend.templates import leases_of, parse_template
from lease_scheduler.model.errors import InputFileError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import Resources

NOW = 1_900_000_000
VM = "CPU = 0.5\nMEMORY = 512\n"


def _leases(*texts: str) -> list[WrittenLease]:
    return leases_of([parse_template(text, f"vm-{number}") for number, text in enumerate(texts, start=1)], NOW)


def _section(start: str = "now", duration: str = "01:00:00", preemptible: str = "no", group: str = "") -> str:
    more = f', GROUP = "{group}"' if group else ""
    return f'{VM}HAIZEA = [ START = "{start}", DURATION = "{duration}", PREEMPTIBLE = "{preemptible}"{more} ]\n'


def test_a_vm_without_a_haizea_section_is_an_immediate_lease() -> None:
    """Without the section it is wanted now, without end, and not preemptible."""
    (lease,) = _leases(VM)
    nodes = (NodeSet(1, Resources({"VCPU": 50, "MEMORY_MB": 512})),)
    assert lease == WrittenLease(LeaseKind.IMMEDIATE, nodes, preemptible=False, duration=UNLIMITED)


@pytest.mark.parametrize(
    ("start", "kind", "instant"),
    [
        ("now", LeaseKind.IMMEDIATE, None),
        ("best_effort", LeaseKind.BEST_EFFORT, None),
        ("+00:10:00", LeaseKind.RESERVATION, NOW + 600),
        ("2030-03-17 17:46:40", LeaseKind.RESERVATION, NOW),
    ],
)
def test_the_start_determines_the_kind(start: str, kind: LeaseKind, instant: int | None) -> None:
    (lease,) = _leases(_section(start))
    assert (lease.kind, lease.start, lease.duration, lease.preemptible) == (kind, instant, 3_600, False)


def test_a_group_is_one_lease() -> None:
    """Its terms are those of its first VM, even if other VMs come in between."""
    first = _section("+01:00:00", group="g")
    second = _section("now", "unlimited", "yes", group="g").replace("0.5", "2")
    cluster, plain, other = _leases(first, VM, second, second, _section(group="h"))
    assert (cluster.kind, cluster.start, cluster.preemptible) == (LeaseKind.RESERVATION, NOW + 3_600, False)
    assert [(nodes.count, nodes.resources["VCPU"]) for nodes in cluster.nodes] == [(1, 50), (2, 200)]
    assert (plain.duration, other.duration) == (UNLIMITED, 3_600)


def test_templates_are_parsed_in_all_spellings() -> None:
    text = """# a web server
    name = "web, \\"one\\" [1]"   # CPU = 7
    Cpu = 1.5
    vcpu=2
    MEMORY=1024
    DISK = [ SOURCE = "/images/a=b.img", TARGET = sda,
             READONLY = no ]
    NIC = []
    haizea = [
      start = best_effort,      # whenever there is room
      duration = unlimited, preemptible = yes
    ]"""
    (lease,) = _leases(text)
    assert lease.nodes == (NodeSet(1, Resources({"VCPU": 300, "MEMORY_MB": 1_024})),)
    assert (lease.kind, lease.duration, lease.preemptible) == (LeaseKind.BEST_EFFORT, UNLIMITED, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CPU = 1\n???", "vm-1:2: is not NAME = value"),
        ("CPU =", 'vm-1:1: has no value after its "="'),
        ("CPU = 1", "vm-1: lacks MEMORY"),
        ("MEMORY = 1", "vm-1: lacks CPU"),
        ("CPU = 0\nMEMORY = 1", "vm-1: CPU: must be a number above 0"),
        ("CPU = much\nMEMORY = 1", "vm-1: CPU: must be a number above 0"),
        ("CPU = 1\nMEMORY = some", "vm-1: MEMORY: must be a whole number"),
        ("CPU = 1\nVCPU = 0\nMEMORY = 1", "vm-1: VCPU: must be a whole number"),
        (_section(start="10:00:00"), "vm-1: HAIZEA start: '10:00:00' is neither"),
        (_section(duration="long"), "vm-1: HAIZEA duration: 'long' is not a time"),
        (_section(preemptible="perhaps"), "vm-1: HAIZEA preemptible: must be yes or no"),
        (VM + "HAIZEA = [ START = now ]", "vm-1: HAIZEA lacks duration and preemptible"),
        (VM + "HAIZEA = [ BEGIN = now ]", "vm-1: HAIZEA has no begin; known are start, duration"),
        (VM + "HAIZEA = [ START = now, START = now ]", "vm-1:3: has start twice"),
        (VM + "HAIZEA = [ START = now", 'vm-1:3: lacks a "," or a "]"'),
        (VM + 'HAIZEA = [ START = "now" DURATION = 1 ]', 'vm-1:3: lacks a "," or a "]"'),
        (VM + "HAIZEA = [ START = now,", 'vm-1:3: lacks a "]"'),
        (_section() + _section(), "a second section HAIZEA"),
    ],
)
def test_wrong_templates_are_refused_with_line_and_problem(text: str, message: str) -> None:
    with pytest.raises(InputFileError) as caught:
        _leases(text)
    assert message in str(caught.value)


@given(st.text() | st.text('HAIZE=[]", \n#+nowCPU1'))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        leases = _leases(VM + text)
    except InputFileError:
        return
    assert len(leases) == 1
