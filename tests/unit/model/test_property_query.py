"""Queries over host properties."""

from __future__ import annotations

import json

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.property_query import MAXIMUM_DEPTH, keys, matches, parse_query

HOST = {"gpu": "yes", "slots": "9", "ratio": "1.50", "vcpus": 16, "zone": "north"}
TRAITS = frozenset({"HW_CPU_X86_AVX512"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("  ", True),
        ("[]", True),
        ('["==", "$gpu", "yes"]', True),
        ('["=", "$gpu", "yes"]', True),
        ('["==", "$gpu", "no"]', False),
        ('["!=", "$gpu", "no"]', True),
        # A host without the property never matches.
        ('["!=", "$disk", "ssd"]', False),
        ('["not", ["==", "$disk", "ssd"]]', True),
        # Both sides are numbers: 9 is less than 10, unlike the texts.
        ('["<", "$slots", "10"]', True),
        ('[">=", "$slots", 9]', True),
        ('["==", "$ratio", 1.5]', True),
        ('["==", "$vcpus", "16"]', True),
        ('[">", "$vcpus", "16"]', False),
        # One side is not a number, so both are compared as texts.
        ('[">", "$zone", "9"]', True),
        ('["<=", "$zone", "north"]', True),
        # Blazar drops conditions of a nested "and"; here it keeps all of them.
        ('["and", ["==", "$gpu", "yes"], ["and", ["==", "$slots", "9"], ["==", "$zone", "south"]]]', False),
        ('["and", ["==", "$gpu", "yes"], ["and", ["==", "$slots", "9"], ["==", "$zone", "north"]]]', True),
        ('["or", ["==", "$gpu", "no"], ["==", "$zone", "north"]]', True),
        ('["or", ["==", "$gpu", "no"], ["==", "$zone", "south"]]', False),
        ('["in", "$zone", ["south", "north"]]', True),
        ('["in", "$zone", []]', False),
        ('["in", "$slots", [8, 9]]', True),
        ('["in", "$disk", ["ssd"]]', False),
        ('"$trait:HW_CPU_X86_AVX512"', True),
        ('"$trait:HW_GPU"', False),
        ('["and", "$trait:HW_CPU_X86_AVX512", ["not", "$trait:HW_GPU"]]', True),
        ('["==", "$trait:HW_GPU", "false"]', True),
        ('["==", "$trait:HW_GPU", false]', True),
    ],
)
def test_which_hosts_match(text: str, expected: bool) -> None:
    assert matches(parse_query(text), HOST, TRAITS) is expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("gpu=yes", "not valid JSON"),
        ("{}", "{} is not a condition"),
        ("3", "3 is not a condition"),
        ('"gpu"', "gpu is not a condition"),
        ("[1]", "begins with its operator, not with 1"),
        ('["~", "$gpu", "yes"]', "~ is not an operator"),
        ('["==", "gpu", "yes"]', "gpu is not a property"),
        ('["==", "$", "yes"]', "$ is not a property"),
        ('["==", 3, "yes"]', "3 is not a property"),
        ('["==", "$gpu"]', "not 1 operands"),
        ('["==", "$gpu", "yes", "no"]', "not 3 operands"),
        ('["==", "$gpu", null]', "a text or a number, not null"),
        ('["and"]', '"and" needs at least one condition'),
        ('["or"]', '"or" needs at least one condition'),
        ('["not"]', "exactly one condition, not 0"),
        ('["in", "$gpu", "yes"]', "an array of values"),
        ('["and", ["==", "$gpu", "yes"], 7]', "7 is not a condition"),
    ],
)
def test_what_is_no_query_says_why(text: str, problem: str) -> None:
    with pytest.raises(InvalidValueError) as raised:
        parse_query(text, field="reservations[0].resource_properties")
    assert raised.value.field == "reservations[0].resource_properties"
    assert raised.value.problem.startswith(f"Malformed requirements {text}: ")
    assert problem in raised.value.problem


@pytest.mark.parametrize(
    "text",
    [
        '["==", "$gpu", true]',
        '["or", ["==", "$gpu", "yes"]]',
        '["not", ["==", "$gpu", "yes"]]',
        '["in", "$gpu", ["yes"]]',
        '"$trait:HW_GPU"',
    ],
)
def test_what_blazar_does_not_have_is_refused_where_only_blazars_language_is_wanted(text: str) -> None:
    parse_query(text)
    with pytest.raises(InvalidValueError, match="Malformed requirements"):
        parse_query(text, extended=False)


def test_blazars_language_has_comparisons_and_and() -> None:
    query = parse_query('["and", ["==", "$gpu", "yes"], [">=", "$slots", "9"]]', extended=False)
    assert matches(query, HOST)


@pytest.mark.parametrize("depth", [MAXIMUM_DEPTH + 1, 100_000])
def test_depth_is_limited(depth: int) -> None:
    with pytest.raises(InvalidValueError, match="nested deeper"):
        parse_query('["not",' * (depth - 1) + '["==","$gpu","yes"]' + "]" * (depth - 1))


def test_the_deepest_that_is_taken() -> None:
    depth = MAXIMUM_DEPTH - 1
    assert matches(parse_query('["not",' * depth + '["==","$gpu","no"]' + "]" * depth), HOST)


def test_a_long_query_is_shortened_in_the_message() -> None:
    with pytest.raises(InvalidValueError) as raised:
        parse_query(json.dumps(["==", "gpu", "x" * 5_000]))
    assert len(str(raised.value)) < 300


def test_the_properties_that_a_query_looks_at() -> None:
    query = parse_query('["or", ["in", "$a", ["1"]], ["not", ["and", [">", "$b", 1], "$trait:C"]]]')
    assert keys(query) == {"a", "b"}
