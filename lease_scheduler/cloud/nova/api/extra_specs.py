"""Extra specs of flavors that say what Placement counts for a server, and what CPU time it gets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from lease_scheduler.cloud.nova.api.pci_aliases import ALIAS, PciAliases
from lease_scheduler.model.providers import ProviderGroup, together
from lease_scheduler.model.resources import Resources

#: Prefixes of extra specs that override what Placement counts for a flavor, and of those that ask for traits.
RESOURCES = "resources:"
_TRAIT = "trait:"
_REQUIRED = "required"

#: Nova's numbered and named groups, each of which one provider must serve: ``resources1:VGPU``, ``resources_A:VGPU``.
_GROUPED = re.compile("(resources|trait)([a-zA-Z0-9_-]{1,64}):(.+)")

#: Extra spec by which Nova weighs the CPU time of a server against that of the other servers on its host.
CPU_SHARES = "quota:cpu_shares"

#: Range of weights that cgroups of both versions accept.
_SHARES = range(2, 10_001)

#: Beginning of the suffixes of groups in flavors of leases; a number follows.
_OWN = "_LEASE"

#: Extra spec that Placement needs if there are several groups. Nova's AggregateInstanceExtraSpecsFilter also wants it
#: in the metadata of an aggregate of the host, because its key has no name space.
GROUP_POLICY = ("group_policy", "none")


def resources(extra_specs: Mapping[str, str]) -> dict[str, int]:
    """Return resource class -> amount that extra specs outside of groups set."""
    return {
        key.removeprefix(RESOURCES): int(value)
        for key, value in extra_specs.items()
        if key.startswith(RESOURCES) and value.isdigit()
    }


def traits(extra_specs: Mapping[str, str]) -> frozenset[str]:
    """Return the traits that extra specs outside of groups require."""
    return frozenset(
        key.removeprefix(_TRAIT)
        for key, value in extra_specs.items()
        if key.startswith(_TRAIT) and value.lower() == _REQUIRED
    )


def groups(extra_specs: Mapping[str, str]) -> tuple[ProviderGroup, ...]:
    """Return the groups that extra specs ask for, in the order of their names."""
    amounts: dict[str, dict[str, int]] = {}
    wanted: dict[str, set[str]] = {}
    for key, value in extra_specs.items():
        match = _GROUPED.fullmatch(key)
        if match is None:
            continue
        kind, suffix, name = match.groups()
        if kind == "resources" and value.isdigit() and int(value):
            amounts.setdefault(suffix, {})[name] = int(value)
        elif kind == "trait" and value.lower() == _REQUIRED:
            wanted.setdefault(suffix, set()).add(name)
    return tuple(
        ProviderGroup(Resources(of_group), frozenset(wanted.get(suffix, ())))
        for suffix, of_group in sorted(amounts.items())
    )


def asking_for(found: Iterable[ProviderGroup], aliases: PciAliases) -> dict[str, str]:
    """Return the extra specs of a lease's flavor that ask for groups. One provider may serve several groups."""
    alias, others = aliases.divided(found)
    said: dict[str, str] = {} if alias is None else {ALIAS: alias}
    for number, group in enumerate(others):
        said |= {f"resources{_OWN}{number}:{name}": str(amount) for name, amount in group.resources.items()}
        said |= {f"trait{_OWN}{number}:{trait}": _REQUIRED for trait in sorted(group.traits)}
    return {**said, **dict([GROUP_POLICY])} if len(others) > 1 else said


def weighing(vcpus: int, shares_per_vcpu: int) -> dict[str, str]:
    """Return the extra specs of a lease's flavor that weigh the CPU time of its servers.

    :param shares_per_vcpu: weight for each VCPU; 0 to set none
    """
    if not shares_per_vcpu:
        return {}
    return {CPU_SHARES: str(min(max(vcpus * shares_per_vcpu, _SHARES.start), _SHARES[-1]))}


def is_asked(key: str) -> bool:
    """Return whether an extra spec is one by which flavors of leases say what Placement counts."""
    return key == ALIAS or key.startswith((RESOURCES, f"resources{_OWN}", f"trait{_OWN}"))


def all_resources(extra_specs: Mapping[str, str]) -> Mapping[str, int]:
    """Return resource class -> amount that extra specs set, inside and outside of groups."""
    return together(resources(extra_specs), (group.resources for group in groups(extra_specs)))
