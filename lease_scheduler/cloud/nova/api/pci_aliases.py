"""PCI aliases of Nova: the only way for a flavor to ask for PCI devices so that servers get them.

With ``[filter_scheduler] pci_in_placement``, Nova itself asks Placement for the devices of an alias. Each device is a
separate group of one unit of a resource class, with the traits of the alias. No API shows the aliases.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.providers import ProviderGroup
from lease_scheduler.model.resources import Resources

#: Extra spec of a flavor: names of aliases, and the number of devices of each, such as ``a100:2,nic:1``.
ALIAS = "pci_passthrough:alias"

#: Prefix of the resource classes that nova-compute gives to PCI devices by default.
_PREFIX = "CUSTOM_PCI_"

_OPTION = "nova.pci_alias"
_ID = re.compile("[0-9a-fA-F]{4}")
_NAME_IN_PLACEMENT = re.compile("[A-Z0-9_]+")
_ASKED = re.compile(r"\s*(.+?)\s*:\s*([0-9]+)\s*")


class PciAliases:
    """The PCI aliases of a Nova.

    :param devices: name of an alias -> group that one device takes
    """

    def __init__(self, devices: Mapping[str, ProviderGroup] | None = None) -> None:
        self._devices: Mapping[str, ProviderGroup] = devices or {}

    def spelled_out(self, extra_specs: Mapping[str, str]) -> Mapping[str, str]:
        """Return the extra specs of a flavor with the groups that Nova adds for its aliases."""
        if ALIAS not in extra_specs:
            return extra_specs
        said: dict[str, str] = {}
        for name, count in _asked(extra_specs):
            for device in [self._devices[name]] * count if name in self._devices else ():
                suffix = f"_ALIAS{sum(key.startswith('resources') for key in said)}"
                said |= {f"resources{suffix}:{name}": str(amount) for name, amount in device.resources.items()}
                said |= {f"trait{suffix}:{trait}": "required" for trait in device.traits}
        return {**extra_specs, **said}

    def unknown(self, extra_specs: Mapping[str, str]) -> list[str]:
        """Return the names of unknown aliases in the extra specs of a flavor."""
        return [name for name, _ in _asked(extra_specs) if name not in self._devices]

    def divided(self, groups: Iterable[ProviderGroup]) -> tuple[str | None, list[ProviderGroup]]:
        """Return the value of the extra spec that asks for groups by alias, or None, and the groups without alias."""
        asked: Counter[str] = Counter()
        others = []
        for group in groups:
            name = self._name(group)
            if name is None:
                others.append(group)
            else:
                asked[name] += sum(group.resources.values())
        return ",".join(f"{name}:{count}" for name, count in sorted(asked.items())) or None, others

    def problem(self, group: ProviderGroup) -> str | None:
        """Return why a server of a lease's flavor would not get the PCI devices of a group, or None if it would."""
        of_aliases = {name for device in self._devices.values() for name in device.resources}
        pci = sorted(name for name in group.resources if name in of_aliases or name.startswith(_PREFIX))
        if not pci or self._name(group) is not None:
            return None
        known = " or ".join(str(device) for device in self._devices.values() if pci[0] in device.resources)
        right = f"ask for {known}, or for whole hosts (exclusive)" if known else "ask for whole hosts (exclusive)"
        return f"no PCI alias stands for {group}; {right}"

    def _name(self, group: ProviderGroup) -> str | None:
        """Return the alias that stands for the devices of a group and for no others."""
        for name, device in self._devices.items():
            if group.resources.keys() == device.resources.keys() and group.traits == device.traits:
                return name
        return None


def _asked(extra_specs: Mapping[str, str]) -> list[tuple[str, int]]:
    """Return the name of each alias in the extra specs of a flavor, with the number of its devices."""
    found = map(_ASKED.fullmatch, extra_specs.get(ALIAS, "").split(","))
    return [(match[1], int(match[2])) for match in found if match is not None]


def parse(lines: Iterable[str]) -> PciAliases:
    """Parse lines in the format of Nova's option ``alias`` of the group ``pci``.

    :raises InvalidValueError: a line is not one that Nova accepts with PCI devices in Placement
    """
    devices: dict[str, ProviderGroup] = {}
    for line in lines:
        try:
            said: Any = json.loads(line)
        except ValueError as error:
            raise InvalidValueError(_OPTION, f"must be JSON as in nova.conf, which {line} is not: {error}") from None
        if not isinstance(said, dict) or not isinstance(said.get("name"), str) or not said["name"].strip():
            raise InvalidValueError(_OPTION, f"must be an object with a name, which {line} is not")
        name = said["name"].strip()
        if name in devices:
            raise InvalidValueError(
                _OPTION, f"{name} is there twice; with PCI devices in Placement, Nova accepts each alias once"
            )
        if {",", ":"} & set(name):
            raise InvalidValueError(_OPTION, f"{name} cannot be asked for: its name must have neither comma nor colon")
        traits = [trait.strip() for trait in str(said.get("traits") or "").split(",") if trait.strip()]
        for each in traits:
            _check_name(name, "traits", each)
        device = ProviderGroup(Resources({_resource_class(name, said): 1}), frozenset(traits))
        same = next((other for other, known in devices.items() if known == device), None)
        if same is not None:
            raise InvalidValueError(_OPTION, f"{name} and {same} stand for the same devices; give one of them")
        devices[name] = device
    return PciAliases(devices)


def _resource_class(alias: str, said: Mapping[str, Any]) -> str:
    if said.get("resource_class"):
        return _check_name(alias, "resource_class", str(said["resource_class"]))
    ids = [str(said.get(key, "")) for key in ("vendor_id", "product_id")]
    if not all(map(_ID.fullmatch, ids)):
        raise InvalidValueError(
            _OPTION, f"{alias} must have a resource_class, or vendor_id and product_id of four hexadecimal digits each"
        )
    return f"{_PREFIX}{ids[0]}_{ids[1]}".upper()


def _check_name(alias: str, key: str, name: str) -> str:
    if not _NAME_IN_PLACEMENT.fullmatch(name):
        raise InvalidValueError(_OPTION, f"{key} of {alias} must be as Placement names it, not {name}")
    return name
