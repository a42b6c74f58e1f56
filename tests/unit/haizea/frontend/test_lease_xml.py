"""Leases in Haizea's XML (haizea F24, section 9.2)."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.haizea.frontend import lease_xml
from lease_scheduler.haizea.frontend.lease_xml import (
    MAXIMUM_SIZE,
    WrittenLease,
    clean,
    read_listed,
    read_request,
    write_lease,
)
from lease_scheduler.haizea.frontend.words import state_number, state_word
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.model.states import LeaseState

NOW = 1_900_000_000

_LEASE = """<lease preemptible="{preemptible}">
  <nodes><node-set numnodes="2">{resources}</node-set></nodes>
  <start>{start}</start><duration time="{duration}"/>{deadline}{software}
</lease>"""


def _xml(
    start: str = "<now/>",
    duration: str = "01:00:00.00",
    deadline: str = "",
    preemptible: str = "True",
    resources: str = '<res type="CPU" amount="100"/><res type="Memory" amount="1024"/>',
    software: str = "<software><none/></software>",
) -> str:
    return _LEASE.format(
        start=start,
        duration=duration,
        deadline=deadline,
        preemptible=preemptible,
        resources=resources,
        software=software,
    )


def _read(text: str) -> LeaseRequest:
    return read_request(text, NOW)[0]


@pytest.mark.parametrize(
    ("start", "deadline", "kind", "instant"),
    [
        ("<now/>", "", LeaseKind.IMMEDIATE, None),
        ("", "", LeaseKind.BEST_EFFORT, None),
        ('<exact time="+00:10:00"/>', "", LeaseKind.RESERVATION, NOW + 600),
        ('<exact time="+1:00:00:00.00"/>', "", LeaseKind.RESERVATION, NOW + 86_400),
        ('<exact time="2030-03-17 17:46:40"/>', "", LeaseKind.RESERVATION, NOW),
        ('<exact time="2030-03-17 17:46:40.49"/>', "", LeaseKind.RESERVATION, NOW),
        ('<exact time="2030-03-17 17:46:39.5"/>', "", LeaseKind.RESERVATION, NOW),
        ('<exact time="2030-03-17T18:46:40+01:00"/>', "", LeaseKind.RESERVATION, NOW),
        ('<exact time="1900000000"/>', "", LeaseKind.RESERVATION, NOW),
        ('<exact time="+60"/>', '<deadline time="+02:00:00"/>', LeaseKind.DEADLINE, NOW + 60),
        ('<exact time="+60"/>', '<deadline time="+01:01:00"/>', LeaseKind.RESERVATION, NOW + 60),
        ("", '<deadline time="2030-03-17 20:00:00"/>', LeaseKind.DEADLINE, NOW),
    ],
)
def test_start_and_deadline_determine_the_kind(start: str, deadline: str, kind: LeaseKind, instant: int | None) -> None:
    request = _read(_xml(start, deadline=deadline))
    assert (request.kind, request.start) == (kind, instant)


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [
        ("unlimited", UNLIMITED),
        ("00:00:00.01", 1),
        ("02:00:00:00.00", 172_800),
        ("90", 90),
        ("36500:00:00:00", UNLIMITED),
    ],
)
def test_durations_are_parsed(duration: str, seconds: int) -> None:
    assert _read(_xml(duration=duration)).duration == seconds


def test_amounts_of_instances_are_added_up() -> None:
    resources = '<res type="CPU"><instance amount="100"/><instance amount="50"/></res>'
    assert _read(_xml(resources=resources)).nodes[0].resources == Resources({"VCPU": 150})


@pytest.mark.parametrize("flag", ["True", "true", "yes"])
def test_flags_have_three_spellings(flag: str) -> None:
    assert _read(_xml(preemptible=flag)).preemptible


def test_id_state_and_submission_are_ignored() -> None:
    text = _xml().replace("<lease ", '<lease id="7" state="8" submit-time="2006-11-25 13:00:00.00" ', 1)
    assert _read(text).submitted == NOW


def test_a_declared_encoding_holds_for_bytes_and_not_for_text() -> None:
    text = _xml(software='<software><disk-image id="Köln" size="1"/></software>')
    declared = f'<?xml version="1.0" encoding="ISO-8859-1"?>\n{text}'
    assert _read(declared).software == DiskImage("Köln", 1)
    assert read_request(declared.encode("latin-1"), NOW)[0].software == DiskImage("Köln", 1)


def test_the_request_tells_whether_it_names_a_preemption_mode() -> None:
    assert not read_request(_xml(), NOW)[1]
    said = _xml().replace("<lease ", '<lease preemption-mode="shelve" ', 1)
    assert read_request(said, NOW)[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lease: is not well-formed XML"),
        ("<lease", "lease, line 1: is not well-formed XML"),
        ("<lwf/>", "begins with <lwf>, not with <lease>"),
        ('<!DOCTYPE lease [<!ENTITY a "b">]>' + _xml(), "has a document type"),
        (_xml(start='<exact time="10:00:00"/>'), "<exact time>: '10:00:00' is neither a date and time"),
        (_xml(start='<exact time="2030-13-01 00:00:00"/>'), "is neither a date and time"),
        (_xml(start='<exact time="now"/>'), "is neither a date and time"),
        (_xml(start="<later/>"), "lease, line 3: <later> is not allowed in <start>"),
        (_xml(duration="soon"), "<duration time>: 'soon' is not a time"),
        (_xml(duration="0"), "duration: must be at least 1 s"),
        (_xml(deadline='<deadline time="+1"/>', start='<exact time="+0"/>'), "deadline: must be at least"),
        (_xml(preemptible="perhaps"), "must be true or false"),
        (_xml(resources='<res type="CPU" amount="-1"/>'), "must be a whole number"),
        (_xml().replace("<lease ", '<lease price="1" ', 1), "<lease price>: the service sets prices"),
        (_xml() + " " * MAXIMUM_SIZE, f"at most {MAXIMUM_SIZE} are read"),
    ],
)
def test_wrong_requests_are_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        read_request(text, NOW)
    assert message in str(caught.value)


def test_states_have_the_numbers_of_haizea() -> None:
    """They are the numbers of Haizea 1.1, with which its scripts compare."""
    assert sorted(state_number(state) for state in LeaseState) == list(range(19))
    assert state_word(str(state_number(LeaseState.SUSPENDED_QUEUED))) == "Suspended-Queued"
    assert [state_number(state) for state in (LeaseState.ACTIVE, LeaseState.DONE, LeaseState.FAILED)] == [8, 16, 17]
    with pytest.raises(InvalidValueError, match="from 0 to 18"):
        state_word("19")


def test_a_listed_lease_has_the_fields_of_haizea() -> None:
    shown = WrittenLease(
        LeaseKind.DEADLINE,
        (NodeSet(3, Resources({"VCPU": 100})),),
        True,
        duration=3_600,
        start=NOW,
        deadline=NOW + 9_000,
        number=12,
        state=LeaseState.SCHEDULED,
        submitted=NOW,
    )
    listed = read_listed(write_lease(shown))
    assert (listed.number, listed.kind, listed.state, listed.duration, listed.nodes) == (
        "12",
        "Deadline",
        "Scheduled",
        "01:00:00",
        3,
    )
    assert listed.start == "2030-03-17 17:46:40.00"
    with pytest.raises(InvalidValueError, match="lacks the attribute 'id'"):
        read_listed(_xml())


_TEXT = st.text(st.characters(codec="utf-8")).map(clean)
_NAMES = st.text(string.ascii_uppercase + "_", min_size=1, max_size=8).filter(lambda name: name not in ("CPU", "VCPU"))
_AMOUNTS = st.integers(1, 10**15 - 1)
_RESOURCES = st.builds(
    lambda cpu, memory, more: Resources({**more, "VCPU": cpu, "MEMORY_MB": memory}),
    _AMOUNTS,
    _AMOUNTS,
    st.dictionaries(_NAMES, _AMOUNTS, max_size=3),
)
_TRAITS = st.frozensets(st.builds("{}={}".format, _NAMES, _TEXT) | _NAMES, max_size=3)
_NODE_SETS = st.builds(NodeSet, st.integers(1, 10**9), _RESOURCES, _TRAITS)


@st.composite
def _leases(draw: st.DrawFn) -> WrittenLease:
    kind = draw(st.sampled_from(LeaseKind))
    start = deadline = None
    duration = draw(st.integers(1, UNLIMITED))
    if kind in (LeaseKind.RESERVATION, LeaseKind.DEADLINE):
        start = draw(st.integers(NOW, NOW + 10**9))
    if kind is LeaseKind.DEADLINE and start is not None:
        # Without any slack it amounts to a reservation.
        deadline = start + duration + draw(st.integers(1, 10**9))
    return WrittenLease(
        kind=kind,
        nodes=tuple(draw(st.lists(_NODE_SETS, min_size=1, max_size=3))),
        preemptible=draw(st.booleans()),
        duration=duration,
        start=start,
        deadline=deadline,
        software=draw(st.none() | st.builds(DiskImage, _TEXT, _AMOUNTS)),
        extras=draw(st.dictionaries(_TEXT, _TEXT, max_size=3)),
        number=draw(st.none() | st.integers(1, 2**31 - 1)),
        user=draw(st.none() | _TEXT.filter(lambda user: user != "-1")),
        state=draw(st.none() | st.sampled_from(LeaseState)),
        submitted=draw(st.none() | st.integers(0, 2 * NOW)),
        preemption_mode=draw(st.none() | st.sampled_from(["shelve", "suspend", "none"])),
    )


@given(_leases())
def test_what_is_written_is_read_again(lease: WrittenLease) -> None:
    """haizea F24: every term survives a round trip, whatever the texts contain."""
    text = write_lease(lease)
    request, says_mode = read_request(text, NOW)
    assert request.kind is lease.kind
    assert request.nodes == lease.nodes
    assert (request.start, request.duration, request.deadline) == (lease.start, lease.duration, lease.deadline)
    assert (request.preemptible, request.software, request.user) == (lease.preemptible, lease.software, lease.user)
    assert dict(request.extras) == dict(lease.extras)
    assert says_mode == (lease.preemption_mode is not None)
    if lease.preemption_mode is not None:
        assert request.preemption_mode.value == lease.preemption_mode
    if lease.number is not None and lease.state is not None:
        listed = read_listed(text)
        assert (listed.number, listed.state) == (str(lease.number), state_word(str(state_number(lease.state))))


@given(st.text() | st.binary())
def test_other_content_is_refused(content: str | bytes) -> None:
    with pytest.raises(InvalidValueError):
        read_request(content, NOW)


def test_lists_show_the_actual_start_before_the_planned_and_the_requested_one() -> None:
    """What has happened takes precedence over what is planned, and that over what was requested."""
    nodes = (NodeSet(1, Resources({"VCPU": 100})),)

    def start(**extras: str) -> str:
        lease = WrittenLease(LeaseKind.BEST_EFFORT, nodes, True, number=1, state=LeaseState.QUEUED, extras=extras)
        return read_listed(write_lease(lease)).start

    planned, started = {lease_xml.PLANNED_START: "planned"}, {lease_xml.STARTED: "started"}
    assert (start(), start(**planned), start(**planned, **started)) == ("Unspecified", "planned", "started")


def test_a_lease_without_nodes_is_listed() -> None:
    """Blazar's clients can create one, and it must not prevent listing the others."""
    written = WrittenLease(
        kind=LeaseKind.RESERVATION,
        nodes=(),
        preemptible=False,
        duration=3600,
        start=NOW,
        deadline=None,
        number=7,
        state=LeaseState.SCHEDULED,
    )
    listed = read_listed(write_lease(written))
    assert (listed.number, listed.nodes) == ("7", 0)
