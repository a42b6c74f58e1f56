from __future__ import annotations

import pytest

from lease_scheduler.model.documents import Document
from tests.unit.client.conftest import Openstack, Service
from tests.unit.client.test_commands import ID, LEASE

RESERVATION: Document = {
    "id": ID,
    "lease_id": ID,
    "flavor_id": ID,
    "resource_id": ID,
    "resource_type": "virtual:instance",
    "affinity": None,
    "resources": {"VCPU": 4},
    "traits": [],
    "created_at": "2030-01-01 00:00:00",
    "amount": 2,
}
LONG = LEASE | {
    "duration": 17_188,
    "reservations": [RESERVATION, RESERVATION],
    "reason": "nodes: no place for 4 nodes at that time; taken: " + ", ".join(f"compute-{n}" for n in range(40)),
}


@pytest.mark.parametrize("command", ["accept", "reject", "end", "ready"])
def test_a_lease_is_a_table_of_readable_width(service: Service, openstack: Openstack, command: str) -> None:
    service.will_answer("POST", f"/v1/leases/{ID}/action", {"lease": LONG})
    lines = openstack(command, ID).output.splitlines()
    assert max(map(len, lines)) <= 110
    text = " ".join(" ".join(line.strip("| ").split("| ")[-1] for line in lines).split())
    assert text.count("resources=VCPU=4") == 2
    assert "compute-39" in text
    assert "affinity" not in text, "what has no value takes no room"


def test_people_read_durations_in_words_and_programs_as_numbers(service: Service, openstack: Openstack) -> None:
    service.will_answer("GET", f"/v1/leases/{ID}", {"lease": LONG | {"breaches": [{"kind": "late", "seconds": 90}]}})
    table = openstack("show", ID).output
    assert "4 h 46 min" in table
    assert "seconds=1 min 30 s" in table
    assert "17188" not in table
    assert openstack("show", ID, "-f", "json").document["duration"] == 17_188
    assert openstack("show", ID, "-f", "value", "-c", "duration").output == "17188\n"
    service.will_answer("GET", "/v1/leases", {"leases": [LONG, LONG | {"duration": None}]})
    assert "| 4 h 46 min |" in openstack("list", "--long").output
    assert [row["Duration"] for row in openstack("list", "--long", "-f", "json").document] == [17_188, None]
    assert openstack("list", "--long", "--sort-column", "Reason").status == 0
