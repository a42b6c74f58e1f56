"""What is released of a consumer on one host, while Nova may move it."""

from __future__ import annotations

import uuid

import pytest

from lease_scheduler.cloud.nova.api.placement import Placement
from tests.functional.placement.site import Site

_MEMORY = 16


@pytest.fixture
def placement(site: Site) -> Placement:
    return Placement(site.adapter)


def _server(site: Site, *hosts: str, microversion: str = "1.38") -> str:
    """Have a server claim memory of some hosts, and return its id."""
    server_id = str(uuid.uuid4())
    body = {
        "allocations": {each: {"resources": {"MEMORY_MB": 1}} for each in hosts},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": None,
        **({"consumer_type": "INSTANCE"} if microversion == "1.38" else {}),
    }
    site.adapter.put(f"/allocations/{server_id}", json=body, microversion=microversion)
    return server_id


@pytest.mark.parametrize("microversion", ["1.28", "1.38"])
def test_what_a_server_has_of_other_hosts_stays(site: Site, placement: Placement, microversion: str) -> None:
    """Nova claims with a microversion that knows no types of consumers."""
    old, new = site.make_host(_MEMORY), site.make_host(_MEMORY)
    server_id = _server(site, old, new, microversion=microversion)
    assert placement.release_if(server_id, {old}, lambda: True)
    assert placement.held(server_id) == {new: {"MEMORY_MB": 1}}
    assert not placement.release_if(server_id, {old}, lambda: True)


def test_all_of_it_may_be_released(site: Site, placement: Placement) -> None:
    old = site.make_host(_MEMORY)
    server_id = _server(site, old)
    assert placement.release_if(server_id, {old}, lambda: True)
    assert placement.consumers_on(old) == {}


def test_what_is_needed_stays(site: Site, placement: Placement) -> None:
    old = site.make_host(_MEMORY)
    server_id = _server(site, old)
    assert not placement.release_if(server_id, {old}, lambda: False)
    assert site.used(old) == 1


def test_a_server_that_is_moved_during_the_check_keeps_what_it_has(site: Site, placement: Placement) -> None:
    old, new = site.make_host(_MEMORY), site.make_host(_MEMORY)
    server_id = _server(site, old)

    def move() -> bool:
        placement.hold(server_id, {old: {"MEMORY_MB": 1}, new: {"MEMORY_MB": 1}}, "p", "u", "INSTANCE")
        return True

    assert not placement.release_if(server_id, {old}, move)
    assert placement.held(server_id).keys() == {old, new}


def test_nothing_is_asked_of_a_consumer_that_is_gone(placement: Placement) -> None:
    def ask() -> bool:
        raise AssertionError

    assert not placement.release_if(str(uuid.uuid4()), {str(uuid.uuid4())}, ask)
