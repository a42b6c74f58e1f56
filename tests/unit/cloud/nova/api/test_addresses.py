"""Floating IPs of leases, from the lab's stand-in for Neutron."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api.addresses import Addresses
from tests.servers.openstack.programs.serve_network import Network

_OURS = {"lease:lease-1", "blazar", "reservation:reservation-1"}


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing."""


@pytest.fixture
def adapter() -> Iterator[Adapter]:
    server = make_server("127.0.0.1", 0, Network(), handler_class=_Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Adapter(Session(auth=Token(f"http://127.0.0.1:{server.server_port}", "unused")), service_type="network")
    server.shutdown()
    server.server_close()
    thread.join()


def _all(adapter: Adapter) -> list[dict[str, object]]:
    found: list[dict[str, object]] = adapter.get("/v2.0/floatingips").json()["floatingips"]
    return found


def test_an_address_is_the_consumers_while_the_lease_lasts(adapter: Adapter) -> None:
    """Each call may be repeated, as after a crash; another lease's address stays."""
    addresses = Addresses(lambda: adapter)
    for _ in range(2):
        addresses.ensure("lease-1", "reservation-1", "public", "203.0.113.7", "physics")
    addresses.ensure("lease-2", "reservation-2", "public", "203.0.113.8", "biology")
    (found,) = [each for each in _all(adapter) if each["floating_ip_address"] == "203.0.113.7"]
    assert (found["project_id"], found["floating_network_id"]) == ("physics", "public")
    assert set(found["tags"]) == _OURS  # type: ignore[call-overload]
    for _ in range(2):
        addresses.remove("lease-1")
    assert [each["floating_ip_address"] for each in _all(adapter)] == ["203.0.113.8"]


def test_an_address_that_was_made_and_not_tagged_yet_is_found_again(adapter: Adapter) -> None:
    asked = {"floating_network_id": "public", "floating_ip_address": "203.0.113.7", "project_id": "physics"}
    adapter.post("/v2.0/floatingips", json={"floatingip": asked})
    Addresses(lambda: adapter).ensure("lease-1", "reservation-1", "public", "203.0.113.7", "physics")
    (found,) = _all(adapter)
    assert set(found["tags"]) == _OURS  # type: ignore[call-overload]


def test_somebody_elses_address_is_left_alone(adapter: Adapter) -> None:
    addresses = Addresses(lambda: adapter)
    addresses.ensure("lease-2", "reservation-2", "public", "203.0.113.7", "biology")
    with pytest.raises(StepFailedError, match="in use by project biology"):
        addresses.ensure("lease-1", "reservation-1", "public", "203.0.113.7", "physics")
    with pytest.raises(StepFailedError, match="is in use"):
        addresses.ensure("lease-1", "reservation-1", "another network", "203.0.113.7", "physics")
    addresses.remove("lease-1")
    assert len(_all(adapter)) == 1
