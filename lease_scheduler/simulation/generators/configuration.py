"""Configuration files of the generators of workloads and annotations (Sotomayor 2010, appendix A.3; haizea F87, F88).

They are INI files with the sections ``general`` (attributes, site), ``numleases`` (number of leases and intervals
between them), ``nodes``, ``duration``, ``start-delay``, ``deadline-stretch``, ``user-rate`` and ``software``. Each
section except ``general`` describes a law (see ``distributions.distribution_from``) and may have its own ``seed``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePath
from typing import TypeVar

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.nodes import DiskImage
from lease_scheduler.model.resources import Resources
from lease_scheduler.simulation.formats.ini_file import IniFile
from lease_scheduler.simulation.formats.lwf import read_site
from lease_scheduler.simulation.formats.lwfa import annotate
from lease_scheduler.simulation.formats.resource_names import parse_count, parse_site
from lease_scheduler.simulation.formats.times import parse_duration
from lease_scheduler.simulation.generators.annotations import (
    AnnotationRules,
    DeadlineStretchMode,
    ImageChoice,
    StartDelayMode,
    generate_annotations,
)
from lease_scheduler.simulation.generators.distributions import (
    DISTRIBUTION_OPTIONS,
    Constant,
    Distribution,
    distribution_from,
    parse_flag,
    position_from,
)
from lease_scheduler.simulation.generators.reservations import ReservationRules, generate_by_rules
from lease_scheduler.simulation.workload import Workload

_Value = TypeVar("_Value")
_Mode = TypeVar("_Mode", bound=Enum)

_LAW = DISTRIBUTION_OPTIONS | {"seed"}
_KNOWN: Mapping[str, frozenset[str]] = {
    "general": frozenset({"attributes", "site"}),
    "numleases": _LAW | {"type", "utilization", "last-request", "numleases"},
    "nodes": _LAW | {"resources"},
    "duration": _LAW,
    "start-delay": _LAW | {"type"},
    "deadline-stretch": _LAW | {"type"},
    "user-rate": _LAW,
    "software": _LAW,
}

#: Field of the rules -> section and option that set it, for the line number in errors.
_OPTIONS_OF_FIELDS = {
    "utilisation": ("numleases", "utilization"),
    "count": ("numleases", "numleases"),
    "span": ("numleases", "last-request"),
    "nodes": ("nodes", "min"),
    "duration": ("duration", "min"),
}


@dataclass(frozen=True)
class GeneratorConfiguration:
    """The contents of a configuration file.

    :ivar reservations: rules for the leases; None if the file has no section ``numleases``
    :ivar annotations: rules for the annotations
    :ivar seeds: seed of each section that has its own, by name of the section
    """

    reservations: ReservationRules | None
    annotations: AnnotationRules
    seeds: Mapping[str, int]

    def generate(self, seed: int) -> Workload:
        """Return a new workload: leases by the rules for reservations, annotated by the rules for annotations.

        Without a start delay, leases start when they arrive.

        :param seed: seed of the sections that do not have their own
        :raises InvalidValueError: the file has no section ``numleases``
        """
        if self.reservations is None:
            raise InvalidValueError("numleases", "the configuration has no such section; add it to generate leases")
        seeds = {"interval" if name == "numleases" else name: value for name, value in self.seeds.items()}
        workload = generate_by_rules(self.reservations, seed, seeds)
        if self.annotations.is_empty:
            return workload
        return annotate(workload, generate_annotations(self.annotations, workload, seed, seeds))


def read_generator_configuration(path: str | os.PathLike[str]) -> GeneratorConfiguration:
    """Read the configuration of a generator from a file.

    * ``general``: ``site`` is ``144 CPU:100,Memory:1024``, or ``file:PATH`` of a site in XML. A relative path refers to
      the working directory if it exists there, else to the folder of the configuration.
    * ``numleases``: the type ``utilization`` reserves a share of the site, in per cent, until ``last-request``; the law
      is what is added to the mean interval. The type ``interval`` makes ``numleases`` leases; the law is the interval.
    * ``nodes``: ``resources`` is what a node needs.
    * ``start-delay`` and ``deadline-stretch``: ``type`` is the meaning of the drawn values.
    * ``software``: the law chooses from ``values`` such as ``image-1|4096``, an id and a size in MB.

    :raises InputFileError: the file cannot be read, or a section or option is unknown, missing or wrong; names the line
    """
    file = _ConfigurationFile(os.fspath(path))
    attributes = file.convert("general", "attributes", _parse_attributes) if file.has("general", "attributes") else {}
    annotations = file.checked(
        lambda: AnnotationRules(
            start_delay=file.law("start-delay"),
            start_mode=file.mode("start-delay", StartDelayMode),
            deadline_stretch=file.law("deadline-stretch"),
            deadline_mode=file.mode("deadline-stretch", DeadlineStretchMode),
            user_rate=file.law("user-rate"),
            images=_read_images(file),
            attributes=attributes,
        )
    )
    reservations = _read_reservations(file, attributes) if file.has_section("numleases") else None
    return GeneratorConfiguration(reservations, annotations, file.seeds())


def _read_reservations(file: _ConfigurationFile, attributes: Mapping[str, str]) -> ReservationRules:
    kind = file.convert("numleases", "type", _parse_kind)
    utilisation: float | None = None
    span: int | None = None
    count: int | None = None
    if kind == "utilization":
        utilisation = file.convert("numleases", "utilization", _parse_per_cent)
        span = file.convert("numleases", "last-request", lambda text: parse_duration(text, "last-request"))
    else:
        count = file.convert("numleases", "numleases", lambda text: parse_count(text, "numleases", least=1))
    interval = file.law("numleases") if kind == "interval" or file.has("numleases", "distribution") else Constant(0)
    return file.checked(
        lambda: ReservationRules(
            name=PurePath(file.path).stem,
            site=_read_site(file),
            resources=file.convert("nodes", "resources", _parse_resources),
            nodes=file.required_law("nodes"),
            duration=file.required_law("duration"),
            interval=interval or Constant(0),
            span=span,
            utilisation=utilisation,
            count=count,
            attributes=attributes,
        )
    )


def _read_site(file: _ConfigurationFile) -> Site:
    text = file.convert("general", "site", str)
    if not text.startswith("file:"):
        return file.convert("general", "site", parse_site)
    named = PurePath(text.removeprefix("file:").strip())
    return read_site(named if os.path.exists(named) else PurePath(file.path).parent / named)


def _read_images(file: _ConfigurationFile) -> ImageChoice | None:
    if not file.has_section("software"):
        return None
    section = file.section("software")
    if not file.within("software", lambda: parse_flag(section, "discrete")):
        raise file.error("software", "discrete", "must be there and true: images are chosen from the values")
    images = file.convert("software", "values", _parse_images)
    return ImageChoice(images, file.within("software", lambda: position_from(section)))


class _ConfigurationFile(IniFile):
    """A configuration file of a generator."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        for name in self.sections():
            if name not in _KNOWN:
                raise self.unknown(name, sorted(_KNOWN))
            self.check_options(name, _KNOWN[name])

    def checked(self, make: Callable[[], _Value]) -> _Value:
        """Return what ``make`` returns; an error in a field becomes one about the option that sets the field."""
        try:
            return make()
        except InvalidValueError as error:
            section, option = _OPTIONS_OF_FIELDS.get(error.field, (error.field, "min"))
            raise self.error(section, option, error.problem) from error

    def law(self, section: str) -> Distribution | None:
        """Return the law of a section, or None if the file does not have the section."""
        if not self.has_section(section):
            return None
        return self.within(section, lambda: distribution_from(self.section(section)))

    def required_law(self, section: str) -> Distribution:
        """Return the law of a required section.

        :raises InputFileError: the section is missing
        """
        law = self.law(section)
        if law is None:
            raise InputFileError(self.path, None, f"lacks the section [{section}]; add it")
        return law

    def mode(self, section: str, modes: type[_Mode]) -> _Mode:
        """Return the type of a section, or the first type if the file does not have the section."""
        first: _Mode = next(iter(modes))
        if not self.has_section(section):
            return first
        return self.convert(section, "type", lambda text: _parse_mode(text, modes))

    def seeds(self) -> dict[str, int]:
        """Return the seeds of the sections that have their own."""
        return {
            name: self.convert(name, "seed", lambda text: parse_count(text, "seed"))
            for name in self.sections()
            if self.has(name, "seed")
        }


def _parse_mode(text: str, modes: type[_Mode]) -> _Mode:
    try:
        return modes(text)
    except ValueError:
        raise InvalidValueError(
            "type", f"must be one of {', '.join(str(mode.value) for mode in modes)}, not {text!r}"
        ) from None


def _parse_kind(text: str) -> str:
    if text not in ("utilization", "interval"):
        raise InvalidValueError("type", f"must be utilization or interval, not {text!r}")
    return text


def _parse_per_cent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise InvalidValueError("utilization", f"must be a number of per cent above 0, not {text!r}")
    return value / 100


def _parse_attributes(text: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for pair in text.split(","):
        name, sign, value = pair.partition("=")
        if not sign or not name.strip():
            raise InvalidValueError("attributes", f"{pair.strip()!r} is not name=value")
        attributes[name.strip()] = value.strip()
    return attributes


def _parse_resources(text: str) -> Resources:
    """Return amounts written as ``CPU:100,Memory:1024``, which are parsed as a site of one such host."""
    return parse_site(f"1 {text}").hosts[0].capacity


def _parse_images(text: str) -> tuple[DiskImage, ...]:
    images: list[DiskImage] = []
    for word in text.split():
        image_id, bar, size = word.partition("|")
        if not bar or not image_id:
            raise InvalidValueError("values", f"{word!r} is not <id>|<size in MB>, as in 'image-1|4096'")
        images.append(DiskImage(image_id, parse_count(size, "values", least=1)))
    if not images:
        raise InvalidValueError("values", "needs at least one image")
    return tuple(images)
