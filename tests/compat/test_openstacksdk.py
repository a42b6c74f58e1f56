"""The generic proxy that openstacksdk has for the service type ``reservation``."""

from __future__ import annotations

from typing import Any

import openstack
import pytest

from tests.compat.shell import END, START, TOKEN, ReservationService, sent

# The SDK warns about its own parts, which have nothing to do with us.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


@pytest.fixture(params=["admin_token", "none"])
def reservation(request: pytest.FixtureRequest, reservation_service: ReservationService) -> Any:
    endpoint = f"{reservation_service.url}/v1"
    login: dict[str, Any] = {"auth_type": request.param}
    if request.param == "admin_token":
        login["auth"] = {"endpoint": endpoint, "token": TOKEN}
    connection = openstack.connect(
        load_yaml_config=False, load_envvars=False, reservation_endpoint_override=endpoint, **login
    )
    return connection.reservation


def test_a_lease_from_beginning_to_end(reservation: Any) -> None:
    asked = {"name": "sdk", "start_date": sent(START), "end_date": sent(END), "reservations": [], "events": []}
    answer = reservation.post("/leases", json=asked)
    assert answer.status_code == 201
    path = f"/leases/{answer.json()['lease']['id']}"
    assert reservation.get("/leases").json()["leases"] == [answer.json()["lease"]]
    assert reservation.put(path, json={"name": "other"}).json()["lease"]["name"] == "other"
    assert reservation.delete(path).status_code == 204
    assert reservation.get(path).status_code == 404


def test_microversions(reservation: Any) -> None:
    plain = reservation.get("/leases")
    assert plain.headers["OpenStack-API-Version"] == "reservation 1.0"
    assert "OpenStack-API-Version" in plain.headers["Vary"]
    newer = reservation.get("/leases", microversion="1.2")
    assert newer.headers["OpenStack-API-Version"] == "reservation 1.2"
    assert reservation.get("/leases", microversion="1.999").status_code == 406
