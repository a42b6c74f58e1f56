"""Leases that peers request for projects: what the engine allows, and for whom they count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.conf import enforcement
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.service.requests.budgets import BudgetReport
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.enforcement.base import FilterOptions
from lease_scheduler.service.requests.enforcement.budget import BudgetFilter
from tests.functional.service.site import HOUR, Service

PEER, OTHER_PEER = "north", "south"
#: What the API tells of the peer: an administrator of the site could have given it any role.
CONTEXT = {"user_id": "gateway", "project_id": "gateways", "is_admin": True, "origin": PEER}


def _filter() -> BudgetFilter:
    values = {option.dest: option.default for option in enforcement.OPTIONS}
    return BudgetFilter(FilterOptions(values | {"budget_node_hours": 3, "budget_period": "year"}, lambda: None))


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service that gives each project three node-hours a year, and knows a peer that may lease for one project."""
    found = Service(tmp_path, "constant", {"pricing_rate": "1"}, filters=[_filter()])
    found.peers.set({}, PEER, {"projects": ["physics"]})
    yield found
    found.close()


def _document(service: Service, project_id: str = "physics", origin: str | None = PEER, **said: Any) -> dict[str, Any]:
    behalf = {"project": "named by the peer", "project_id": project_id}
    return service.document(project_id=project_id, origin=origin, on_behalf_of=behalf, **said)


def _left(service: Service, project_id: str) -> float:
    (line,) = BudgetReport(service.site, Enforcement([_filter()])).show({}, project_id)["budget"]
    left: float = line["left"]
    return left


@pytest.mark.parametrize(("origin", "project_id"), [(PEER, "biology"), (OTHER_PEER, "physics"), (PEER, "PHYSICS")])
def test_other_projects_are_refused_and_nothing_is_held(service: Service, origin: str, project_id: str) -> None:
    document = _document(service, project_id, origin)
    for ask in (service.leases.create, service.leases.offer, service.quotes.quote, service.negotiations.offer):
        with pytest.raises(RefusedError, match=f"{origin} may not request leases for project {project_id};") as refused:
            ask(CONTEXT, document)
        assert (refused.value.code, refused.value.reason) == (403, RefusalReason.PROJECT)
        assert refused.value.field == "on_behalf_of.project_id"
    with pytest.raises(RefusedError, match="may not request leases"):
        service.peers.check_project(CONTEXT, origin, project_id)
    assert service.site.work.leases == {}
    assert service.reader.lease(document["id"], deleted=True) is None


def test_what_the_operator_allows_holds_until_it_is_withdrawn(service: Service) -> None:
    """Leases that are there stay, and stay the peer's."""
    service.restart()
    assert service.peers.check_project(CONTEXT, PEER, "physics") == {}
    made = service.leases.create(CONTEXT, _document(service))["lease_id"]
    service.peers.set({}, PEER, {"projects": "all"})
    service.restart()
    (shown,) = service.peers.list({})["peers"]
    assert (shown["limits"]["projects"], shown["leases"], shown["nodes"]) == ("all", 1, 1)
    service.leases.create(CONTEXT, _document(service, "biology"))
    service.peers.set({}, PEER, {})
    with pytest.raises(RefusedError, match="may not request leases for project physics"):
        service.leases.create(CONTEXT, _document(service))
    end = service.view(made)["end"]
    service.leases.update(CONTEXT, made, {"end": end - HOUR // 2})
    service.leases.end(CONTEXT, made)
    assert service.view(made)["state"] == "cancelled"


def test_a_document_that_contradicts_itself_is_refused(service: Service) -> None:
    for said in ({"project_id": "biology"}, {"origin": None}):
        with pytest.raises(RefusedError, match="must be the project of the lease"):
            service.leases.create(CONTEXT, _document(service) | said)
    assert service.site.work.leases == {}


def test_it_counts_for_its_project_once_and_for_the_limits_of_the_peer(service: Service) -> None:
    service.peers.set({}, PEER, {"projects": ["physics"], "max_nodes": 2})
    made = service.leases.create(CONTEXT, _document(service))["lease_id"]
    assert (_left(service, "physics"), _left(service, "gateways")) == (2.0, 3.0)
    local = service.leases.create({}, service.document(project_id="physics"))["lease_id"]
    assert _left(service, "physics") == 1.0
    for lease_id in (made, local):
        assert (service.view(lease_id)["project_id"], service.site.work.leases[lease_id].request.user) == (
            "physics",
            "physics",
        )
    (shown,) = service.peers.list({})["peers"]
    assert (shown["leases"], shown["nodes"]) == (1, 1)
    start = service.clock.now() + 10 * HOUR
    too_long = _document(service, start=start, end=start + 2 * HOUR)
    with pytest.raises(RefusedError, match="the project has 1 of 3 node_hours left"):
        service.leases.create(CONTEXT, too_long)
    service.peers.set({}, PEER, {"projects": ["physics"], "max_nodes": 0})
    with pytest.raises(RefusedError, match="would have 2 nodes, and may have 0"):
        service.leases.create(CONTEXT, _document(service))
    # The tenant is no peer, and not limited as one.
    service.leases.create({}, service.document(project_id="physics", start=start, end=start + HOUR))


def test_a_hold_is_the_projects_offer_and_the_peer_accepts_it(service: Service) -> None:
    offer = service.leases.offer(CONTEXT, _document(service))["lease_id"]
    assert _left(service, "physics") == 2.0
    (shown,) = service.peers.list({})["peers"]
    assert shown["offers"] == 1
    service.offers.accept(CONTEXT, offer)
    assert (service.view(offer)["project_id"], service.view(offer)["origin"]) == ("physics", PEER)


@pytest.mark.parametrize(("origin", "by"), [(PEER, "its project"), (OTHER_PEER, "an administrator")])
def test_a_peer_that_ends_a_lease_is_not_the_provider(service: Service, origin: str, by: str) -> None:
    """An administrator who ends the lease of another project breaks what was promised; its peer does not."""
    made = service.leases.create(CONTEXT, _document(service))["lease_id"]
    service.leases.end({**CONTEXT, "origin": origin}, made)
    assert service.view(made)["reason"] == f"ended by {by}"
    other = service.leases.create(CONTEXT, _document(service))["lease_id"]
    service.leases.delete({**CONTEXT, "origin": origin}, other, "deleted by its project")
    assert service.view(other)["reason"] == f"deleted by {by}"


def test_events_of_its_leases_are_found_by_origin_and_not_by_project(service: Service) -> None:
    made = service.leases.create(CONTEXT, _document(service))["lease_id"]
    local = service.leases.create({}, service.document(project_id="physics"))["lease_id"]

    def told(project_id: str, origin: str | None = None) -> set[str]:
        return {each.transition.lease_id for each in service.reader.events(0, 100, project_id, origin).events}

    assert told("gateways", PEER) == {made}
    assert told("gateways") == told("gateways", OTHER_PEER) == set()
    assert told("physics") == {made, local}
