"""Which requests are planned at all (haizea F35)."""

from __future__ import annotations

import pytest

from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.plan.plan import Plan
from lease_scheduler.policy.admission.accept_all import AcceptAll
from lease_scheduler.policy.admission.base import AdmissionPolicy
from lease_scheduler.policy.admission.maximum_duration import MaximumDuration
from lease_scheduler.policy.admission.maximum_nodes import MaximumNodes
from lease_scheduler.policy.admission.minimum_notice import MinimumNotice
from lease_scheduler.policy.admission.no_reservations import NoReservations
from lease_scheduler.policy.admission.site_view import SiteView
from lease_scheduler.policy.base import PolicyOptions

_VIEW = SiteView(Plan(Site.homogeneous(1, Resources({VCPU: 1}))), 0)
NODES = (NodeSet(5, Resources({VCPU: 1})),)
RESERVATION = LeaseRequest("r", LeaseKind.RESERVATION, NODES, 0, duration=100, start=86_400)
BEST_EFFORT = LeaseRequest("b", LeaseKind.BEST_EFFORT, NODES, 0, duration=100)


@pytest.mark.parametrize(
    ("policy", "options", "reservation", "best_effort"),
    [
        (AcceptAll, {}, None, None),
        (NoReservations, {}, "kind", None),
        (MinimumNotice, {}, None, None),
        (MinimumNotice, {"admission_minimum_notice": "86401"}, "start", None),
        (MaximumDuration, {"admission_maximum_duration": "100"}, None, None),
        (MaximumDuration, {"admission_maximum_duration": "99"}, "duration", "duration"),
        (MaximumNodes, {"admission_maximum_nodes": "5"}, None, None),
        (MaximumNodes, {"admission_maximum_nodes": "4"}, "nodes", "nodes"),
    ],
)
def test_refusals_name_the_field(
    policy: type[AdmissionPolicy], options: dict[str, str], reservation: str | None, best_effort: str | None
) -> None:
    made = policy(PolicyOptions(options))
    for request, field in ((RESERVATION, reservation), (BEST_EFFORT, best_effort)):
        refusal = made.refusal(request, 0, _VIEW)
        assert (refusal.partition(":")[0] if refusal else None) == field


def test_a_refusal_says_how_much_notice_is_required() -> None:
    assert (
        MinimumNotice(PolicyOptions()).refusal(RESERVATION, 5)
        == "start: reservations must be made at least 1 d in advance"
    )
