"""Configuration files of the generators (haizea F87, F88, section 9.2)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.simulation.generators.annotations import (
    AnnotationRules,
    DeadlineStretchMode,
    ImageChoice,
    StartDelayMode,
)
from lease_scheduler.simulation.generators.configuration import GeneratorConfiguration, read_generator_configuration
from lease_scheduler.simulation.generators.distributions import (
    Constant,
    DiscreteChoice,
    Inverted,
    TruncatedPareto,
    Uniform,
)
from lease_scheduler.simulation.generators.reservations import ReservationRules

GENERATOR = """\
# Reservations
[general]
attributes: utilization=20, numnodes=medium
site: 144 CPU:100,Memory:1024

[numleases]
type: utilization
utilization: 20
last-request: 30:00:00:00
distribution: uniform
min: 0
max: 60
seed: 3

[nodes]
distribution: uniform
discrete: True
min: 25
max: 48
resources: CPU:100,Memory:1024   ; one host each

[duration]
distribution: uniform
min: 9000
max: 12600

[start-delay]
type: absolute
distribution: constant
value: 86400
"""

ANNOTATOR = """\
[general]
attributes: delta=late

[start-delay]
type = absolute
distribution = truncated-pareto
alpha = 1
scale = 1
invert = True
min = 0
max = 86400
seed = 276100674

[deadline-stretch]
type = original-slowdown
distribution = uniform
min = 0
max = 2

[user-rate]
distribution = constant
value = 1.0

[software]
distribution = truncated-pareto
discrete = True
values = a.img|4096 b.img|512
"""


def read(folder: Path, text: str) -> GeneratorConfiguration:
    path = folder / "g.conf"
    path.write_text(text)
    return read_generator_configuration(path)


def test_a_generator_configuration_is_read(tmp_path: Path) -> None:
    configuration = read(tmp_path, GENERATOR)
    node = Resources({VCPU: 100, MEMORY_MB: 1024})
    assert configuration.reservations == ReservationRules(
        name="g",
        site=Site.homogeneous(144, node),
        resources=node,
        nodes=DiscreteChoice(tuple(range(25, 49)), Uniform(0, 1)),
        duration=Uniform(9000, 12600),
        interval=Uniform(0, 60),
        span=2_592_000,
        utilisation=0.2,
        attributes={"utilization": "20", "numnodes": "medium"},
    )
    assert configuration.annotations == AnnotationRules(
        start_delay=Constant(86_400), attributes={"utilization": "20", "numnodes": "medium"}
    )
    assert configuration.seeds == {"numleases": 3}


def test_an_annotator_configuration_is_read(tmp_path: Path) -> None:
    configuration = read(tmp_path, ANNOTATOR)
    assert configuration == GeneratorConfiguration(
        None,
        AnnotationRules(
            start_delay=Inverted(TruncatedPareto(0, 86_400)),
            start_mode=StartDelayMode.ABSOLUTE,
            deadline_stretch=Uniform(0, 2),
            deadline_mode=DeadlineStretchMode.ORIGINAL_SLOWDOWN,
            user_rate=Constant(1.0),
            images=ImageChoice((DiskImage("a.img", 4096), DiskImage("b.img", 512)), TruncatedPareto(0, 1)),
            attributes={"delta": "late"},
        ),
        {"start-delay": 276_100_674},
    )


def test_generated_reservations_start_after_their_delay(tmp_path: Path) -> None:
    """haizea F87: arrival by the intervals, start a day later."""
    workload = read(tmp_path, GENERATOR).generate(1)
    requests = [lease.request for lease in workload.leases]
    assert 178 <= len(requests) <= 201
    assert {request.kind for request in requests} == {LeaseKind.RESERVATION}
    assert all(request.start == request.submitted + 86_400 for request in requests)
    assert requests[0].submitted >= 2_592_000 // len(requests)
    assert workload.attributes == {"utilization": "20", "numnodes": "medium"}
    assert workload == read(tmp_path, GENERATOR).generate(1)


def test_the_seed_of_a_section_goes_before_the_general_one(tmp_path: Path) -> None:
    configuration = read(tmp_path, GENERATOR)
    same = read(tmp_path, GENERATOR.replace("seed: 3", ""))
    gaps, others = ({lease.request.submitted for lease in one.generate(1).leases} for one in (configuration, same))
    assert gaps != others
    sizes, other_sizes = (
        [lease.request.node_count for lease in one.generate(1).leases] for one in (configuration, same)
    )
    assert sizes == other_sizes


def test_reservations_by_interval_with_deadlines_are_deadline_leases(tmp_path: Path) -> None:
    """haizea 9.2: numleases of type interval; a deadline makes deadline leases of the generated ones."""
    text = """\
[general]
site: 4 CPU:100,Memory:1024
[numleases]
type: interval
numleases: 5
distribution: constant
value: 600
[nodes]
distribution: constant
value: 2
resources: CPU:100,Memory:512
[duration]
distribution: constant
value: 99.5
[start-delay]
type: multiple-of-duration
distribution: constant
value: 2
[deadline-stretch]
type: multiple-of-duration
distribution: constant
value: 3
[software]
distribution: uniform
discrete: yes
values: only.img|100
"""
    workload = read(tmp_path, text).generate(8)
    assert [lease.request.submitted for lease in workload.leases] == [600, 1200, 1800, 2400, 3000]
    for lease in workload.leases:
        request = lease.request
        assert request.kind is LeaseKind.DEADLINE
        assert request.duration == 100
        assert request.start == request.submitted + 200
        assert request.deadline == request.submitted + 200 + 400
        assert request.software == DiskImage("only.img", 100)
        assert request.nodes[0].resources == Resources({VCPU: 100, MEMORY_MB: 512})


def test_the_site_may_be_a_file_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "site.xml").write_text(
        '<site><resource-types names="CPU Memory"/><nodes><node-set numnodes="3">'
        '<res type="CPU" amount="100"/><res type="Memory" amount="2048"/></node-set></nodes></site>'
    )
    configuration = read(tmp_path, GENERATOR.replace("144 CPU:100,Memory:1024", "file:site.xml"))
    assert configuration.reservations is not None
    assert configuration.reservations.site == Site.homogeneous(3, Resources({VCPU: 100, MEMORY_MB: 2048}))


def test_no_interval_law_means_the_mean_interval(tmp_path: Path) -> None:
    text = GENERATOR.replace("distribution: uniform\nmin: 0\nmax: 60\n", "", 1)
    rules = read(tmp_path, text).reservations
    assert rules is not None
    assert rules.interval == Constant(0)


def test_annotations_alone_generate_no_leases(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="numleases: the configuration has no such section"):
        read(tmp_path, ANNOTATOR).generate(1)


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("[general]", "[generel]", 2, r"unknown section \[generel\]; known are deadline-stretch, duration"),
        ("attributes:", "attribute:", 3, r"\[general\] attribute: is unknown; \[general\] has attributes, site"),
        ("utilization=20, ", "utilization, ", 3, "'utilization' is not name=value"),
        ("144 CPU:100,Memory:1024", "144 CPU:100", 4, "lacks Memory"),
        ("144 CPU:100,Memory:1024", "many CPU:100,Memory:1", 4, "must be a whole number of at least 1, not 'many'"),
        ("site: 144 CPU:100,Memory:1024", "", 2, r"\[general\] site: is missing; give it"),
        ("type: utilization", "type: share", 7, "must be utilization or interval, not 'share'"),
        ("type: utilization", "type: interval", 6, r"\[numleases\] numleases: is missing"),
        ("utilization: 20", "utilization: -3", 8, "must be a number of per cent above 0, not '-3'"),
        ("30:00:00:00", "a month", 9, "'a month' is not a time"),
        ("30:00:00:00", "0", 9, "must be at least 1 s"),
        ("distribution: uniform\nmin: 0", "distribution: even\nmin: 0", 10, "must be one of constant, uniform"),
        ("max: 60", "max: x", 12, "must be a number, not 'x'"),
        ("max: 60", "", 6, r"\[numleases\] max: is missing"),
        ("seed: 3", "seed: -3", 13, "must be a whole number of at least 0, not '-3'"),
        ("min: 25", "min: 0", 18, "the law must not go below 1, but its minimum is 0"),
        ("discrete: True", "discrete: Truth", 17, "must be true or false, not 'truth'"),
        ("resources: CPU:100,Memory:1024", "", 15, r"\[nodes\] resources: is missing"),
        ("resources: CPU:100", "resources: CPU:0", 8, "needs VCPU in the site and in the resources of a node"),
        ("min: 9000", "min: 0", 24, "the law must stay above 0 s"),
        ("[duration]\ndistribution: uniform\nmin: 9000\nmax: 12600", "", None, r"lacks the section \[duration\]"),
        ("type: absolute", "type: relative", 28, "must be one of absolute, multiple-of-duration, not 'relative'"),
        ("type: absolute", "", 27, r"\[start-delay\] type: is missing"),
        ("value: 86400", "value: -1", 27, "the law must not go below 0"),
        ("value: 86400", "value 86400", 30, "is neither"),
        ("# Reservations", "site: 4", 1, "an option stands before the first"),
        ("[duration]", "[nodes]", 22, "'nodes' is there twice"),
        ("max: 48", "min: 48", 19, "'min' is there twice"),
        ("[general]", "[DEFAULT]", 2, r"unknown section \[DEFAULT\]"),
    ],
)
def test_bad_generator_file_names_its_line(tmp_path: Path, old: str, new: str, line: int | None, problem: str) -> None:
    assert old in GENERATOR
    with pytest.raises(InputFileError, match=problem) as caught:
        read(tmp_path, GENERATOR.replace(old, new, 1))
    assert caught.value.line == line
    assert caught.value.path == str(tmp_path / "g.conf")


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("discrete = True", "discrete = no", 26, "images are chosen from the values"),
        ("discrete = True", "", 24, "images are chosen from the values"),
        ("a.img|4096", "a.img", 27, r"'a.img' is not <id>\|<size in MB>"),
        ("a.img|4096", "a.img|big", 27, "must be a whole number of at least 1, not 'big'"),
        ("a.img|4096 b.img|512", "", 27, "needs at least one image"),
        ("distribution = truncated-pareto\ndiscrete", "distribution = normal\ndiscrete", 25, "a choice is uniform or"),
        ("min = 0\nmax = 2", "min = 2\nmax = 2", 17, "needs a law with min below max"),
    ],
)
def test_bad_annotator_file_names_its_line(tmp_path: Path, old: str, new: str, line: int, problem: str) -> None:
    assert old in ANNOTATOR
    with pytest.raises(InputFileError, match=problem) as caught:
        read(tmp_path, ANNOTATOR.replace(old, new, 1))
    assert caught.value.line == line


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"nowhere\.conf: cannot be read"):
        read_generator_configuration(tmp_path / "nowhere.conf")


LINES = st.one_of(
    st.sampled_from([line for text in (GENERATOR, ANNOTATOR) for line in text.splitlines()]),
    st.text(alphabet=st.characters(codec="utf-8"), max_size=30),
    st.from_regex(r"\[[a-z\-]{0,12}\]?|[a-z]{0,8} ?[:=] ?[\-0-9a-z.|%$]{0,9}", fullmatch=True),
)


@given(st.lists(LINES, max_size=25))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_text_is_read_or_refused(tmp_path: Path, lines: list[str]) -> None:
    """A bad file never raises anything but an error that names the file."""
    path = tmp_path / "any.conf"
    path.write_text("\n".join(lines), newline="")
    outcome: GeneratorConfiguration | InputFileError
    try:
        outcome = read_generator_configuration(path)
    except InputFileError as error:
        outcome = error
    assert isinstance(outcome, GeneratorConfiguration) or outcome.path == str(path)
