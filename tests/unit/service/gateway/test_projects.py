"""Projects at members to which leases belong."""

from __future__ import annotations

import pytest

from lease_scheduler.federation.asks import Ask, OnBehalfOf
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.service.gateway.projects import Projects, ProjectsMode

_MEMBERS = ("north", "south")
_TABLES = {"north": {"red": "rouge", "blue": "bleu"}, "south": {"red": "rosso"}, "gone": {"red": "rot"}}
_MAPPED = Projects(ProjectsMode.MAPPED, _TABLES)


@pytest.mark.parametrize(
    ("projects", "project_id", "expected"),
    [
        (Projects(), "red", {}),
        (Projects(ProjectsMode.OWN), "red", {"north": "red", "south": "red"}),
        (_MAPPED, "red", {"north": "rouge", "south": "rosso"}),
        (_MAPPED, "blue", {"north": "bleu"}),
        (_MAPPED, "rouge", {}),
    ],
)
def test_a_member_without_a_project_is_refused(projects: Projects, project_id: str, expected: dict[str, str]) -> None:
    assert projects.at_members(project_id, _MEMBERS) == expected
    terms = LeaseRequest("1", LeaseKind.BEST_EFFORT, (NodeSet(1, Resources({VCPU: 1})),), 0, 60)
    ask = Ask(terms, 60, on_behalf_of=OnBehalfOf(project_id), projects=expected)
    refused = {each for each in _MEMBERS if projects.refusal(ask, each) is not None}
    assert refused == (set() if projects.mode is ProjectsMode.GATEWAY else set(_MEMBERS) - expected.keys())
    for each in refused:
        refusal = projects.refusal(ask, each)
        assert refusal is not None
        assert (refusal.member, refusal.reason) == (each, RefusalReason.PROJECT)
