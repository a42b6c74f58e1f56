"""INI files, as those of generators of workloads and of worlds. Errors name the line of the option or section."""

from __future__ import annotations

import configparser
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.simulation.formats.files import read_lines

_Value = TypeVar("_Value")


class IniFile:
    """An INI file: sections with options, and comments after ``;``.

    :param path: the file, plain or compressed
    :raises InputFileError: the file cannot be read, or is no INI file; the error names the line
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._lines = [text for _, text in read_lines(path)]
        # No section is special, since no header can contain the name of the default section.
        self._parser = configparser.ConfigParser(
            interpolation=None, inline_comment_prefixes=(";",), default_section="\n"
        )
        try:
            self._parser.read_string("\n".join(self._lines), source=path)
        except configparser.MissingSectionHeaderError as error:
            raise InputFileError(path, error.lineno, "an option stands before the first '[section]'") from error
        except configparser.ParsingError as error:
            line = error.errors[0][0]
            raise InputFileError(path, line, "is neither '[section]' nor 'option = value'") from error
        except (configparser.DuplicateSectionError, configparser.DuplicateOptionError) as error:
            what = getattr(error, "option", error.section)
            raise InputFileError(path, error.lineno, f"{what!r} is there twice; leave one") from error

    def sections(self) -> Sequence[str]:
        """Return the names of the sections, in the order of the file."""
        return self._parser.sections()

    def check_options(self, section: str, known: Collection[str]) -> None:
        """Refuse options of a section that are unknown.

        :raises InputFileError: there is one
        """
        for option in self._parser[section]:
            if option not in known:
                raise self.error(section, option, f"is unknown; [{section}] has {', '.join(sorted(known))}")

    def unknown(self, section: str, known: Sequence[str]) -> InputFileError:
        """Return an error about a section that no such file has.

        :param known: those that it may have
        """
        problem = f"unknown section [{section}]; known are {', '.join(known)}"
        return InputFileError(self.path, self._line(section), problem)

    def error(self, section: str, option: str | None, problem: str) -> InputFileError:
        """Return an error about an option or, without one, about a section."""
        where = f"[{section}]" if option is None else f"[{section}] {option}"
        return InputFileError(self.path, self._line(section, option), f"{where}: {problem}")

    def has_section(self, section: str) -> bool:
        """Return whether there is such a section."""
        return self._parser.has_section(section)

    def has(self, section: str, option: str) -> bool:
        """Return whether there is such an option."""
        return self._parser.has_option(section, option)

    def section(self, section: str) -> Mapping[str, str]:
        """Return the options of a section as text."""
        return self._parser[section]

    def convert(self, section: str, option: str, parse: Callable[[str], _Value]) -> _Value:
        """Return the parsed value of a required option.

        :raises InputFileError: the section or the option is missing, or the value is wrong
        """
        if not self.has_section(section):
            raise InputFileError(self.path, None, f"lacks the section [{section}]; add it")
        if not self.has(section, option):
            raise self.error(section, option, "is missing; give it")
        try:
            return parse(self._parser[section][option].strip())
        except InvalidValueError as error:
            raise self.error(section, option, error.problem) from error

    def within(self, section: str, make: Callable[[], _Value]) -> _Value:
        """Return what ``make`` returns; an error in a field becomes one about the option with the field's name."""
        try:
            return make()
        except InvalidValueError as error:
            raise self.error(section, error.field, error.problem) from error

    def _line(self, section: str, option: str | None = None) -> int | None:
        """Return the 1-based line of an option, or else of its section, or None."""
        found: int | None = None
        current: str | None = None
        for number, text in enumerate(self._lines, start=1):
            header = configparser.ConfigParser.SECTCRE.match(text.strip())
            if header is not None:
                current = header["header"]
                if current == section:
                    found = number
            elif (
                current == section
                and option is not None
                and re.match(rf"\s*{re.escape(option)}\s*[:=]", text, re.IGNORECASE)
            ):
                return number
        return found
