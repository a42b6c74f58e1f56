"""Preconditions of measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from lease_scheduler.calibration import premises
from lease_scheduler.model.errors import InvalidValueError

_FLAVOR = SimpleNamespace(id="f1", name="small", vcpus=2, ram=512)


def _listing(found: Sequence[Any]) -> Any:
    return SimpleNamespace(list=lambda **query: list(found))


def _aggregate(name: str, hosts: Sequence[str], **metadata: str) -> Any:
    named = {key.replace("__", ":"): value for key, value in metadata.items()}
    return SimpleNamespace(name=name, hosts=list(hosts), metadata=named)


def _nova(
    aggregates: Sequence[Any] = (),
    servers: Mapping[str, Sequence[Any]] | None = None,
    limits: Mapping[str, int] | None = None,
) -> Any:
    def find(search_opts: Mapping[str, Any], limit: int) -> list[Any]:
        return list((servers or {}).get(search_opts.get("host", ""), ()))

    services = [("a", "up", "enabled"), ("b", "up", "enabled"), ("c", "down", "enabled"), ("d", "up", "disabled")]
    flavors = [_FLAVOR, SimpleNamespace(id="f2", name="small"), SimpleNamespace(id="f3", name="large")]
    absolute = [SimpleNamespace(name=name, value=value) for name, value in (limits or {}).items()]
    return SimpleNamespace(
        aggregates=_listing(aggregates),
        servers=SimpleNamespace(list=find),
        services=_listing([SimpleNamespace(host=host, state=state, status=status) for host, state, status in services]),
        hypervisors=_listing(
            [SimpleNamespace(hypervisor_hostname=f"{host}.example", service={"host": host}) for host in "abcd"]
        ),
        limits=SimpleNamespace(get=lambda: SimpleNamespace(absolute=absolute)),
        client=SimpleNamespace(get=lambda url: (None, {"flavors": flavors})),
        flavors=SimpleNamespace(resource_class=lambda manager, each, loaded: each),
    )


def test_hosts_are_found_by_either_name_and_by_aggregate() -> None:
    """Each once, in order."""
    nova = _nova([_aggregate("slow", ["b", "a"])])
    assert premises.services(nova, ["b.example", "a", "b"], None) == ["b", "a"]
    assert premises.services(nova, ["b.example"], "slow") == ["b", "a"]


@pytest.mark.parametrize(
    ("hosts", "aggregate", "field", "problem"),
    [
        (["a", "e"], None, "--hosts", "no compute host 'e'"),
        (["c"], None, "--hosts", "down"),
        (["d"], None, "--hosts", "disabled"),
        ([], "none", "--aggregate", "no host aggregate"),
        ([], "empty", "--aggregate", "no host aggregate"),
    ],
)
def test_unusable_hosts_are_refused(hosts: list[str], aggregate: str | None, field: str, problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem) as refused:
        premises.services(_nova([_aggregate("empty", [])]), hosts, aggregate)
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("aggregates", "problem"),
    [
        ([_aggregate("lease-1", ["a", "b"], lease__id="1")], "b has a lease"),
        ([_aggregate("1", ["b"], blazar__owner="physics")], "b has a lease"),
        ([_aggregate("freepool", ["a", "b"], lease__next__0="1795305600 b a")], "a lease begins soon on b"),
    ],
)
def test_hosts_of_leases_are_refused(aggregates: Sequence[Any], problem: str) -> None:
    """Now or soon; being in the pool alone does not exclude a host."""
    with pytest.raises(InvalidValueError, match=problem):
        premises.check_free(_nova(aggregates), ["b"])
    premises.check_free(_nova([_aggregate("freepool", ["a", "b"], lease__pool="true"), aggregates[0]]), ["c"])


def test_hosts_with_servers_are_refused() -> None:
    nova = _nova(servers={"b": [SimpleNamespace(id="s1")]})
    premises.check_free(nova, ["a"])
    with pytest.raises(InvalidValueError, match="b has servers, e.g. s1"):
        premises.check_free(nova, ["a", "b"])


def test_the_quota_must_suffice_for_the_servers() -> None:
    """Limits of servers, cores and memory, including present usage; -1 means no limit."""
    limits = {"maxTotalInstances": 10, "totalInstancesUsed": 8, "maxTotalCores": -1, "maxTotalRAMSize": 1_024}
    premises.check_quota(_nova(limits=limits), _FLAVOR, 2)
    with pytest.raises(InvalidValueError, match="maxTotalInstances is 10, 11 is needed"):
        premises.check_quota(_nova(limits=limits), _FLAVOR, 3)
    with pytest.raises(InvalidValueError, match="maxTotalRAMSize"):
        premises.check_quota(_nova(limits={"maxTotalRAMSize": 1_024}), _FLAVOR, 3)
    premises.check_quota(_nova(), _FLAVOR, 100)


def test_a_flavor_is_found_by_its_id_or_a_unique_name() -> None:
    assert premises.find_flavor(_nova(), "f1") is _FLAVOR
    assert premises.find_flavor(_nova(), "large").id == "f3"
    for wanted, problem in (("small", "there are 2"), ("huge", "there is none")):
        with pytest.raises(InvalidValueError, match=problem):
            premises.find_flavor(_nova(), wanted)
