"""LWFA, and applying annotations to a workload (haizea F26)."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.simulation.formats.lwf_terms import SoftwareTerm, StartTerm
from lease_scheduler.simulation.formats.lwfa import (
    Annotations,
    LeaseAnnotation,
    annotate,
    read_annotations,
    write_annotations,
)
from lease_scheduler.simulation.workload import Workload, WorkloadLease

NODES = (NodeSet(1, Resources({"VCPU": 100})),)
BEST_EFFORT = WorkloadLease(LeaseRequest("1", LeaseKind.BEST_EFFORT, NODES, 100, 60, extras={"a": "1"}), 30)
RESERVATION = WorkloadLease(LeaseRequest("2", LeaseKind.RESERVATION, NODES, 200, 60, start=1_000))
DEADLINE = WorkloadLease(LeaseRequest("3", LeaseKind.DEADLINE, NODES, 300, 60, start=1_000, deadline=2_000))
IMMEDIATE = WorkloadLease(LeaseRequest("4", LeaseKind.IMMEDIATE, NODES, 400, 60))
WORKLOAD = Workload("w", (BEST_EFFORT, RESERVATION, DEADLINE, IMMEDIATE), None, {"x": "1"})


def _annotated(lease: WorkloadLease, **terms: object) -> LeaseRequest:
    entry = LeaseAnnotation(lease_id=lease.request.lease_id, **terms)  # type: ignore[arg-type]
    result = annotate(WORKLOAD, Annotations((entry,)))
    position = WORKLOAD.leases.index(lease)
    unchanged = [each for index, each in enumerate(WORKLOAD.leases) if index != position]
    assert [each for index, each in enumerate(result.leases) if index != position] == unchanged
    assert result.leases[position].real_duration == lease.real_duration
    return result.leases[position].request


@pytest.mark.parametrize(
    ("lease", "start", "deadline", "expected"),
    [
        (BEST_EFFORT, StartTerm(exact=50), None, (LeaseKind.RESERVATION, 150, None)),
        (BEST_EFFORT, StartTerm(exact=50), 500, (LeaseKind.DEADLINE, 150, 600)),
        (BEST_EFFORT, StartTerm(exact=50), 110, (LeaseKind.RESERVATION, 150, None)),
        (BEST_EFFORT, StartTerm(now=True), None, (LeaseKind.IMMEDIATE, None, None)),
        (BEST_EFFORT, None, 500, (LeaseKind.DEADLINE, 100, 600)),
        (RESERVATION, StartTerm(), None, (LeaseKind.BEST_EFFORT, None, None)),
        (RESERVATION, None, 900, (LeaseKind.DEADLINE, 1_000, 1_100)),
        (DEADLINE, StartTerm(exact=100), None, (LeaseKind.DEADLINE, 400, 2_000)),
        (DEADLINE, StartTerm(exact=1_640), None, (LeaseKind.RESERVATION, 1_940, None)),
        (DEADLINE, StartTerm(), None, (LeaseKind.DEADLINE, 300, 2_000)),
        (DEADLINE, StartTerm(now=True), None, (LeaseKind.IMMEDIATE, None, None)),
        (DEADLINE, None, 760, (LeaseKind.RESERVATION, 1_000, None)),
        (IMMEDIATE, StartTerm(exact=0), None, (LeaseKind.RESERVATION, 400, None)),
    ],
)
def test_times_count_from_the_submission_and_imply_the_kind_anew(
    lease: WorkloadLease,
    start: StartTerm | None,
    deadline: int | None,
    expected: tuple[LeaseKind, int | None, int | None],
) -> None:
    """haizea F26, section 4.20 (annotator)"""
    request = _annotated(lease, start=start, deadline=deadline)
    assert (request.kind, request.start, request.deadline) == expected


def test_software_and_extras_leave_the_terms_alone() -> None:
    image = DiskImage("a.img", 4_096)
    request = _annotated(BEST_EFFORT, software=SoftwareTerm(image), extras={"a": "2", "b": "3"})
    assert request.software == image
    assert request.extras == {"a": "2", "b": "3"}
    assert request.kind is LeaseKind.BEST_EFFORT


def test_annotations_without_ids_go_by_position_and_may_end_early() -> None:
    entries = tuple(LeaseAnnotation(extras={"n": str(number)}) for number in range(2))
    leases = annotate(WORKLOAD, Annotations(entries, {"y": "2"})).leases
    assert [lease.request.extras.get("n") for lease in leases] == ["0", "1", None, None]


def test_attributes_are_taken_over() -> None:
    assert annotate(WORKLOAD, Annotations((), {"x": "9", "y": "2"})).attributes == {"x": "9", "y": "2"}


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ((LeaseAnnotation("77", line=5),), "f.lwfa:5: no lease of workload 'w' has the id '77'"),
        (tuple(LeaseAnnotation(line=number) for number in range(1, 6)), "f.lwfa:5: one annotation more than workload"),
        ((LeaseAnnotation("2", deadline=10, line=3),), "f.lwfa:3: lease '2': deadline: must be at least"),
        (
            (LeaseAnnotation("4", deadline=10, line=3),),
            "f.lwfa:3: lease '4': deadline: deadline leases need a deadline",
        ),
    ],
)
def test_annotations_that_do_not_match_the_workload_name_their_line(
    entries: tuple[LeaseAnnotation, ...], problem: str
) -> None:
    with pytest.raises(InputFileError) as error:
        annotate(WORKLOAD, Annotations(entries, path="f.lwfa"))
    assert problem in str(error.value)


@pytest.mark.parametrize("ids", [("1", None), (None, "1"), ("1", "2", "1")])
def test_ids_are_all_or_none_and_unique(ids: tuple[str | None, ...]) -> None:
    with pytest.raises(InvalidValueError, match="^id: "):
        Annotations(tuple(LeaseAnnotation(lease_id) for lease_id in ids))


def _read(tmp_path: Path, body: str) -> Annotations:
    path = tmp_path / "in.lwfa"
    path.write_text(f"<lease-annotations>\n{body}\n</lease-annotations>")
    return read_annotations(path)


def test_a_file_of_annotations_is_read(tmp_path: Path) -> None:
    body = (
        '<attributes><attr name="rho" value="0.2"/></attributes>'
        '<lease-annotation id="1"><start><exact time="+10:00:00.00"/></start><deadline time="20:00:00"/>'
        '<software><disk-image id="a.img" size="10"/></software><extra><attr name="k" value="v"/></extra>'
        '</lease-annotation><lease-annotation id="2"><start/><software><none/></software></lease-annotation>'
        '<lease-annotation id="3"/>'
    )
    assert _read(tmp_path, body) == Annotations(
        (
            LeaseAnnotation("1", StartTerm(36_000), 72_000, SoftwareTerm(DiskImage("a.img", 10)), {"k": "v"}),
            LeaseAnnotation("2", StartTerm(), None, SoftwareTerm()),
            LeaseAnnotation("3"),
        ),
        {"rho": "0.2"},
    )


@pytest.mark.parametrize(
    ("body", "line", "problem"),
    [
        ('<lease-annotation id="1"/>\n<lease-annotation/>', 3, "either every annotation has an id or none"),
        ('<lease-annotation id="1"/>\n<lease-annotation id="1"/>', 3, "two annotations are for lease '1'"),
        ("<lease-annotation><duration/></lease-annotation>", 2, "<duration> is not allowed in <lease-annotation>"),
        ('<lease-annotation>\n<deadline time="later"/></lease-annotation>', 3, "'later' is not a time"),
        ("<attributes/>\n<attributes/>", 3, "a second <attributes>"),
        ('<attributes><attr name="a" value="1"/>\n<attr name="a" value="1"/></attributes>', 3, "'a' twice"),
        ("<lease/>", 2, "<lease> is not allowed here"),
    ],
)
def test_a_bad_file_names_line_and_problem(tmp_path: Path, body: str, line: int, problem: str) -> None:
    with pytest.raises(InputFileError) as error:
        _read(tmp_path, body)
    assert (error.value.path, error.value.line) == (str(tmp_path / "in.lwfa"), line)
    assert problem in error.value.problem


_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Co", "Cn")), max_size=6)
_SECONDS = st.integers(0, 10**9)
_STARTS = st.builds(StartTerm, _SECONDS) | st.just(StartTerm(now=True)) | st.just(StartTerm())
_SOFTWARE = st.builds(SoftwareTerm, st.none() | st.builds(DiskImage, _TEXT, _SECONDS))


@st.composite
def _annotations(draw: st.DrawFn) -> Annotations:
    ids: list[str | None] = [*draw(st.lists(_TEXT, unique=True, max_size=4))]
    if draw(st.booleans()):
        ids = [None] * len(ids)
    extras = st.dictionaries(_TEXT, _TEXT, max_size=2)
    parts = st.tuples(st.none() | _STARTS, st.none() | _SECONDS, st.none() | _SOFTWARE, extras)
    return Annotations(tuple(LeaseAnnotation(lease_id, *draw(parts)) for lease_id in ids), draw(extras))


@given(annotations=_annotations())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_again(tmp_path: Path, annotations: Annotations) -> None:
    path = tmp_path / "out.lwfa"
    write_annotations(annotations, path)
    assert read_annotations(path) == annotations
