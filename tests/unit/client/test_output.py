from __future__ import annotations

import pytest

from lease_scheduler.model.documents import Document
from lease_scheduler.model.states import LeaseState
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
    assert max(map(len, lines)) <= 80
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
    assert [row["ID"] for row in openstack("list", "-f", "json").document] == [ID, ID]
    assert [row["Duration"] for row in openstack("list", "--long", "-f", "json").document] == [17_188, None]
    assert openstack("list", "--long", "--sort-column", "Reason").status == 0


#: A lease with all that the API shows of one, and the longest words that there are.
WHOLE: Document = LEASE | {
    "name": "Nightly builds of the whole distribution",
    "state": "suspended-scheduled",
    "status": "ACTIVE",
    "start_date": "2030-01-01T08:00:00.000000",
    "end_date": "2030-01-01T18:00:30.000000",
    "started_at": "2030-01-01T08:00:00Z",
    "created_at": "2029-12-01 10:11:12",
    "project_id": "b3a1c9f0e7d24e5f8a6b1c2d3e4f5a6b",
    "deadline": None,
    "degraded": False,
    "trust_id": "b3a1c9f0e7d24e5f8a6b1c2d3e4f5a6c",
    "version": 7,
    "duration": 36_000,
    "reservations": [RESERVATION],
    "events": [{"id": ID, "event_type": "start_lease", "time": "2030-01-01T08:00:00.000000"}],
    "holdings": [{"start": "2030-01-01T08:00:00Z", "run_start": None, "closing": "end", "hosts": ["17", "4"]}],
}
HOSTS = [{"hypervisor_hostname": name, "reservation_id": ID} for name in ("compute-4", "compute-17", "compute-4")]


def _width(text: str) -> int:
    return max(map(len, text.splitlines()))


@pytest.mark.parametrize("command", ["show", "create"])
def test_people_see_a_lease_on_a_terminal_of_80_columns(service: Service, openstack: Openstack, command: str) -> None:
    """No fractions of seconds, nothing that only operators need, and hosts by their names."""
    service.will_answer("GET", f"/v1/leases/{ID}", {"lease": WHOLE})
    service.will_answer("POST", "/v1/leases", {"lease": WHOLE}, status=201)
    service.will_answer("GET", f"/v1/leases/{ID}/hosts", {"hosts": HOSTS})
    words = [ID] if command == "show" else ["night", "--nodes", "vcpus=1", "--start", "now", "--duration", "1h"]
    outcome = openstack(command, *words)
    assert outcome.status == 0, outcome.errors
    assert _width(outcome.output) <= 80
    assert "compute-17, compute-4" in outcome.output
    assert "2030-01-01 08:00 " in outcome.output
    assert "2030-01-01 18:00:30 " in outcome.output
    assert ".000000" not in outcome.output
    for internal in ("holdings", "trust_id", "events", "version", "deadline", "resource_id", "created_at"):
        assert internal not in outcome.output
    long = openstack(command, *words, "--long").output
    assert all(internal in long for internal in ("holdings", "trust_id", "events", "version", "deadline", "created_at"))
    assert openstack(command, *words, "-f", "json").document == WHOLE


def test_people_see_a_list_on_a_terminal_of_80_columns(service: Service, openstack: Openstack) -> None:
    service.will_answer("GET", "/v1/leases", {"leases": [WHOLE, LEASE]})
    table = openstack("list").output
    assert _width(table) <= 80
    assert ".000000" not in table
    assert "2030-01-01 08:00 " in table
    document = openstack("list", "-f", "json").document
    assert document[0]["Start Date"] == "2030-01-01T08:00:00.000000"
    assert openstack("list", "-f", "value", "-c", "ID").output == f"{ID}\n{ID}\n"


def test_a_list_fits_into_80_columns_in_every_state(service: Service, openstack: Openstack) -> None:
    service.will_answer("GET", "/v1/leases", {"leases": [WHOLE | {"state": state.value} for state in LeaseState]})
    table = openstack("list").output
    assert _width(table) <= 80
    words = "".join(line.split("|")[3].strip() for line in table.splitlines() if line.startswith("|"))
    assert all(state.value in words for state in LeaseState), "nothing is cut off"
