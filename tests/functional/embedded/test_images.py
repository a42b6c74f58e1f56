"""Images cached ahead of boots, as users of the service see it (haizea F15, F60, 7.2)."""

from __future__ import annotations

from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import Rest, date, until

#: Transferring an image of 4,096 MB to a host takes 33 s, on a clock that is 20 times as fast as the real one.
_SETTINGS = """
[simulated_cloud]
hosts = 2
clock_speed = 20
clock_start = 1800000000
boot_time = 2
image_bandwidth = 1000
[image_transfer]
lease_preparation = imagetransfer
"""


def test_a_lease_is_seen_to_prepare(make: Make) -> None:
    service = make(configuration=_SETTINGS)
    service.start()
    rest = Rest(service)
    rest.register(2)
    start = rest.now() + 120
    servers = [{"name": "web", "image_id": "ubuntu", "networks": "none"}]
    terms = {"start_date": date(start), "end_date": date(start + 600), "resources": {"MEMORY_MB": 512, "DISK_GB": 1}}
    path = f"leases/{rest.lease('managed', 'reservation', count=2, servers=servers, **terms)['id']}"

    until(lambda: rest.get(path)["lease"]["state"] == "preparing")
    until(lambda: rest.get(path)["lease"]["state"] == "active")

    states = [entry["to"] for entry in rest.get(f"{path}/history")["history"]]
    assert states[-4:] == ["ready", "preparing", "ready", "active"], states
