"""Resource types of Haizea's files and the site in one line (haizea F1, F4)."""

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.resources import Resources
from lease_scheduler.simulation.formats.resource_names import class_of, parse_site, type_of


@pytest.mark.parametrize(("type_name", "resource_class"), [("CPU", "VCPU"), ("Memory", "MEMORY_MB"), ("GPU", "GPU")])
def test_names_are_translated_both_ways(type_name: str, resource_class: str) -> None:
    assert class_of(type_name) == resource_class
    assert type_of(resource_class) == type_name


@pytest.mark.parametrize("resource_class", ["CPU", "Memory", "two words", ""])
def test_classes_that_the_files_cannot_name_are_refused(resource_class: str) -> None:
    with pytest.raises(InvalidValueError, match="rename"):
        type_of(resource_class)


@pytest.mark.parametrize("text", ["4  CPU:100 Memory:1024", "4 CPU:100,Memory:1024", " 4 CPU:100, Memory:1024 "])
def test_a_site_in_one_line_is_parted_by_blanks_or_commas(text: str) -> None:
    """haizea F4"""
    assert parse_site(text) == Site.homogeneous(4, Resources({"VCPU": 100, "MEMORY_MB": 1024}))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "lacks CPU and Memory"),
        ("4", "lacks CPU and Memory"),
        ("4 CPU:100", "lacks Memory"),
        ("0 CPU:100 Memory:1", "number of nodes: must be a whole number of at least 1, not '0'"),
        ("x CPU:100 Memory:1", "number of nodes: must be a whole number of at least 1, not 'x'"),
        ("99999999 CPU:100 Memory:1", "at most 1000000"),
        ("4 CPU=100 Memory:1", "'CPU=100' is not <type>:<amount>"),
        ("4 CPU:1.5 Memory:1", "resources.CPU: must be a whole number of at least 0, not '1.5'"),
        ("4 CPU:1 Memory:1 CPU:2", "names CPU twice"),
    ],
)
def test_a_wrong_site_line_is_named(text: str, problem: str) -> None:
    with pytest.raises(InvalidValueError) as error:
        parse_site(text)
    assert problem in str(error.value)
