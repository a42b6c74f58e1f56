from __future__ import annotations

import uuid
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lease_scheduler.federation.asks import Ask, OnBehalfOf, lease_id_at
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources

_TERMS = LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({VCPU: 1})),), 100, 60)


def test_an_ask_that_is_passed_on_keeps_its_terms_but_has_an_id_of_its_own() -> None:
    ask = Ask(_TERMS, 200, ("north",), OnBehalfOf("physics", "portal"))
    passed = ask.passed_on("gateway", "south")

    assert passed == replace(ask, terms=replace(_TERMS, lease_id=lease_id_at("south", "1")), path=("north", "gateway"))
    assert str(uuid.UUID(passed.ask_id)) == passed.ask_id


def test_each_member_is_told_its_own_project_and_no_other() -> None:
    ask = Ask(_TERMS, 200, on_behalf_of=OnBehalfOf("physics", "ada"), projects={"north": "n", "south": "s"})

    for member, project_id in (("north", "n"), ("south", "s"), ("west", None)):
        passed = ask.passed_on("gateway", member)
        assert passed.on_behalf_of == OnBehalfOf("physics", "ada", project_id)
        assert passed.names_project is (project_id is not None)
        assert passed.projects == {}
    # What a peer has named is a project here, and means nothing at members.
    named = replace(ask, on_behalf_of=OnBehalfOf("physics", "ada", "here"), projects={})
    assert not named.passed_on("gateway", "north").names_project


def test_a_site_that_is_reached_by_two_ways_sees_two_asks() -> None:
    ask = Ask(_TERMS, 200)
    ways = [ask.passed_on("gateway", by).passed_on(by, "site").ask_id for by in ("a", "b")]

    assert ways[0] != ways[1]


@given(st.text(), st.text(), st.text(), st.text())
def test_ids_follow_from_the_member_and_the_ask(member: str, ask_id: str, other: str, other_id: str) -> None:
    assert lease_id_at(member, ask_id) == lease_id_at(member, ask_id)
    if (member, ask_id) != (other, other_id) and " " not in member + ask_id + other + other_id:
        assert lease_id_at(member, ask_id) != lease_id_at(other, other_id)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer_by": 99}, "answer_by: 99 is before the request was submitted, at 100"),
        ({"path": ("a", "b", "a")}, "path: a > b > a has a name twice"),
        ({"projects": {"north": "n"}}, "on_behalf_of: is needed with projects"),
    ],
)
def test_an_ask_that_cannot_be_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        replace(Ask(_TERMS, 200), **changes)  # type: ignore[arg-type]
