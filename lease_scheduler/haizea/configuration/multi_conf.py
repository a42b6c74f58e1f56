"""Haizea's multi-configurations: one file for the product of profiles, traces, annotations and injections (haizea F42).

``[multi]`` names the files. ``[common:<section>]`` has options of every configuration, ``[<profile>:<section>]`` those
of a profile, which take precedence. The name of a configuration is ``profile_trace[+injection][+annotation]``.
"""

from __future__ import annotations

import configparser
import io
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from lease_scheduler.haizea.configuration.haizea_conf import (
    HaizeaConf,
    interpret,
    new_parser,
    option_lines,
    parse_sections,
    resolved_path,
)
from lease_scheduler.model.errors import InputFileError
from lease_scheduler.simulation.formats.files import read_lines
from lease_scheduler.simulation.formats.lwf_terms import read_attributes
from lease_scheduler.simulation.formats.workload_file import is_xml
from lease_scheduler.simulation.formats.xml_file import stream_elements
from lease_scheduler.simulation.shipped import shipped_names, shipped_path

_MULTI = "multi"
_COMMON = "common"

_FLAGS = ("skip-no-annotation", "skip-no-injection")
_OPTIONS = (
    *("tracedir", "tracefiles", "annotationdir", "annotationfiles", "injectiondir", "injectionfiles", "datadir"),
    *_FLAGS,
)

#: Options that follow from [multi], so that no other section may set them.
_DECIDED = frozenset(
    {
        ("tracefile", "tracefile"),
        ("tracefile", "annotationfile"),
        ("tracefile", "injectionfile"),
        ("accounting", "datafile"),
    }
)

#: Attributes that identify a run, before those in the files.
_LABELS = ("profile", "tracefile", "annotationfile", "injectfile")

_PROFILE = re.compile(r"[\w.+-]+")


@dataclass(frozen=True)
class Configuration:
    """One configuration of a multi-configuration.

    :ivar name: ``profile_trace[+injection][+annotation]``
    :ivar conf: its options
    :ivar attributes: attributes that identify it: profile, tracefile, annotationfile and injectfile (names without
        folder and suffix, empty for none), then the attributes of these files and those of the configuration
    :ivar text: the configuration as a haizea.conf
    """

    name: str
    conf: HaizeaConf
    attributes: Mapping[str, str]
    text: str


def read_multi_conf(path: str | os.PathLike[str]) -> tuple[Configuration, ...]:
    """Return all configurations of a file, by profile, trace, annotation and injection, each in the file's order.

    Relative folders refer to the working directory if they exist there, else to the file's folder. Names of files may
    be patterns such as ``*.lwf``. A trace or an injection that is not a file may be the name of a shipped workload.

    :raises InputFileError: the file or one that it names cannot be read or is wrong; names line and option
    """
    multi = _MultiFile(os.fspath(path))
    attributes = {
        **{file: _attributes(file, "lease-workload") for file in (*multi.traces, *multi.injections) if file},
        **{file: _attributes(file, "lease-annotations") for file in multi.annotations if file},
    }
    configurations: dict[str, Configuration] = {}
    for profile, trace, annotation, injection in product(
        multi.profiles, multi.traces, multi.annotations, multi.injections
    ):
        name = f"{profile}_{_stem(trace)}" + "".join(f"+{_stem(file)}" for file in (injection, annotation) if file)
        if name in configurations:
            raise multi.error(_MULTI, "", f"two configurations would be called {name!r}; rename one of the files")
        labels = (profile, *("" if file is None else _stem(file) for file in (trace, annotation, injection)))
        gathered = dict(zip(_LABELS, labels, strict=True))
        for file in (trace, injection, annotation):
            gathered.update({} if file is None else attributes[file])
        configurations[name] = multi.configuration(name, profile, (trace, annotation, injection), gathered)
    return tuple(configurations.values())


class _MultiFile:
    """The file with its profiles and lists of files."""

    def __init__(self, path: str) -> None:
        self._path = path
        lines = [line for _, line in read_lines(path)]
        self._parser, self._lines = parse_sections(path, lines), option_lines(lines)
        if not self._parser.has_section(_MULTI):
            raise InputFileError(path, None, "is not a multi-configuration: it has no section [multi]")
        self._check_options()
        #: Profile -> its sections, in the order of the file.
        self.profiles: dict[str, None] = {}
        for section in self._parser.sections():
            if section != _MULTI:
                self._check_section(section)
        if not self.profiles:
            raise self.error(_MULTI, "", "the file has no profile; add a section such as [myprofile:scheduling]")
        self.traces = tuple(self._files("tracedir", "tracefiles"))
        if not self.traces:
            raise self.error(_MULTI, "tracefiles", "[multi] lacks 'tracefiles'; name at least one")
        #: Files; None stands for configurations without one.
        self.annotations = self._with_none("annotation")
        self.injections = self._with_none("injection")

    def error(self, section: str, option: str, problem: str) -> InputFileError:
        """Return an error about an option, with the line of the option or else of its section."""
        return InputFileError(self._path, self._lines.get((section, option), self._lines.get((section, ""))), problem)

    def configuration(
        self, name: str, profile: str, files: tuple[Path, Path | None, Path | None], attributes: Mapping[str, str]
    ) -> Configuration:
        """Return one configuration.

        :param files: trace, annotations and injection
        """
        merged, lines = new_parser(), {}
        for section in self._parser.sections():
            owner, _, plain = section.partition(":")
            if owner not in (_COMMON, profile):
                continue
            if not merged.has_section(plain):
                merged.add_section(plain)
            lines[plain, ""] = self._lines[section, ""]
        for owner in (_COMMON, profile):
            for plain in merged.sections():
                if self._parser.has_section(f"{owner}:{plain}"):
                    for option, text in self._parser.items(f"{owner}:{plain}"):
                        merged.set(plain, option, text)
                        lines[plain, option] = self._lines[f"{owner}:{plain}", option]
        said = dict(attributes)
        for pair in merged.get("accounting", "attributes", fallback="").split(","):
            key, equals, value = pair.partition("=")
            if equals:
                said[key.strip()] = value.strip()
        self._set_derived_options(merged, name, files, said)
        written = io.StringIO()
        merged.write(written)
        return Configuration(name, interpret(self._path, merged, lines), said, written.getvalue())

    def _set_derived_options(
        self,
        merged: configparser.RawConfigParser,
        name: str,
        files: tuple[Path, Path | None, Path | None],
        attributes: Mapping[str, str],
    ) -> None:
        """Set the options that follow from [multi]."""
        for section in ("tracefile", "accounting"):
            if not merged.has_section(section):
                merged.add_section(section)
        for option, file in zip(("tracefile", "annotationfile", "injectionfile"), files, strict=True):
            if file is not None:
                # Absolute, because a configuration may be written to any folder.
                merged.set("tracefile", option, str(file.absolute()))
        if self._parser.has_option(_MULTI, "datadir"):
            folder = resolved_path(self._parser.get(_MULTI, "datadir"), self._path)
            merged.set("accounting", "datafile", str(folder.absolute() / f"{name}.dat"))
        for key, value in attributes.items():
            # Haizea splits the line at commas and equal signs, and takes a semicolon for its end.
            if re.search(r"[,=;\n]", key + value):
                problem = (
                    f"the attribute {key!r} of {name} is {value!r}; it must have no comma, semicolon or equal sign"
                )
                raise self.error(_MULTI, "", problem)
        merged.set("accounting", "attributes", ",".join(f"{key}={value}" for key, value in attributes.items()))

    def _check_options(self) -> None:
        for option in self._parser.options(_MULTI):
            if option not in _OPTIONS:
                raise self.error(_MULTI, option, f"[multi] has no option {option!r}; known: {', '.join(_OPTIONS)}")

    def _check_section(self, section: str) -> None:
        profile, colon, plain = section.partition(":")
        if not colon or not plain or not _PROFILE.fullmatch(profile) or profile == _MULTI:
            problem = f"[{section}] is none of [multi], [common:<section>] and [<profile>:<section>]"
            raise self.error(section, "", f"{problem}; a profile's name has letters, digits and . + - _")
        for option in self._parser.options(section):
            if (plain, option) in _DECIDED:
                raise self.error(section, option, f"{option!r} follows from [multi]; remove it here")
        if profile != _COMMON:
            self.profiles[profile] = None

    def _flag(self, option: str) -> bool:
        try:
            return self._parser.getboolean(_MULTI, option, fallback=False)
        except ValueError:
            problem = f"[multi] {option}: must be true or false, not {self._parser.get(_MULTI, option)!r}"
            raise self.error(_MULTI, option, problem) from None

    def _with_none(self, kind: str) -> tuple[Path | None, ...]:
        found = tuple(self._files(f"{kind}dir", f"{kind}files"))
        if self._flag(f"skip-no-{kind}"):
            if not found:
                problem = f"'skip-no-{kind}' leaves nothing to run: [multi] names no {kind}files"
                raise self.error(_MULTI, f"skip-no-{kind}", problem)
            return found
        return (*found, None)

    def _files(self, folder_option: str, option: str) -> Iterator[Path]:
        text = self._parser.get(_MULTI, folder_option, fallback="")
        folder = resolved_path(text, self._path)
        for word in self._parser.get(_MULTI, option, fallback="").split():
            if re.search(r"[*?\[]", word):
                found = sorted(folder.glob(word))
                if not found:
                    raise self.error(_MULTI, option, f"[multi] {option}: no file in {folder} matches {word!r}")
                yield from found
            elif (folder / word).is_file():
                yield folder / word
            elif word in shipped_names() and option != "annotationfiles":
                yield shipped_path(word)
            else:
                raise self.error(_MULTI, option, f"[multi] {option}: there is no file {str(folder / word)!r}")


def _stem(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return Path(name).stem


def _attributes(path: Path, root: str) -> Mapping[str, str]:
    """Return the attributes of a workload or of annotations; only XML files have any."""
    if is_xml(path):
        for element in stream_elements(path, root, containers=("lease-requests",)):
            if element.tag == "attributes":
                return read_attributes(element)
            if element.tag in ("lease-request", "lease-annotation"):
                break
    return {}
