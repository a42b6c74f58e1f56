from __future__ import annotations

import pytest
from novaclient.exceptions import BadRequest, Conflict, NotFound

from tests.unit.rehearsal.cloud.site import LONG, Site


def test_a_private_flavor_is_for_its_projects(site: Site) -> None:
    nova, member = site.nova(), site.nova("mallory")
    flavor = nova.flavors.create("mine", 512, 1, 1, flavorid="mine", is_public=False)
    with pytest.raises(NotFound):
        member.flavors.get("mine")
    with pytest.raises(BadRequest):
        member.servers.create("job", site.image, "mine", nics="none")
    nova.flavor_access.add_tenant_access(flavor, site.project)
    with pytest.raises(Conflict):
        nova.flavor_access.add_tenant_access(flavor, site.project)
    assert [each.tenant_id for each in nova.flavor_access.list(flavor=flavor)] == [site.project]
    assert "mine" in {each.id for each in member.flavors.list()}
    member.servers.create("job", site.image, "mine", nics="none")
    nova.flavor_access.remove_tenant_access(flavor, site.project)
    with pytest.raises(NotFound):
        member.flavors.get("mine")


def test_a_server_keeps_a_copy_of_its_flavor(site: Site) -> None:
    nova = site.nova()
    flavor = nova.flavors.create("spot", 512, 1, 1, flavorid="spot")
    flavor.set_keys({"lease:preemptible": "true", "other": "x"})
    flavor.unset_keys(["other"])
    server = nova.servers.create("job", site.image, "spot", nics="none")
    site.clock.run(LONG)
    nova.flavors.delete("spot")
    found = nova.servers.get(server.id).flavor
    assert (found["original_name"], found["extra_specs"]) == ("spot", {"lease:preemptible": "true"})


def test_names_and_ids_are_taken_once(site: Site) -> None:
    nova = site.nova()
    for name, flavor_id in (("small", "other"), ("other", "small")):
        with pytest.raises(Conflict):
            nova.flavors.create(name, 512, 1, 1, flavorid=flavor_id)
