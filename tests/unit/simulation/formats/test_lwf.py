"""Reading and writing LWF (haizea F24, F25, section 9.2)."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.grant import Grant
from lease_scheduler.model.host import Host, Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import UNLIMITED, LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.simulation.formats.lwf import read_lwf, read_site, write_lwf
from lease_scheduler.simulation.formats.lwfa import read_annotations
from lease_scheduler.simulation.workload import Workload, WorkloadLease

SITE = """<site>
<resource-types names="CPU Memory"/>
<nodes><node-set numnodes="4"><res type="CPU" amount="100"/><res type="Memory" amount="1024"/></node-set></nodes>
</site>"""
NODES = (
    '<nodes><node-set numnodes="2"><res type="CPU" amount="100"/><res type="Memory" amount="512"/></node-set></nodes>'
)


def _lease(
    terms: str = '<start/><duration time="01:00:00.00"/>',
    attributes: str = 'id="1" preemptible="true"',
    nodes: str = NODES,
) -> str:
    return f"<lease {attributes}>{nodes}{terms}<software><none/></software></lease>"


def _workload(*requests: str, site: str = SITE, head: str = "") -> str:
    return (
        f'<lease-workload name="w">{head}\n{site}\n<lease-requests>\n'
        + "\n".join(requests)
        + ("\n</lease-requests>\n</lease-workload>")
    )


def _request(lease: str, arrival: str = "00:10:00.00", real: str = "") -> str:
    return f'<lease-request arrival="{arrival}">{real}{lease}</lease-request>'


def _read(tmp_path: Path, text: str) -> Workload:
    path = tmp_path / "in.lwf"
    path.write_text(text)
    return read_lwf(path)


def _read_terms(tmp_path: Path, terms: str) -> LeaseRequest:
    return _read(tmp_path, _workload(_request(_lease(terms)))).leases[0].request


def test_a_best_effort_lease_with_everything_around_it(tmp_path: Path) -> None:
    """haizea F9, F25"""
    head = '<description>free text</description><attributes><attr name="rho" value="0.2"/></attributes>'
    text = _workload(_request(_lease(), real='<realduration time="00:45:00"/>'), head=head)
    resources = Resources({"VCPU": 100, "MEMORY_MB": 512})
    request = LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(2, resources),), 600, 3_600, preemptible=True)
    assert _read(tmp_path, text) == Workload(
        "w",
        (WorkloadLease(request, 2_700),),
        Site.homogeneous(4, Resources({"VCPU": 100, "MEMORY_MB": 1024})),
        {"rho": "0.2"},
    )


@pytest.mark.parametrize(
    ("terms", "kind", "start", "deadline"),
    [
        ('<start/><duration time="600"/>', LeaseKind.BEST_EFFORT, None, None),
        ('<start><now/></start><duration time="600"/>', LeaseKind.IMMEDIATE, None, None),
        ('<start><exact time="00:30:00"/></start><duration time="600"/>', LeaseKind.RESERVATION, 1_800, None),
        ('<start><exact time="+00:30:00"/></start><duration time="600"/>', LeaseKind.RESERVATION, 2_400, None),
        (
            '<start><exact time="1800"/></start><duration time="600"/><deadline time="2401"/>',
            LeaseKind.DEADLINE,
            1_800,
            2_401,
        ),
        (
            '<start><exact time="1800"/></start><duration time="600"/><deadline time="2400"/>',
            LeaseKind.RESERVATION,
            1_800,
            None,
        ),
        ('<start/><duration time="600"/><deadline time="3000"/>', LeaseKind.DEADLINE, 600, 3_000),
        ('<start/><duration time="600"/><deadline time="+600"/>', LeaseKind.RESERVATION, 600, None),
    ],
)
def test_the_terms_imply_the_kind(
    tmp_path: Path, terms: str, kind: LeaseKind, start: int | None, deadline: int | None
) -> None:
    """haizea F9-F12, section 3.2"""
    request = _read_terms(tmp_path, terms)
    assert (request.kind, request.start, request.deadline) == (kind, start, deadline)


def test_image_user_extras_and_flags_are_kept(tmp_path: Path) -> None:
    """haizea F7, F13"""
    lease = (
        f'<lease id="7" preemptible="False" user="42">{NODES}<start/><duration time="unlimited"/>'
        '<software><disk-image id="a.img" size="4096"/></software>'
        '<extra><attr name="simul_userrate" value="1.5"/></extra></lease>'
    )
    request = _read(tmp_path, _workload(_request(lease))).leases[0].request
    assert (request.lease_id, request.preemptible, request.user) == ("7", False, "42")
    assert request.software == DiskImage("a.img", 4_096)
    assert request.extras == {"simul_userrate": "1.5"}
    assert request.duration == UNLIMITED


@pytest.mark.parametrize(("real", "known"), [("3599", 3_599), ("3600", None), ("7200", None), ("0", 1)])
def test_a_real_duration_counts_only_if_shorter(tmp_path: Path, real: str, known: int | None) -> None:
    """haizea, section 4.20"""
    text = _workload(_request(_lease(), real=f'<realduration time="{real}"/>'))
    assert _read(tmp_path, text).leases[0].real_duration == known


def test_leases_come_by_arrival_and_ties_keep_the_order_of_the_file(tmp_path: Path) -> None:
    requests = [
        _request(_lease(attributes=f'id="{lease_id}" preemptible="true"'), arrival)
        for lease_id, arrival in (("a", "20"), ("b", "10"), ("c", "20"), ("d", "10"))
    ]
    leases = _read(tmp_path, _workload(*requests)).leases
    assert [lease.request.lease_id for lease in leases] == ["b", "d", "a", "c"]


def test_leases_without_id_get_the_free_numbers(tmp_path: Path) -> None:
    requests = [
        _request(_lease(attributes=f'{given} preemptible="true"'), arrival)
        for given, arrival in (("", "30"), ('id="1"', "20"), ("", "10"), ('id="3"', "40"))
    ]
    leases = _read(tmp_path, _workload(*requests)).leases
    assert [lease.request.lease_id for lease in leases] == ["4", "1", "2", "3"]


def test_instances_of_a_type_are_added_up(tmp_path: Path) -> None:
    """haizea F2"""
    instances = '<res type="CPU"><instance amount="50"/><instance amount="30"/></res><res type="Memory" amount="64"/>'
    site = (
        '<site><resource-types names="CPU Memory"/><nodes>'
        f'<node-set numnodes="1">{instances}</node-set>'
        '<node-set numnodes="2"><res type="CPU" amount="100"/><res type="Memory" amount="1"/>'
        '<attr type="arch" value="x86_64"/><attr type="SSD"/></node-set></nodes></site>'
    )
    nodes = f'<nodes><node-set numnodes="3">{instances}</node-set></nodes>'
    workload = _read(tmp_path, _workload(_request(_lease(nodes=nodes)), site=site))
    plain = Resources({"VCPU": 100, "MEMORY_MB": 1})
    assert workload.site is not None
    assert workload.site.hosts == (
        Host("host-1", Resources({"VCPU": 80, "MEMORY_MB": 64}), max_unit=Resources({"VCPU": 50})),
        Host("host-2", plain, frozenset({"arch=x86_64", "SSD"})),
        Host("host-3", plain, frozenset({"arch=x86_64", "SSD"})),
    )
    assert workload.leases[0].request.nodes == (NodeSet(3, Resources({"VCPU": 80, "MEMORY_MB": 64})),)


def test_types_that_haizea_adds_to_every_site_may_be_requested(tmp_path: Path) -> None:
    """haizea, section 3.1"""
    nodes = '<nodes><node-set numnodes="1"><res type="CPU" amount="1"/><res type="Disk" amount="5"/></node-set></nodes>'
    workload = _read(tmp_path, _workload(_request(_lease(nodes=nodes))))
    assert workload.site is not None
    assert workload.site.hosts[0].capacity == Resources({"VCPU": 100, "MEMORY_MB": 1024, "Disk": 1_000_000})


def test_a_workload_need_not_name_a_site(tmp_path: Path) -> None:
    workload = _read(tmp_path, _workload(_request(_lease()), site=""))
    assert workload.site is None
    assert len(workload.leases) == 1


def test_a_site_may_have_its_own_file(tmp_path: Path) -> None:
    path = tmp_path / "site.xml"
    path.write_text(SITE)
    assert read_site(path) == Site.homogeneous(4, Resources({"VCPU": 100, "MEMORY_MB": 1024}))


_GPU = '<nodes>\n<node-set numnodes="1"><res type="CPU" amount="1"/>\n<res type="GPU" amount="1"/></node-set></nodes>'
_NO_TYPE = '<nodes><node-set numnodes="1"><res amount="1"/></node-set></nodes>'


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("<lease-workload>\n<site/></lease-workload>", 2, "<site> lacks <resource-types>"),
        ("<lease-workload>\n<sight/></lease-workload>", 2, "<sight> is not allowed here"),
        (_workload(site=f"{SITE}\n{SITE}"), 6, "a second <site>"),
        (_workload(site=SITE.replace("CPU Memory", "CPU")), 3, "<resource-types> lacks Memory"),
        (_workload(site=SITE.replace('"1024"', '"-1"')), 4, "<res amount>: must be a whole number of at least 0"),
        (_workload(site=SITE.replace('"4"', '"9999999"')), 4, "more than 1000000 nodes"),
        (_workload(site=SITE.replace('type="Memory"', 'type="GPU"')), 4, "'GPU' is not among"),
        (_workload(_request(_lease(nodes=_GPU))), 9, "resource type 'GPU' is not among the site's"),
        (_workload(_request(_lease(nodes=_NO_TYPE))), 7, "<res> lacks the attribute 'type'"),
        (_workload(_request(_lease(nodes="<nodes/>"))), 7, "<nodes> lacks a <node-set>"),
        (_workload(_request(_lease(nodes=NODES.replace('"2"', '"0"')))), 7, "<node-set numnodes>: must be"),
        (
            _workload(_request(_lease(nodes=NODES.replace("512", "0").replace("100", "0")))),
            7,
            "nothing of any resource",
        ),
        (_workload(_request(_lease(nodes=NODES.replace("Memory", "CPU")))), 7, "'CPU' twice"),
        (_workload(_request(_lease(), arrival="soon")), 7, "<lease-request arrival>: 'soon' is not a time"),
        (_workload(_request(_lease("<start/>"))), 7, "<lease> lacks <duration>"),
        (_workload(_request(_lease('<start/>\n<duration time="0"/>'))), 7, "duration: must be at least 1 s"),
        (_workload(_request(_lease('<start/>\n<duration time="x"/>'))), 8, "<duration time>: 'x' is not a time"),
        (
            _workload(_request(_lease('<start/><duration time="1"/>\n<dedline time="9"/>'))),
            8,
            "<dedline> is not allowed in <lease>",
        ),
        (_workload(_request(_lease('<start><later/></start><duration time="1"/>'))), 7, "<later> is not allowed"),
        (_workload(_request(_lease('<start><now/><exact time="1"/></start><duration time="1"/>'))), 7, "one of <now>"),
        (_workload(_request(_lease('<start/><duration time="99"/><deadline time="601"/>'))), 7, "deadline: must be at"),
        (_workload(_request(_lease(attributes='id="1"'))), 7, "lacks the attribute 'preemptible'"),
        (_workload(_request(_lease(attributes='id="1" preemptible="maybe"'))), 7, "must be true or false, not 'maybe'"),
        (_workload(_request(_lease(attributes='id="" preemptible="true"'))), 7, "the id is empty"),
        (_workload(_request(_lease(attributes='prise="1" preemptible="true"'))), 7, "no attribute 'prise'"),
        (_workload(_request(_lease(attributes='price="x" preemptible="true"'))), 7, "<lease price>: must be a number"),
        (_workload(_request(_lease()), _request(_lease())), 8, "the id '1' is that of an earlier lease"),
    ],
)
def test_a_bad_file_names_line_and_problem(tmp_path: Path, text: str, line: int, problem: str) -> None:
    with pytest.raises(InputFileError) as error:
        _read(tmp_path, text)
    assert (error.value.path, error.value.line) == (str(tmp_path / "in.lwf"), line)
    assert problem in error.value.problem


_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Co", "Cn")), max_size=8)
_CLASSES = ("VCPU", "MEMORY_MB", "GPU", "CUSTOM_X")
_AMOUNTS = st.dictionaries(st.sampled_from(_CLASSES), st.integers(1, 10**6), min_size=1).map(Resources)
_TRAITS = st.frozensets(st.sampled_from(("SSD", "arch=x86_64", "arch=arm", "empty=", "a=b=c")), max_size=3)


@st.composite
def _sites(draw: st.DrawFn) -> Site:
    shapes = []
    for _ in range(draw(st.integers(1, 3))):
        capacity = draw(_AMOUNTS)
        limited = draw(st.frozensets(st.sampled_from(sorted(capacity))))
        max_unit = {name: draw(st.integers(max(1, capacity[name] // 5), capacity[name])) for name in sorted(limited)}
        unit = Resources({name: amount for name, amount in max_unit.items() if amount < capacity[name]})
        shapes += [(capacity, draw(_TRAITS), unit)] * draw(st.integers(1, 3))
    return Site.of(Host(f"host-{number}", *shape) for number, shape in enumerate(shapes, start=1))


@st.composite
def _workload_leases(draw: st.DrawFn, lease_id: str, submitted: int) -> WorkloadLease:
    kind = draw(st.sampled_from(LeaseKind))
    duration = draw(st.integers(1, UNLIMITED))
    start = draw(st.integers(0, 10**9)) if kind in (LeaseKind.RESERVATION, LeaseKind.DEADLINE) else None
    slack = draw(st.integers(1, 10**6))
    request = LeaseRequest(
        lease_id=lease_id,
        kind=kind,
        nodes=tuple(draw(st.lists(st.builds(NodeSet, st.integers(1, 500), _AMOUNTS, _TRAITS), min_size=1, max_size=2))),
        submitted=submitted,
        duration=duration,
        start=start,
        deadline=start + duration + slack if kind is LeaseKind.DEADLINE and start is not None else None,
        preemptible=draw(st.booleans()),
        preemption_mode=draw(st.sampled_from(PreemptionMode)),
        user=draw(st.none() | _TEXT),
        software=draw(st.none() | st.builds(DiskImage, _TEXT, st.integers(0, 10**6))),
        extras=draw(st.dictionaries(_TEXT, _TEXT, max_size=3)),
    )
    real = draw(st.none() | st.integers(1, duration))
    price = draw(st.none() | st.floats(allow_nan=False, allow_infinity=False))
    return WorkloadLease(request, real if real is not None and real < duration else None, Grant(price=price))


@st.composite
def _workloads(draw: st.DrawFn) -> Workload:
    ids = draw(st.lists(_TEXT.filter(bool), unique=True, max_size=4))
    arrivals = sorted(draw(st.lists(st.integers(0, 10**9), min_size=len(ids), max_size=len(ids))))
    leases = tuple(draw(_workload_leases(*pair)) for pair in zip(ids, arrivals, strict=True))
    site = draw(st.none() | _sites())
    return Workload(draw(_TEXT), leases, site, draw(st.dictionaries(_TEXT, _TEXT, max_size=3)))


@given(workload=_workloads())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_again(tmp_path: Path, workload: Workload) -> None:
    path = tmp_path / "out.lwf"
    write_lwf(workload, path)
    assert read_lwf(path) == workload


def test_writing_is_deterministic(tmp_path: Path) -> None:
    workload = _read(tmp_path, _workload(_request(_lease())))
    write_lwf(workload, tmp_path / "a")
    write_lwf(workload, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_whitespace_in_texts_survives(tmp_path: Path) -> None:
    workload = Workload("two\nlines\tand\ra return", ())
    write_lwf(workload, tmp_path / "out.lwf")
    assert read_lwf(tmp_path / "out.lwf") == workload


def test_a_deadline_lease_without_slack_is_written_as_a_reservation(tmp_path: Path) -> None:
    lease = _read(tmp_path, _workload(_request(_lease('<start><exact time="900"/></start><duration time="60"/>'))))
    tight = replace(lease.leases[0].request, kind=LeaseKind.DEADLINE, deadline=960)
    write_lwf(replace(lease, leases=(WorkloadLease(tight),)), tmp_path / "out.lwf")
    assert read_lwf(tmp_path / "out.lwf") == lease


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda w: replace(w, site=Site.homogeneous(1, Resources({"VCPU": 1}), prefix="node")),
            "site: LWF has no host",
        ),
        (lambda w: replace(w, site=Site.homogeneous(1, Resources({"CPU": 1}))), "resources.CPU"),
        (lambda w: replace(w, leases=w.leases * 2), "lease_id"),
        (lambda w: replace(w, name="\0"), "name"),
        (
            lambda w: replace(w, site=Site((Host("host-1", Resources({"VCPU": 1}), frozenset({"=x"})),))),
            "traits: '=x' has no name",
        ),
    ],
)
def test_workloads_that_lwf_cannot_represent_are_refused(
    tmp_path: Path, change: Callable[[Workload], Workload], problem: str
) -> None:
    workload = change(_read(tmp_path, _workload(_request(_lease()))))
    with pytest.raises(InvalidValueError) as error:
        write_lwf(workload, tmp_path / "out.lwf")
    assert problem in str(error.value)
    assert not (tmp_path / "out.lwf").exists()


def test_the_scenarios_of_haizea_1_1_are_read_and_survive_writing(
    tmp_path: Path, unpack: Callable[[Path, Path], None]
) -> None:
    """haizea F25, F26: the 23 workloads and 2 annotation files of the author's own tests."""
    data = os.environ.get("LEASE_SCHEDULER_DATA")
    if not data:
        pytest.skip("LEASE_SCHEDULER_DATA is not set: no scenario files to read")
    unpack(Path(data) / "haizea" / "scenario-lwf-1.1.tar.gz", tmp_path)
    workloads = sorted(tmp_path.rglob("*.lwf"))
    assert len(workloads) == 23
    for path in workloads:
        workload = read_lwf(path)
        assert workload.leases
        assert workload.site is not None
        write_lwf(workload, tmp_path / "again.xml")
        assert read_lwf(tmp_path / "again.xml") == workload
    assert [len(read_annotations(path).entries) for path in sorted(tmp_path.rglob("*.lwfa"))] == [2, 2]
    first, second = (lease.request for lease in read_lwf(next(tmp_path.rglob("preemption.lwf"))).leases)
    assert (first.kind, first.node_count, first.preemptible) == (LeaseKind.BEST_EFFORT, 1, True)
    assert (second.kind, second.node_count, second.start, second.duration) == (LeaseKind.RESERVATION, 4, 1_800, 1_800)


DATED = (
    _request(
        _lease('<start><exact time="2006-11-25T14:00:00"/></start><duration time="01:00:00"/>'), "2006-11-25 13:00:00"
    ),
    _request(
        _lease('<start/><duration time="600"/><deadline time="2006-11-25T17:00:00.00+02:00"/>', 'id="2" '
        'preemptible="true"'),
        "2006-11-25T13:30:00Z",
    ),
    _request(_lease('<start><exact time="+00:10:00"/></start><duration time="600"/>', 'id="3" preemptible="true"'),
             "01:00:00"),
)  # fmt: skip


def _dated(tmp_path: Path, *requests: str, zero: int | None = None) -> list[tuple[int, int | None, int | None]]:
    path = tmp_path / "dated.lwf"
    path.write_text(_workload(*requests))
    return [(each.request.submitted, each.request.start, each.request.deadline) for each in read_lwf(path, zero).leases]


def test_dates_count_from_the_first_arrival_that_is_a_date(tmp_path: Path) -> None:
    """haizea section 9.2: times or timestamps"""
    expected = [(0, 3_600, None), (1_800, 1_800, 7_200), (3_600, 4_200, None)]
    assert _dated(tmp_path, *DATED) == expected
    assert _dated(tmp_path, *reversed(DATED)) == expected, "whatever their order in the file"


def test_dates_count_from_the_start_of_the_simulation_where_there_is_one(tmp_path: Path) -> None:
    noon = 1_164_456_000  # 2006-11-25 12:00
    assert _dated(tmp_path, *DATED, zero=noon) == [(3_600, 7_200, None), (3_600, 4_200, None), (5_400, 5_400, 10_800)]


@pytest.mark.parametrize(
    ("arrival", "terms", "problem"),
    [
        ("0", '<start><exact time="2006-11-25 14:00:00"/></start><duration time="600"/>',
         r"<exact time>: .* is a date, and no <lease-request arrival> is one"),
        ("0", '<start/><duration time="600"/><deadline time="2006-11-25"/>', "<deadline time>: .* is a date, and no"),
        ("2006-11-25 14:00:00", '<start><exact time="2006-11-25 13:00:00"/></start><duration time="600"/>',
         "<exact time>: '2006-11-25 13:00:00' is before 2006-11-25 14:00:00, where the workload begins"),
        ("2006-11-31 14:00:00", '<start/><duration time="600"/>',
         "<lease-request arrival>: '2006-11-31 14:00:00' is neither a date and time"),
        ("2006-11-25 14:00:00", '<start/><duration time="2006-11-25 14:00:00"/>', "<duration time>: .* is not a time"),
    ],
)  # fmt: skip
def test_a_wrong_date_names_element_and_attribute(tmp_path: Path, arrival: str, terms: str, problem: str) -> None:
    with pytest.raises(InputFileError, match=problem) as raised:
        _dated(tmp_path, _request(_lease(terms), arrival))
    assert raised.value.line is not None


def test_a_dated_workload_is_written_with_times_from_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "dated.lwf").write_text(_workload(*DATED))
    workload = read_lwf(tmp_path / "dated.lwf")
    write_lwf(workload, tmp_path / "out.lwf")
    assert read_lwf(tmp_path / "out.lwf").leases == workload.leases
