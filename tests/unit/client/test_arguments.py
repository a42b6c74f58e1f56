from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.client import arguments


def test_a_node_set_has_resources_traits_and_constraints() -> None:
    text = "count=2,vcpus=4,memory_mb=8192,disk_gb=20,CUSTOM_GPU=1,trait=HW_A,trait=HW_B,exclusive=yes,per_host=3"
    assert arguments.node_set(text) == {
        "count": 2,
        "resources": {"VCPU": 4, "MEMORY_MB": 8192, "DISK_GB": 20, "CUSTOM_GPU": 1},
        "traits": ["HW_A", "HW_B"],
        "exclusive": True,
        "per_host": 3,
    }
    assert arguments.node_set("vcpus=1") == {"count": 1, "resources": {"VCPU": 1}}


def test_an_amount_may_be_a_range() -> None:
    assert arguments.node_set("count=2,vcpus=8-16,memory_mb=4096,CUSTOM_GPU=1-2") == {
        "count": 2,
        "resources": {"VCPU": 16, "MEMORY_MB": 4096, "CUSTOM_GPU": 2},
        "least_resources": {"VCPU": 8, "CUSTOM_GPU": 1},
    }
    for wrong in ("vcpus=8-", "vcpus=-8", "vcpus=a-b", "count=1-2,vcpus=1"):
        with pytest.raises(argparse.ArgumentTypeError):
            arguments.node_set(wrong)


def test_a_node_set_has_groups_of_nested_providers() -> None:
    text = "vcpus=1,group=VGPU:1@CUSTOM_A/CUSTOM_B,group=NET_OUT:5/NET_IN:6"
    assert arguments.node_set(text)["groups"] == [
        {"resources": {"VGPU": 1}, "traits": ["CUSTOM_A", "CUSTOM_B"]},
        {"resources": {"NET_OUT": 5, "NET_IN": 6}},
    ]
    for wrong in ("VGPU", "VGPU:0", "VGPU:1@", "VGPU:1@a", "VGPU:1/", "@CUSTOM_A"):
        with pytest.raises(argparse.ArgumentTypeError, match="is not a group; right is VGPU:1"):
            arguments.node_set(f"vcpus=1,group={wrong}")


def test_commas_and_equals_signs_inside_a_query_are_kept() -> None:
    query = '["and", ["==", "$gpu", "a=b"], [">=", "$vcpus", "4"]]'
    assert arguments.node_set(f"vcpus=1,properties={query},count=2") == {
        "count": 2,
        "resources": {"VCPU": 1},
        "properties": query,
    }
    assert arguments.reservation(f"resource_type=physical:host,min=1,max=2,resource_properties={query}") == {
        "resource_type": "physical:host",
        "min": 1,
        "max": 2,
        "hypervisor_properties": "",
        "resource_properties": query,
    }


def test_json_is_passed_on_unchanged() -> None:
    assert arguments.node_set('{"count": 1, "resources": {"VCPU": 1}}') == {"count": 1, "resources": {"VCPU": 1}}
    assert arguments.reservation('{"resource_type": "x"}') == {"resource_type": "x"}
    assert arguments.server('{"name": "web"}') == {"name": "web"}


def test_reservations_have_the_keys_that_blazar_requires() -> None:
    assert arguments.reservation("resource_type=virtual:instance,vcpus=1,memory_mb=1,disk_gb=0,amount=2") == {
        "resource_type": "virtual:instance",
        "vcpus": 1,
        "memory_mb": 1,
        "disk_gb": 0,
        "amount": 2,
        "affinity": None,
        "resource_properties": "",
    }
    addresses = arguments.reservation(
        'resource_type=virtual:floatingip,network_id=n,required_floatingips=["192.0.2.1"]'
    )
    assert addresses["required_floatingips"] == ["192.0.2.1"]
    assert arguments.changed_reservation("id=a-b,amount=3") == {"id": "a-b", "amount": 3}


def test_a_server_template_is_parsed(tmp_path: Path) -> None:
    script = tmp_path / "start.sh"
    script.write_text("#!/bin/sh\n")
    text = f"name=web,image=i,count=2,node_set=0,network=n,port=p,security_group=s,key_name=k,user_data={script}"
    assert arguments.server(text) == {
        "name": "web",
        "image_id": "i",
        "count": 2,
        "node_set": 0,
        "networks": [{"network_id": "n"}, {"port_id": "p"}],
        "security_groups": ["s"],
        "key_name": "k",
        "user_data": "IyEvYmluL3NoCg==",
    }
    assert arguments.server("name=db,image=i,volume_gb=20,volume_type=fast") == {
        "name": "db",
        "image_id": "i",
        "volume": {"size_gb": 20, "volume_type": "fast"},
    }
    assert arguments.server("name=db,volume=v") == {"name": "db", "volume": {"volume_id": "v"}}


def test_sort_keys_pairs_and_numbers_are_parsed() -> None:
    assert arguments.sorting("start") == ("start", "asc")
    assert arguments.sorting("end:desc") == ("end", "desc")
    assert arguments.key_value("a=b=c") == ("a", "b=c")
    assert arguments.positive("12") == 12


@pytest.mark.parametrize(
    ("parse", "text", "problem"),
    [
        (arguments.positive, "0", "0 is not a whole number of at least 1"),
        (arguments.positive, "-1", "-1 is not a whole number"),
        (arguments.positive, "9" * 5_000, "is not a whole number"),
        (arguments.key_value, "a", "a is not of the form key=value"),
        (arguments.key_value, "=a", "=a is not of the form key=value"),
        (arguments.node_set, "vcpus=two", "vcpus: two is not a whole number of at least 1"),
        (arguments.node_set, "color=red", "color is not known; right are count"),
        (arguments.node_set, "exclusive=perhaps", "exclusive: perhaps is neither true nor false"),
        (arguments.node_set, "{", "{ is not JSON"),
        (arguments.reservation, "min=1,min=2", "min is given twice"),
        (arguments.reservation, "required_floatingips={}", "required_floatingips: {} is not a JSON list"),
        (arguments.changed_reservation, "amount=3", "id=ID is missing"),
        (arguments.server, "image=i", "name=... is missing"),
        (arguments.server, "name=n", "image=... or volume=... is missing"),
        (arguments.server, "name=n,image=i,colour=red", "colour is not known"),
        (arguments.server, "name=n,image=i,user_data=/nonexistent/file", "/nonexistent/file cannot be read"),
        (arguments.sorting, "a:up", "the direction is asc or desc, not up"),
    ],
)
def test_wrong_arguments_are_explained(parse: Callable[[str], Any], text: str, problem: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError) as caught:
        parse(text)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
