"""Images through the client of our driver, and as members see them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions.http import Forbidden, NotFound

from lease_scheduler.cloud.nova.api.images import GlanceImages
from tests.unit.rehearsal.cloud.site import Site

_PATCH = {"Content-Type": "application/openstack-images-v2.1-json-patch"}


def _glance(site: Site, user: str = "admin", project: str = "service") -> Any:
    return Adapter(site.session(user, project), service_type="image")


def test_images_are_found_by_owner_and_properties_and_handed_over(site: Site) -> None:
    images = GlanceImages(lambda: _glance(site))
    made = site.cloud.add_image("mine", owner=site.project, visibility="private", lease_id="L1")
    assert [each.image_id for each in images.find(site.project, lease_id="L1")] == [made.id]
    assert images.find(site.project, lease_id="L2") == []
    assert images.facts(made.id).private_to == frozenset({site.project})
    images.change(made.id, owner=site.service_project, lease_id="L2")
    assert images.find(site.project, lease_id="L1") == []
    images.delete(made.id)
    images.delete(made.id)
    assert not images.facts(made.id).exists


def test_visibility_decides_who_sees_an_image(site: Site) -> None:
    member = _glance(site, "mallory", "physics")
    private = site.cloud.add_image("theirs", owner=site.service_project, visibility="private")
    shared = site.cloud.add_image("ours", owner=site.service_project, visibility="shared")
    for image in (private, shared):
        with pytest.raises(NotFound):
            member.get(f"/v2/images/{image.id}")
    _glance(site).post(f"/v2/images/{shared.id}/members", json={"member": site.project})
    assert member.get(f"/v2/images/{shared.id}").json()["name"] == "ours"
    assert GlanceImages(lambda: _glance(site)).facts(shared.id).private_to == frozenset(
        {site.service_project, site.project}
    )


def test_members_change_only_what_is_theirs(site: Site) -> None:
    member = _glance(site, "mallory", "physics")
    made = member.post("/v2/images", json={"name": "mine", "lease_server": "s"}).json()
    assert (made["owner"], made["status"], made["lease_server"]) == (site.project, "queued", "s")
    with pytest.raises(Forbidden):
        member.delete(f"/v2/images/{site.image}")
    change = [{"op": "add", "path": "/owner", "value": site.service_project}]
    with pytest.raises(Forbidden):
        member.patch(f"/v2/images/{made['id']}", data=json.dumps(change), headers=_PATCH)


def test_a_protected_image_is_not_deleted(site: Site) -> None:
    made = site.cloud.add_image("kept", protected=True)
    with pytest.raises(Forbidden):
        _glance(site).delete(f"/v2/images/{made.id}")
