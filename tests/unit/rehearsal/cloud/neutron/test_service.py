"""Floating IPs through the client of our driver."""

from __future__ import annotations

import pytest
from keystoneauth1.adapter import Adapter

from lease_scheduler.cloud.driver import StepFailedError
from lease_scheduler.cloud.nova.api.addresses import Addresses
from tests.unit.rehearsal.cloud.site import Site


def test_an_address_is_created_once_and_removed(site: Site) -> None:
    network = site.cloud.add_network("public", "192.0.2.0/24", is_external=True)
    addresses = Addresses(lambda: Adapter(site.session(), service_type="network"))
    for _ in range(2):
        addresses.ensure("L1", "R1", network.id, "192.0.2.7", site.project)
    (made,) = site.cloud.neutron.floating_ips.values()
    assert (made.address, made.project_id) == ("192.0.2.7", site.project)
    assert {"blazar", "reservation:R1"} <= set(made.tags)
    with pytest.raises(StepFailedError, match="in use by project"):
        addresses.ensure("L2", "R2", network.id, "192.0.2.7", "another")
    addresses.remove("L1")
    assert site.cloud.neutron.floating_ips == {}


@pytest.mark.parametrize(
    ("address", "external", "told"),
    [("198.51.100.1", True, "not a valid IP"), ("192.0.2.7", False, "not a valid external network")],
)
def test_what_neutron_refuses_is_told(site: Site, address: str, external: bool, told: str) -> None:
    network = site.cloud.add_network("net", "192.0.2.0/24", is_external=external)
    addresses = Addresses(lambda: Adapter(site.session(), service_type="network"))
    with pytest.raises(StepFailedError, match=told):
        addresses.ensure("L1", "R1", network.id, address, site.project)
