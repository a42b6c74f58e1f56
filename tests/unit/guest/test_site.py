from __future__ import annotations

import pytest
from openstack.exceptions import NotFoundException

from lease_scheduler.guest.errors import UnavailableError
from lease_scheduler.guest.nodes import Lease as GuestLease
from lease_scheduler.guest.nodes import LeaseState
from lease_scheduler.guest.site import SdkSite, lease_of
from lease_scheduler.model.states import FINAL_STATES
from lease_scheduler.model.states import LeaseState as SiteState
from lease_scheduler.sdk.resources import Lease

# openstacksdk announces its own changes.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


@pytest.mark.parametrize("state", list(SiteState))
def test_every_state_of_the_site_means_something_for_nodes(state: SiteState) -> None:
    found = lease_of(Lease(id="a", state=state.value, duration=60, end_date="2030-01-31T12:00:00")).state
    if state in FINAL_STATES:
        assert found is LeaseState.OVER
    elif state in (SiteState.ACTIVE, SiteState.MIGRATING):
        assert found is LeaseState.ACTIVE
    elif "suspend" in state.value or "resum" in state.value:
        assert found is LeaseState.LOST
    else:
        assert found is LeaseState.WAITING


def test_a_lease_leaves_when_it_is_to_be_preempted() -> None:
    shown = Lease(
        id="a", state="active", duration=3_600, end_date="1970-01-01T02:00:00", preempted_at="1970-01-01T01:00:00Z"
    )
    assert lease_of(shown) == GuestLease("a", LeaseState.ACTIVE, 3_600, 7_200, 3_600)


def test_only_a_lease_that_has_started_has_an_end() -> None:
    shown = Lease(id="a", state="scheduled", duration=3_600, end_date="1970-01-01T02:00:00")
    assert lease_of(shown) == GuestLease("a", LeaseState.WAITING, 3_600)


class _Answer:
    """An answer with a body, None for one that is not JSON."""

    def __init__(self, body: object) -> None:
        self._body = body

    def json(self) -> object:
        if self._body is None:
            raise ValueError("not JSON")
        return self._body


@pytest.mark.parametrize(
    ("body", "is_known"), [({"error_code": 404}, False), (None, True), ({"message": "no route"}, True)]
)
def test_only_the_service_says_that_it_does_not_know_a_lease(
    monkeypatch: pytest.MonkeyPatch, body: object, *, is_known: bool
) -> None:
    """A lease must not be forgotten because a proxy has no route to the site."""

    class Reservation:
        def leases(self, **query: object) -> list[Lease]:
            return []

        def get_lease(self, lease_id: str) -> Lease:
            error = NotFoundException("not found")
            error.response = _Answer(body)  # type: ignore[assignment]
            raise error

    site = SdkSite.__new__(SdkSite)
    monkeypatch.setattr(SdkSite, "_proxy", lambda self: Reservation())
    if is_known:
        with pytest.raises(UnavailableError):
            site.leases(["a"])
    else:
        assert site.leases(["a"]) == {}
