"""Translation of haizea.conf, the configuration file of Haizea 1.1, into our options (haizea F41)."""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar, cast

from lease_scheduler.haizea.configuration.options import LATER_OPTIONS, LATER_SECTIONS, OPTIONS
from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.simulation.formats.files import read_lines
from lease_scheduler.simulation.formats.lwf import read_site
from lease_scheduler.simulation.formats.resource_names import parse_site
from lease_scheduler.simulation.overheads import OverheadOptions

_Value = TypeVar("_Value")

#: Values of our options that reproduce the fixed behaviour of Haizea.
_HAIZEA_BEHAVIOUR = {
    "scheduling.preempt_at": "request",
    "scheduling.room_lead": "lose",
    "scheduling.suspend_estimate": "sum",
    "image_transfer.keep_replanned": "false",
}

#: Options that are required only with the simulated clock.
_UNATTENDED = frozenset({("simulation", "starttime"), ("tracefile", "tracefile")})

#: Haizea's defaults of options for the real clock, in seconds.
_WAKEUP_INTERVAL = 60
_NON_SCHEDULABLE_INTERVAL = 10


@dataclass(frozen=True)
class HaizeaConf:
    """A configuration file of Haizea for a simulation.

    :ivar overrides: our options as ``group.option`` -> text, with Haizea's defaults for what the file leaves out;
        times in seconds, rates in MB/s, bandwidths in Mb/s
    :ivar tracefile: the workload
    :ivar annotationfile: annotations of the workload, or None
    :ivar injectionfile: workload to inject, or None
    :ivar site: the hosts; None if the workload's file names them
    :ivar start_time: start of the simulated clock, in seconds since the epoch
    :ivar stop_when: condition that ends the run: all-leases-done, besteffort-submitted, besteffort-done or exact
    :ivar stop_when_time: seconds from the start to an exact stop, or None
    :ivar overheads: overheads of virtual machines
    :ivar image_transfer_bandwidth: bandwidth of the image repository in Mb/s
    :ivar lease_preparation: unmanaged or imagetransfer
    :ivar log_level: STATUS, INFO, DEBUG or VDEBUG
    :ivar log_file: file for the log, or None
    :ivar persistence_file: file for the leases, or None
    :ivar status_message_interval: minutes between status messages, or None
    :ivar data_file: file for the results, or None
    :ivar later: ``section.option`` -> text of options that are checked but not used
    """

    overrides: Mapping[str, str]
    tracefile: Path
    annotationfile: Path | None
    injectionfile: Path | None
    site: Site | None
    start_time: int
    stop_when: str
    stop_when_time: int | None
    overheads: OverheadOptions
    image_transfer_bandwidth: float
    lease_preparation: str
    log_level: str
    log_file: Path | None
    persistence_file: Path | None
    status_message_interval: int | None
    data_file: Path | None
    later: Mapping[str, str]


def read_haizea_conf(path: str | os.PathLike[str]) -> HaizeaConf:
    """Read a haizea.conf for a simulation.

    A relative path in the file refers to the working directory if it exists there, else to the file's folder.

    :raises InputFileError: the file, or the site file that it names, cannot be read or is wrong; names the line
    """
    name = os.fspath(path)
    lines = [line for _, line in read_lines(name)]
    return interpret(name, parse_sections(name, lines), option_lines(lines))


def interpret(path: str, parser: configparser.RawConfigParser, lines: Mapping[tuple[str, str], int]) -> HaizeaConf:
    """Return the configuration that parsed sections and options describe.

    :param path: the file that contains them, for errors and for relative paths
    :param lines: (section, option) -> 1-based line, for errors; the section itself has the option ''
    :raises InputFileError: as ``read_haizea_conf``
    """
    conf = _Conf(path, parser, lines)
    if conf.values["general", "mode"] != "simulated":
        raise conf.error("general", "mode", "the simulator needs 'mode: simulated'")
    if conf.values["simulation", "clock"] != "simulated":
        raise conf.error("simulation", "clock", "the simulator needs 'clock: simulated'")
    conf.require_companions()
    stop_when_time = conf.values.get(("simulation", "stop-when-time"))
    status_interval = conf.values.get(("simulation", "status-message-interval"))
    return HaizeaConf(
        overrides=_overrides(conf),
        tracefile=cast(Path, conf.path("tracefile", "tracefile")),
        annotationfile=conf.path("tracefile", "annotationfile"),
        injectionfile=conf.path("tracefile", "injectionfile"),
        site=_site(conf),
        start_time=conf.convert("simulation", "starttime", _epoch_seconds),
        stop_when=conf.values["simulation", "stop-when"],
        stop_when_time=None if stop_when_time is None else int(stop_when_time),
        overheads=_overheads(conf),
        image_transfer_bandwidth=float(conf.values["simulation", "imagetransfer-bandwidth"]),
        lease_preparation=conf.values["general", "lease-preparation"],
        log_level=conf.values["general", "loglevel"],
        log_file=conf.path("general", "logfile"),
        persistence_file=conf.path("general", "persistence-file"),
        status_message_interval=None if status_interval is None else int(status_interval),
        data_file=conf.path("accounting", "datafile"),
        later={
            f"{section}.{name}": text
            for (section, name), text in conf.values.items()
            if section in LATER_SECTIONS or (section, name) in LATER_OPTIONS
        },
    )


@dataclass(frozen=True)
class InteractiveConf:
    """A configuration file of Haizea for an interactive simulation: the real clock, simulated hosts (haizea F19).

    :ivar overrides: as in ``HaizeaConf``
    :ivar site: the hosts; None if the trace file names them
    :ivar tracefile: the trace file, from which only the site is used, or None
    :ivar wakeup_interval: seconds between two checks of all leases (haizea F93)
    :ivar non_schedulable_interval: seconds from now in which nothing is planned to begin (haizea F93)
    :ivar log_level: STATUS, INFO, DEBUG or VDEBUG
    :ivar log_file: file for the log, or None
    :ivar persistence_file: file for the leases; None if they are not kept after the end (haizea F45)
    :ivar status_message_interval: minutes between status messages, or None (haizea F44)
    """

    overrides: Mapping[str, str]
    site: Site | None
    tracefile: Path | None
    wakeup_interval: int
    non_schedulable_interval: int
    log_level: str
    log_file: Path | None
    persistence_file: Path | None
    status_message_interval: int | None


def read_mode(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the mode and the clock of a haizea.conf, e.g. simulated and real; check nothing else.

    :raises InputFileError: the file cannot be read or is not a configuration file
    """
    name = os.fspath(path)
    parser = parse_sections(name, [line for _, line in read_lines(name)])
    if not parser.has_option("general", "mode"):
        raise InputFileError(name, None, "[general] lacks the option 'mode'; add it")
    clock = OPTIONS["simulation"]["clock"].default or ""
    return parser.get("general", "mode"), parser.get("simulation", "clock", fallback=clock)


def read_interactive_conf(path: str | os.PathLike[str]) -> InteractiveConf:
    """Read a haizea.conf whose mode is simulated and whose clock is real.

    :raises InputFileError: as for a simulation
    """
    name = os.fspath(path)
    lines = [line for _, line in read_lines(name)]
    conf = _Conf(name, parse_sections(name, lines), option_lines(lines), needless=_UNATTENDED)
    if conf.values["general", "lease-failure-handling"] != "cancel":
        problem = "with the real clock a lease that fails ends alone; take cancel"
        raise conf.error("general", "lease-failure-handling", problem)
    conf.require_companions()
    status_interval = conf.values.get(("simulation", "status-message-interval"))
    return InteractiveConf(
        overrides=_overrides(conf),
        site=_site(conf),
        tracefile=conf.path("tracefile", "tracefile"),
        wakeup_interval=int(conf.values.get(("scheduling", "wakeup-interval"), _WAKEUP_INTERVAL)),
        non_schedulable_interval=int(
            conf.values.get(("scheduling", "non-schedulable-interval"), _NON_SCHEDULABLE_INTERVAL)
        ),
        log_level=conf.values["general", "loglevel"],
        log_file=conf.path("general", "logfile"),
        persistence_file=conf.path("general", "persistence-file"),
        status_message_interval=None if status_interval is None else int(status_interval),
    )


def _overrides(conf: _Conf) -> dict[str, str]:
    """Return our options that the file sets, and those that reproduce the fixed behaviour of Haizea."""
    ours = {option.sets: (section, name) for section, names in OPTIONS.items() for name, option in names.items()}
    return {
        **_in_force({sets: conf.values[key] for sets, key in ours.items() if sets is not None and key in conf.values}),
        **_HAIZEA_BEHAVIOUR,
        "image_transfer.bandwidth": conf.values["simulation", "imagetransfer-bandwidth"],
    }


def _in_force(overrides: dict[str, str]) -> dict[str, str]:
    """Return the options without those that Haizea ignores because of the value of another option."""
    idle = set()
    if overrides.get("scheduling.backfilling") != "intermediate":
        idle.add("scheduling.backfilling_reservations")
    if overrides.get("simulation.stop_when") != "exact":
        idle.add("simulation.stop_when_time")
    return {name: text for name, text in overrides.items() if name not in idle}


class _Conf:
    """The checked options of a file, with defaults filled in, and the line of each option."""

    def __init__(
        self,
        path: str,
        parser: configparser.RawConfigParser,
        lines: Mapping[tuple[str, str], int],
        needless: Collection[tuple[str, str]] = (),
    ) -> None:
        self._path = path
        self._lines = lines
        #: (section, option) -> text in our spelling
        self.values: dict[tuple[str, str], str] = {}
        for section in parser.sections():
            self._check_section(section)
            for name, text in parser.items(section):
                if name not in OPTIONS[section]:
                    known = ", ".join(OPTIONS[section])
                    raise self.error(section, name, f"[{section}] has no option {name!r}; known: {known}")
                self.values[section, name] = text
                self.values[section, name] = self.convert(section, name, OPTIONS[section][name].read)
        for section, options in OPTIONS.items():
            for name, option in options.items():
                if (section, name) not in self.values and option.required and (section, name) not in needless:
                    raise self.error(section, name, f"[{section}] lacks the option {name!r}; add it")
                if option.default is not None:
                    self.values.setdefault((section, name), option.default)

    def error(self, section: str, name: str, problem: str) -> InputFileError:
        """Return an error about an option, with the line of the option or else of its section."""
        line = self._lines.get((section, name), self._lines.get((section, "")))
        return InputFileError(self._path, line, problem)

    def convert(self, section: str, name: str, parse: Callable[[str, str], _Value]) -> _Value:
        """Return the value of an option that the file has, converted by ``parse``."""
        try:
            return parse(self.values[section, name], f"[{section}] {name}")
        except InvalidValueError as error:
            raise self.error(section, name, str(error)) from error

    def path(self, section: str, name: str) -> Path | None:
        """Return the file that an option names, or None if the option is missing or has the value none."""
        text = self.values.get((section, name))
        return None if text is None or (text.lower() == "none" and name != "tracefile") else self.resolved(text)

    def resolved(self, text: str) -> Path:
        """Resolve a path against the working directory if it exists there, else against the file's folder."""
        return resolved_path(text, self._path)

    def require_companions(self) -> None:
        """Refuse a file without options that the values of others require."""
        self.require_if("scheduling", "backfilling-reservations", "backfilling", ("intermediate",))
        self.require_if("scheduling", "suspend-rate", "suspension", ("serial-only", "all"))
        self.require_if("scheduling", "resume-rate", "suspension", ("serial-only", "all"))
        self.require_if("simulation", "stop-when-time", "stop-when", ("exact",))

    def require_if(self, section: str, name: str, other: str, words: tuple[str, ...]) -> None:
        """Refuse a file without an option if the value of another option requires it."""
        word = self.values[section, other]
        if word in words and (section, name) not in self.values:
            raise self.error(section, other, f"'{other}: {word}' needs the option {name!r} too; add it to [{section}]")

    def _check_section(self, section: str) -> None:
        if section == "multi" or ":" in section:
            problem = "this is a multi-configuration file; run it with lease-sim campaign"
            raise self.error(section, "", problem)
        if section not in OPTIONS:
            raise self.error(section, "", f"there is no section [{section}]; known: {', '.join(OPTIONS)}")


def resolved_path(text: str, path: str) -> Path:
    """Resolve a path in a file against the working directory if it exists there, else against the file's folder."""
    return Path(text) if os.path.exists(text) else Path(path).parent / text


def new_parser() -> configparser.RawConfigParser:
    """Return an empty parser for the dialect of Haizea's files."""
    # No section is special; otherwise, [DEFAULT] would silently be merged into all others.
    return configparser.RawConfigParser(default_section="", inline_comment_prefixes=(";",))


def parse_sections(path: str, lines: list[str]) -> configparser.RawConfigParser:
    """Parse the sections and options of a file.

    :raises InputFileError: a line is not valid; the error names it
    """
    parser = new_parser()
    try:
        parser.read_file(lines)
    except (configparser.DuplicateSectionError, configparser.DuplicateOptionError) as error:
        option = f" option {error.option!r}" if isinstance(error, configparser.DuplicateOptionError) else ""
        problem = f"section [{error.section}]{option} stands here a second time; leave one"
        raise InputFileError(path, error.lineno, problem) from error
    except configparser.MissingSectionHeaderError as error:
        raise InputFileError(path, error.lineno, "stands before the first [section]; move it into one") from error
    except configparser.ParsingError as error:
        line = error.errors[0][0] if error.errors else None
        raise InputFileError(path, line, "is neither [section] nor 'option: value' nor comment") from error
    return parser


_SECTION = re.compile(r"\s*\[(.+)\]")
_OPTION = re.compile(r"\s*([^#;:=\s][^:=]*?)\s*[:=]")


def option_lines(lines: list[str]) -> dict[tuple[str, str], int]:
    """Return (section, option) -> 1-based line; the section itself has the option ''."""
    found: dict[tuple[str, str], int] = {}
    section = ""
    for number, line in enumerate(lines, start=1):
        if match := _SECTION.match(line):
            section = match[1]
            found.setdefault((section, ""), number)
        elif match := _OPTION.match(line):
            found.setdefault((section, match[1].lower()), number)
    return found


def _site(conf: _Conf) -> Site | None:
    text = conf.values["simulation", "resources"]
    if text == "in-tracefile":
        return None
    if text.startswith("file:"):
        return read_site(conf.resolved(text.removeprefix("file:").strip()))
    return conf.convert("simulation", "resources", lambda value, _: parse_site(value))


def _overheads(conf: _Conf) -> OverheadOptions:
    applies_to = conf.values["tracefile", "add-overhead"]
    memory = int(conf.values["tracefile", "override-memory"])
    return OverheadOptions(
        runtime_slowdown_percent=float(conf.values["tracefile", "runtime-slowdown-overhead"]),
        boot_shutdown_s=int(conf.values["tracefile", "bootshutdown-overhead"]),
        applies_to="all" if applies_to == "all" else "besteffort" if applies_to == "besteffort" else "none",
        override_memory_mb=None if memory == -1 else memory,
    )


def _epoch_seconds(text: str, field: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidValueError(field, f"must be a date and time as 2006-11-25 13:00:00, not {text!r}") from None
    seconds = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    if seconds < 0:
        raise InvalidValueError(field, f"must not be before 1970, not {text!r}")
    return seconds
