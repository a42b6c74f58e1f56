"""What real clients send at microversion 1.0 is accepted as Blazar accepts it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.api.conftest import Client
from tests.unit.api.fakes import Site

_DATES = {"start_date": "2030-02-01 00:00", "end_date": "2030-02-02 00:00"}

#: As ``add_node_reservation`` of python-chi writes it.
_OF_PYTHON_CHI = {
    "resource_type": "physical:host",
    "resource_properties": '["==", "$node_type", "compute_skylake"]',
    "hypervisor_properties": "",
    "min": "1",
    "max": "2",
}
#: As doni's ``physical_host`` writes it for a maintenance window.
_OF_DONI = {
    "resource_type": "physical:host",
    "min": 1,
    "max": 1,
    "hypervisor_properties": None,
    "resource_properties": '["==","$uid","6e3a6f9b"]',
}
_INSTANCES = {
    "resource_type": "virtual:instance",
    "vcpus": "2",
    "memory_mb": "2048",
    "disk_gb": "10",
    "amount": "3",
    "affinity": None,
    "resource_properties": '[">=", "$vcpus", 4]',
}


def _body(reservation: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "mine", **_DATES, "reservations": [reservation], "events": [], **more}


@pytest.mark.parametrize(
    ("reservation", "shown"),
    [
        (_OF_PYTHON_CHI, {"min": 1, "max": 2}),
        (_OF_DONI, {"hypervisor_properties": "", "resource_properties": _OF_DONI["resource_properties"]}),
        (_INSTANCES, {"vcpus": 2, "memory_mb": 2048, "disk_gb": 10, "amount": 3}),
        ({**_INSTANCES, "affinity": ""}, {"affinity": None}),
        ({**_OF_DONI, "before_end": None}, {"before_end": "default"}),
    ],
    ids=["python-chi", "doni", "numbers", "blazar-dashboard", "before_end"],
)
def test_what_known_clients_send_is_accepted(
    member: Client, site: Site, reservation: dict[str, Any], shown: dict[str, Any]
) -> None:
    answer = member.post("/v1/leases", _body(reservation))
    assert answer.status_code == 201, answer.json
    (found,) = answer.get_json()["lease"]["reservations"]
    assert {key: found[key] for key in shown} == shown


@pytest.mark.parametrize("reservation", [_OF_PYTHON_CHI, {**_INSTANCES, "amount": 3}], ids=["hosts", "instances"])
def test_a_reservation_that_is_sent_back_whole_is_accepted(
    member: Client, site: Site, reservation: dict[str, Any]
) -> None:
    """With one number changed; the rest is not a change, and what cannot be set is ignored."""
    lease = member.post("/v1/leases", _body(reservation)).get_json()["lease"]
    (whole,) = lease["reservations"]
    key = "max" if "max" in reservation else "amount"
    answer = member.put(f"/v1/leases/{lease['id']}", {"reservations": [{**whole, key: 5, "status": "active"}]})
    assert answer.status_code == 200, answer.json


@pytest.mark.parametrize("least", ["", "one", "1.5", "-1", "\uff11", "9" * 40])
def test_texts_that_are_no_numbers_are_refused(member: Client, site: Site, least: str) -> None:
    answer = member.post("/v1/leases", _body({**_OF_PYTHON_CHI, "min": least}))
    assert answer.status_code == 400


def test_newer_microversions_are_strict(member: Client, site: Site) -> None:
    assert member.at("1.2").post("/v1/leases", _body(_OF_PYTHON_CHI)).status_code == 400
    assert member.at("1.2").post("/v1/leases", _body(_OF_DONI)).status_code == 400
