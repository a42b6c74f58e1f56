"""Front ends for a separate service: ids are the service's, so all front ends show the same ids (haizea F23)."""

from __future__ import annotations

import subprocess
import xmlrpc.client
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.functional.embedded.rest import Rest, date, until
from tests.functional.frontend.haizea import program
from tests.servers.base import OwnProcess, free_port, log_end, wait_until
from tests.servers.reservation import ReservationService

#: The result of a method can be of any type.
Front = Any
StartFront = Callable[..., Front]

_LEASE = (
    '<lease preemptible="{preemptible}"><nodes><node-set numnodes="2"><res type="CPU" amount="{cpu}"/>'
    '<res type="Memory" amount="1024"/><res type="Disk" amount="2000"/></node-set></nodes><start>{start}</start>'
    '<duration time="01:00:00"/><software><disk-image id="0c6b6d5a" size="10"/></software></lease>'
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReservationService]:
    found = ReservationService(tmp_path_factory.mktemp("service"), (), "[simulated_cloud]\nhosts = 4\n")
    try:
        found.start()
        Rest(found).register(4)
        yield found
    finally:
        found.kill()


@pytest.fixture
def start_front(service: ReservationService, tmp_path: Path) -> Iterator[StartFront]:
    """Starts a front end with further options and returns its XML-RPC client."""
    with ExitStack() as stack:

        def start(lines: str = "") -> Front:
            port = free_port()
            path = tmp_path / f"{port}.conf"
            path.write_text(f"[haizea]\nport = {port}\nauth_type = none\nendpoint_override = {service.url}/v1\n{lines}")
            log = tmp_path / f"{port}.log"
            front = OwnProcess("front", [program("lease-scheduler-haizea-front"), "--config-file", str(path)], log)
            stack.callback(front.kill)
            wait_until(lambda: "listening" in log_end(log) or not front.is_running(), 60)
            assert front.is_running(), log_end(log)
            return stack.enter_context(xmlrpc.client.ServerProxy(f"http://127.0.0.1:{port}", allow_none=True))

        yield start


def _lease(cpu: int = 150, start: str = "<now/>", preemptible: bool = False) -> str:
    return _LEASE.format(cpu=cpu, start=start, preemptible=preemptible)


def test_all_fronts_have_the_same_ids(service: ReservationService, start_front: StartFront) -> None:
    one, other = start_front(), start_front()
    rest = Rest(service)
    over_rest = rest.lease("by REST", "reservation", start_date=date(rest.now() + 9_000), duration=600, count=4)
    first = one.create_lease(_lease())
    second = other.create_lease(_lease(preemptible=True, start=""))
    assert other.get_lease(first) == one.get_lease(first)
    ids = [ElementTree.fromstring(text).get("id") for text in one.get_leases()]
    number = rest.get(f"leases/{over_rest['id']}")["lease"]["number"]
    assert {str(number), str(first), str(second)} <= set(ids)
    found = rest.get(f"leases?number={first}")["leases"]
    assert [lease["id"] for lease in found] == [
        each.get("value")
        for each in ElementTree.fromstring(one.get_lease(first)).iterfind("extra/attr")
        if each.get("name") == "status:uuid"
    ]
    # Fractions of a VCPU or of a GB are rounded up where fractions cannot be allocated.
    assert found[0]["reservations"][0]["resources"] == {"VCPU": 2, "MEMORY_MB": 1_024, "DISK_GB": 2}
    assert other.cancel_lease(first) == 0
    assert one.cancel_lease(second) == 0


def test_boot_images(service: ReservationService, start_front: StartFront) -> None:
    """If configured so, a lease's disk image becomes servers that the service boots."""
    front = start_front("boot_images = true\npreemption_mode = stop\n")
    lease_id = front.create_lease(_lease(preemptible=True, start=""))
    lease = Rest(service).get(f"leases?number={lease_id}")["leases"][0]
    assert [(each["image_id"], each["count"]) for each in lease["servers"]] == [("0c6b6d5a", 2)]
    assert lease["preemption_mode"] == "stop"
    front.cancel_lease(lease_id)


def test_leases_over_rest_that_xml_cannot_say(service: ReservationService, start_front: StartFront) -> None:
    """Leases that XML cannot express do not prevent listing the others."""
    front = start_front("all_projects = true\n")
    rest = Rest(service)
    start = date(rest.now() + 90_000)
    ids = []
    for extras in ({"a\ufffeb": "c\uffff"}, {"haizea:image": "i", "haizea:image-size": "many"}):
        body = {"name": "a", "start_date": start, "duration": 60, "nodes": [{"count": 1, "resources": {"VCPU": 1}}]}
        ids.append(rest.post("leases", {**body, "extras": extras})["lease"]["id"])
    whole = {"name": "w", "start_date": start, "duration": 60, "nodes": [{"count": 1, "exclusive": True}]}
    ids.append(rest.post("leases", whole)["lease"]["id"])
    listed = [ElementTree.fromstring(text) for text in front.get_leases()]
    shown = {each.get("value") for lease in listed for each in lease.iterfind("extra/attr")}
    assert set(ids) <= shown
    for lease_id in ids:
        rest.ask("DELETE", f"leases/{lease_id}")


def test_refused_by_the_service(start_front: StartFront) -> None:
    front = start_front()
    with pytest.raises(xmlrpc.client.Fault) as caught:
        front.create_lease(_lease(cpu=100_000))
    assert caught.value.faultCode == -32500
    assert "no host is large enough" in caught.value.faultString
    with pytest.raises(xmlrpc.client.Fault, match="'Net-in' is unknown to the service"):
        front.create_lease(_lease().replace('"Disk"', '"Net-in"'))
    with pytest.raises(xmlrpc.client.Fault, match="event: must be 0"):
        front.notify_event(1, 1, 7)
    for lease_id in (0, -1, "1", True, None, 1.5, 10**9):
        with pytest.raises(xmlrpc.client.Fault, match="lease_id: "):
            front.get_lease(lease_id)


def test_a_service_that_is_away(start_front: StartFront) -> None:
    front = start_front(f"endpoint_override = http://127.0.0.1:{free_port()}/v1\n")
    with pytest.raises(xmlrpc.client.Fault) as caught:
        front.get_leases()
    assert caught.value.faultCode == -32300
    assert front.test_func() == 0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "host = 0.0.0.0\nauth_type = none\nendpoint_override = http://127.0.0.1:9/v1\n",
            "haizea.host: 0.0.0.0 can be",
        ),
        ("", "haizea.auth_type: is needed"),
        ("auth_type = none\n", "haizea.endpoint_override: is needed"),
        ("auth_type = nobody-knows\n", "haizea.auth_type: "),
        ("cpu_units = 0\n", "cpu_units"),
    ],
)
def test_options_that_are_refused(lines: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "front.conf"
    path.write_text(f"[haizea]\n{lines}")
    command = [program("lease-scheduler-haizea-front"), "--config-file", str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    (line,) = [each for each in ended.stderr.splitlines() if " INFO " not in each]
    assert message in line


def test_another_address_if_it_is_allowed(start_front: StartFront) -> None:
    front = start_front("host = 0.0.0.0\nallow_remote = true\n")
    until(lambda: front.test_func() == 0)
