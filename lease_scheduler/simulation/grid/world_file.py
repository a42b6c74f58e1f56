"""Files that describe worlds of sites and gateways, for ``lease-sim world``.

They are INI files with the section ``world``, which may be left out, a section ``site NAME`` for each site and a
section ``gateway NAME`` for each gateway. Names of files are relative to the folder of the world's file, unless a file
is there by that name in the working directory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TypeVar

from lease_scheduler.federation.negotiation.record import Mode, Rules
from lease_scheduler.federation.routing.loader import load_routing_policies
from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.simulation.formats.ini_file import IniFile
from lease_scheduler.simulation.formats.resource_names import parse_count, parse_site
from lease_scheduler.simulation.grid.gateway import GatewaySettings
from lease_scheduler.simulation.shipped import shipped_names

_Value = TypeVar("_Value")

_WORLD = frozenset({"seed"})
_SITE = frozenset({"hosts", "workload", "speed", "can-hold", "config-file", "set"})
_GATEWAY = frozenset(
    {
        "members",
        "workload",
        "mode",
        "allocation",
        "dispatch",
        "home",
        "reroutes",
        "answer-time",
        "accept-time",
        "hold-time",
        "clock-difference",
    }
)
_SECTION = re.compile(r"(site|gateway) ([a-z0-9][a-z0-9_-]{0,63})")


@dataclass(frozen=True)
class SiteSection:
    """A site, as the file describes it.

    :ivar hosts: its hosts; None for those of the workload
    :ivar workload: name of the workload of its own users; None if they have none
    :ivar speed: see ``SimulatedMember``
    :ivar can_hold: whether it can hold leases for gateways
    :ivar config_files: files in oslo.config's format
    :ivar overrides: ``group.option`` -> value, which take precedence over files
    """

    hosts: Site | None
    workload: str | None
    speed: float
    can_hold: bool
    config_files: tuple[Path, ...]
    overrides: Mapping[str, str]


@dataclass(frozen=True)
class GatewaySection:
    """A gateway, as the file describes it.

    :ivar members: name of a site or gateway -> seconds that a message to it takes
    :ivar settings: how it asks
    :ivar policies: name of a routing policy by family
    :ivar workload: name of the workload of its users; None if they have none
    """

    members: Mapping[str, int]
    settings: GatewaySettings
    policies: Mapping[str, str]
    workload: str | None


@dataclass(frozen=True)
class WorldFile:
    """A world, as its file describes it.

    :ivar file: the file, for errors about what it names
    :ivar sites: the sites by name
    :ivar gateways: the gateways by name
    :ivar seed: seed of all that is random
    """

    file: IniFile
    sites: Mapping[str, SiteSection]
    gateways: Mapping[str, GatewaySection]
    seed: int


def read_world(path: str | os.PathLike[str]) -> WorldFile:
    """Read a file that describes a world.

    :raises InputFileError: the file cannot be read, or a section or option is unknown, missing or wrong; names the line
    """
    file = IniFile(os.fspath(path))
    sites: dict[str, SiteSection] = {}
    gateways: dict[str, GatewaySection] = {}
    for section in file.sections():
        found = _SECTION.fullmatch(section)
        if section == "world":
            file.check_options(section, _WORLD)
        elif found is None:
            raise file.unknown(section, ("world", "site NAME", "gateway NAME, with a NAME of a-z, 0-9, _ and -"))
        elif found[2] in sites or found[2] in gateways:
            raise file.error(section, None, f"{found[2]} is the name of another part; choose one of its own")
        elif found[1] == "site":
            file.check_options(section, _SITE)
            sites[found[2]] = _site(file, section)
        else:
            file.check_options(section, _GATEWAY)
            gateways[found[2]] = _gateway(file, section, found[2])
    if not sites:
        raise InputFileError(file.path, None, "has no site; add a section such as [site north]")
    _check_members(file, sites, gateways)
    seed = _optional(file, "world", "seed", lambda text: parse_count(text, "seed"), 1)
    return WorldFile(file, sites, gateways, seed)


def _site(file: IniFile, section: str) -> SiteSection:
    return SiteSection(
        hosts=_optional(file, section, "hosts", parse_site, None),
        workload=_optional(file, section, "workload", lambda text: _named(file, text), None),
        speed=_optional(file, section, "speed", _speed, 1.0),
        can_hold=_optional(file, section, "can-hold", lambda text: _flag(text, "can-hold"), True),
        config_files=_optional(file, section, "config-file", lambda text: _files(file, text), ()),
        overrides=_optional(file, section, "set", _assignments, {}),
    )


def _gateway(file: IniFile, section: str, name: str) -> GatewaySection:
    def seconds(option: str, default: int) -> int:
        return _optional(file, section, option, lambda text: parse_count(text, option), default)

    mode = _optional(file, section, "mode", _mode, Mode.IN_TURN)
    times = {
        option.replace("-", "_"): seconds(option, getattr(Rules, option.replace("-", "_")))
        for option in ("accept-time", "hold-time", "clock-difference")
    }
    policies = {
        family: file.section(section)[family] for family in ("allocation", "dispatch") if file.has(section, family)
    }
    _within(file, section, lambda: load_routing_policies(policies, PolicyOptions()))
    settings = _within(
        file,
        section,
        lambda: GatewaySettings(
            Rules(name, **times),
            mode,
            seconds("answer-time", GatewaySettings.answer_time),
            _optional(file, section, "reroutes", lambda text: _flag(text, "reroutes"), True),
            _optional(file, section, "home", str, None),
        ),
    )
    return GatewaySection(
        file.convert(section, "members", _members),
        settings,
        policies,
        _optional(file, section, "workload", lambda text: _named(file, text), None),
    )


def _check_members(file: IniFile, sites: Mapping[str, SiteSection], gateways: Mapping[str, GatewaySection]) -> None:
    for name, gateway in gateways.items():
        known = [each for each in (*sites, *gateways) if each != name]
        for member in gateway.members:
            if member not in known:
                raise file.error(
                    f"gateway {name}", "members", f"{member!r} is no other part; the others are {', '.join(known)}"
                )
        home = gateway.settings.home
        if home is not None and home not in gateway.members:
            raise file.error(
                f"gateway {name}", "home", f"must be one of the members {', '.join(gateway.members)}, not {home!r}"
            )


def _optional(file: IniFile, section: str, option: str, parse: Callable[[str], _Value], default: _Value) -> _Value:
    return file.convert(section, option, parse) if file.has(section, option) else default


def _within(file: IniFile, section: str, make: Callable[[], _Value]) -> _Value:
    """Return what ``make`` returns; an error in a field becomes one about the option for the field."""
    try:
        return make()
    except InvalidValueError as error:
        option = error.field.rpartition(".")[2].replace("_", "-")
        raise file.error(section, option, error.problem) from error


def _named(file: IniFile, text: str) -> str:
    """Return the name of a file, or of a shipped workload: as it is if that is there, else beside the world's file."""
    if os.path.exists(text) or text in shipped_names():
        return text
    return str(Path(file.path).parent / text)


def _files(file: IniFile, text: str) -> tuple[Path, ...]:
    found = tuple(Path(_named(file, word)) for word in text.split())
    for path in found:
        if not path.is_file():
            raise InvalidValueError("config-file", f"there is no file {path}; name one that is there")
    return found


def _assignments(text: str) -> dict[str, str]:
    found = {}
    for line in text.splitlines():
        name, sign, value = line.partition("=")
        if not line.strip():
            continue
        if not sign or "." not in name:
            raise InvalidValueError("set", f"must have GROUP.OPTION = VALUE in each line, not {line.strip()!r}")
        found[name.strip()] = value.strip()
    return found


def _members(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in text.replace(",", " ").split():
        name, colon, delay = word.partition(":")
        if name in found:
            raise InvalidValueError("members", f"names {name} twice; leave one")
        if colon and not (delay.isascii() and delay.isdigit()):
            problem = f"has {delay!r} as delay of {name}; give a whole number of seconds, such as {name}:2"
            raise InvalidValueError("members", problem)
        found[name] = int(delay) if colon else 0
    if not found:
        raise InvalidValueError("members", "names none; write e.g. north, south:2, with seconds after the colon")
    return found


def _mode(text: str) -> Mode:
    try:
        return Mode(text)
    except ValueError:
        known = ", ".join(mode.value for mode in Mode)
        raise InvalidValueError("mode", f"must be one of {known}, not {text!r}") from None


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not isfinite(speed) or speed <= 0:
        raise InvalidValueError("speed", f"must be a number above 0, not {text!r}")
    return speed


def _flag(text: str, field: str) -> bool:
    words = {"true": True, "yes": True, "false": False, "no": False}
    if text.lower() not in words:
        raise InvalidValueError(field, f"must be true or false, not {text!r}")
    return words[text.lower()]
