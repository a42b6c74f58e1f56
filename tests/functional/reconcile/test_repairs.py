"""What happens to a lease when something of it is missing in the cloud, and what its project is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import pytest

from lease_scheduler.cloud.differences import Difference, Kind, Problem
from lease_scheduler.cloud.orders import AnyOrder, Order
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.service.upkeep.reconcile import as_document
from tests.functional.lease_document import lease_document
from tests.servers.base import wait_until

from .conftest import HOUR, LIMIT, Service

MakeService = Callable[..., Service]


def _told(service: Service, event_type: str) -> list[Mapping[str, Any]]:
    return [message.payload for _, message in service.store.waiting_messages() if message.event_type == event_type]


def _view(service: Service, lease_id: str) -> Mapping[str, Any]:
    found = service.reader.lease(lease_id)
    assert found is not None
    return found


def _reasons(service: Service, lease_id: str) -> list[str]:
    return [entry["reason"] for entry in service.reader.history(lease_id)]


def _is_at_rest(service: Service) -> bool:
    return not service.site.work.intents.open_intents()


def _active(service: Service, kind: str = "immediate", **said: Any) -> str:
    lease_id = service.ask(kind, 2, 30 * HOUR, **said)
    assert wait_until(service.is_in(lease_id, "active"), LIMIT)
    assert wait_until(lambda: _is_at_rest(service), LIMIT)
    return lease_id


def _lost(lease_id: str) -> Difference:
    """Return a difference: capacity that another server has taken."""
    detail = "host compute-1 lacks VCPU 8: others have taken it"
    return Difference(Kind.CONSUMER, Problem.MISSING, str(uuid4()), lease_id, detail, host="compute-1")


def test_lost_capacity_is_told_once_and_healed_when_it_is_back(make_service: MakeService) -> None:
    service = make_service()
    lease_id = _active(service)
    service.cloud.differing = [_lost(lease_id)]
    for _ in range(3):
        service.engine.reconciler.reconcile()
        assert wait_until(lambda: _is_at_rest(service), LIMIT)
    assert len(_told(service, "lease.degraded")) == 1
    assert (_view(service, lease_id)["state"], _view(service, lease_id)["degraded"]) == ("active", True)
    assert [each["missing_resources"] for each in _view(service, lease_id)["reservations"]] == [True]
    assert len([each for each in _reasons(service, lease_id) if each.startswith("it lacks capacity")]) == 1
    service.cloud.differing = []
    service.engine.reconciler.reconcile()
    assert len(_told(service, "lease.healed")) == 1
    assert not _view(service, lease_id)["degraded"]
    assert _reasons(service, lease_id)[-1] == "it has all its capacity again"


def test_a_lease_is_degraded_while_a_server_is_on_its_host_that_the_filter_should_have_refused(
    make_service: MakeService,
) -> None:
    """The health check names the cause. The project of the lease does not learn whose server it is."""
    service = make_service()
    lease_id = _active(service)
    detail = "of project physics, on host compute-1; LeaseFilter does not answer"
    found = Difference(Kind.SERVER, Problem.UNFILTERED, "s", lease_id, detail, host="compute-1", is_ours_to_mend=False)
    service.cloud.differing = [found]
    for _ in range(2):
        service.engine.reconciler.reconcile()
    assert _view(service, lease_id)["degraded"]
    assert len(_told(service, "lease.degraded")) == 1
    assert not any("physics" in reason for reason in _reasons(service, lease_id))
    assert "LeaseFilter does not answer" in str(service.site.problem())
    service.cloud.differing = []
    service.engine.reconciler.reconcile()
    assert not _view(service, lease_id)["degraded"]
    assert service.site.problem() is None


def test_lost_capacity_is_known_after_a_restart(make_service: MakeService) -> None:
    """An engine that takes over neither reports it again nor forgets to repair it."""
    first = make_service()
    lease_id = _active(first)
    lost = [_lost(lease_id)]
    first.cloud.differing = lost
    first.engine.reconciler.reconcile()
    first.engine.close()
    second = make_service(differing=lost)
    assert wait_until(lambda: _is_at_rest(second), LIMIT)
    second.engine.reconciler.reconcile()
    assert _view(second, lease_id)["degraded"]
    assert len(_told(second, "lease.degraded")) == 1
    assert wait_until(lambda: _is_at_rest(second), LIMIT)
    second.cloud.differing = []
    second.engine.reconciler.reconcile()
    assert not _view(second, lease_id)["degraded"]
    assert len(_told(second, "lease.healed")) == 1


def test_a_repair_that_ends_during_a_comparison_heals_nothing(make_service: MakeService) -> None:
    """It may have failed, and the comparison has not looked at the lease since."""
    held = True
    begun: list[str] = []

    def hold(order: AnyOrder, step: str) -> bool:
        if isinstance(order, Order) and order.operation.kind is OperationKind.ADJUST:
            begun.append(step)
            return held
        return False

    service = make_service(before_step=hold)
    lease_id = _active(service)
    service.cloud.differing = [_lost(lease_id)]
    service.engine.reconciler.reconcile()
    assert wait_until(lambda: bool(begun), LIMIT)
    assert not _is_at_rest(service)

    def let_it_end() -> None:
        nonlocal held
        held = False
        assert wait_until(lambda: _is_at_rest(service), LIMIT)

    service.cloud.while_looking = let_it_end
    service.engine.reconciler.reconcile()
    assert _is_at_rest(service)
    assert (_told(service, "lease.healed"), _view(service, lease_id)["degraded"]) == ([], True)
    service.cloud.while_looking = None
    service.engine.reconciler.reconcile()
    assert len(_told(service, "lease.degraded")) == 1


def test_a_lost_server_group_is_made_anew(make_service: MakeService) -> None:
    service = make_service()
    reservation = {**lease_document("", "immediate", 2)["reservations"][0], "affinity": False}
    service.cloud.groups = {reservation["id"]: "old"}
    lease_id = _active(service, reservations=[reservation])
    lost = Difference(Kind.SERVER_GROUP, Problem.MISSING, "old", lease_id)
    service.cloud.differing = [lost]
    # Nova creates no more groups for the project: the lease continues, and it is tried again.
    service.cloud.groups = None
    service.engine.reconciler.reconcile()
    assert service.site.work.documents[lease_id].server_groups == {"old"}
    service.cloud.groups = {reservation["id"]: "new"}
    assert service.engine.reconciler.reconcile().repaired["repaired"] == 1
    assert service.site.work.documents[lease_id].server_groups == {"new"}
    assert "its server group was deleted; it has a new one" in _reasons(service, lease_id)


def test_the_owner_is_told_once_of_a_lost_trust(make_service: MakeService) -> None:
    """No other user can give a new one."""
    service = make_service()
    trust_id = uuid4().hex
    lease_id = _active(service, trust_id=trust_id)
    lost = Difference(Kind.TRUST, Problem.MISSING, trust_id, lease_id, "only its owner", is_ours_to_mend=False)
    service.cloud.differing = [lost]
    for _ in range(3):
        assert not service.engine.reconciler.reconcile().repaired["repaired"]
    (payload,) = _told(service, "lease.event.trust_missing")
    assert (payload["lease_id"], payload["state"]) == (lease_id, "active")
    assert "trust" in payload["reason"]
    assert len([each for each in _reasons(service, lease_id) if "trust" in each]) == 1
    assert service.is_in(lease_id, "active")()


def test_a_server_that_an_operator_deleted_is_made_again(make_service: MakeService) -> None:
    """The driver reports only servers that their own project has not deleted."""
    begun: list[str] = []

    def note(order: AnyOrder, step: str) -> bool:
        if isinstance(order, Order) and order.operation.kind is OperationKind.ADJUST:
            begun.append(order.lease_id)
        return False

    service = make_service(before_step=note)
    lease_id = _active(service, "best-effort")
    service.cloud.differing = [Difference(Kind.SERVER, Problem.MISSING, f"{lease_id} 0", lease_id)]
    assert service.engine.reconciler.reconcile().repaired["repaired"] == 1
    assert wait_until(lambda: lease_id in begun, LIMIT)
    assert service.is_in(lease_id, "active")()


def test_servers_that_no_lease_explains_are_told_once(
    make_service: MakeService, caplog: pytest.LogCaptureFixture
) -> None:
    """Before a lease needs their host; nothing is done about them."""
    service = make_service()
    detail = "of project physics, on host compute-1"
    found = [Difference(Kind.SERVER, Problem.INTRUDING, name, None, detail, is_ours_to_mend=False) for name in "ab"]
    service.cloud.differing = found[:1]
    told = service.engine.reconciler.reconcile(dry_run=True)
    assert as_document(told)["differences"][0] | {"detail": ""} == {
        "kind": "server",
        "problem": "intruding",
        "name": "a",
        "lease_id": None,
        "detail": "",
        "repairable": False,
    }
    for _ in range(3):
        assert not any(service.engine.reconciler.reconcile().repaired.values())
    service.cloud.differing = found
    service.engine.reconciler.reconcile()
    said = [each.getMessage() for each in caplog.records if "belongs to no lease" in each.getMessage()]
    assert said == [f"server {name} belongs to no lease: {detail}" for name in "ab"]
