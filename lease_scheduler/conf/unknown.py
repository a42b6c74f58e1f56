"""Finds options in configuration files that nobody reads, because they are misspelt or in the wrong group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from keystoneauth1 import loading
from oslo_config import cfg

from lease_scheduler.conf import enforcement, haizea, nova
from lease_scheduler.conf.opts import list_opts
from lease_scheduler.model.errors import InvalidValueError

#: Groups that have credentials for Keystone: what is read there depends on ``auth_type``.
_WITH_CREDENTIALS = frozenset({enforcement.GROUP.name, haizea.GROUP.name, nova.GROUP.name})

#: How alike the name of a group and one of ours are if ours is meant (difflib). ``service`` and ``service_user``, which
#: may have credentials, are less alike.
_ALIKE = 0.8

#: Group -> option -> texts, as they stand in a file.
_Sections = dict[str, dict[str, list[str]]]


def files_of(conf: cfg.ConfigOpts) -> list[Path]:
    """Return the files that a configuration was read from, in that order."""
    named = [Path(name).expanduser() for name in conf.config_file or ()]
    folders = [Path(name).expanduser() for name in conf.config_dir or ()]
    return [*named, *(file for folder in folders for file in sorted(folder.glob("*.conf")))]


def refuse_unknown_options(files: Iterable[Path]) -> None:
    """Refuse an option of one of our groups that does not exist, and a group that is nearly one of ours.

    Groups of libraries are left alone: what they read is known to them only.

    :raises InvalidValueError: naming file, group and option, and what is probably meant
    """
    read = {file: _sections(file) for file in files if file.is_file()}
    known = _known(read.values())
    sections_with_credentials = {
        text for sections in read.values() for options in sections.values() for text in options.get("auth_section", ())
    }
    for file, sections in read.items():
        for section, options in sections.items():
            group = section if section == "DEFAULT" else section.lower()
            if group in known:
                for option in options:
                    if option not in known[group]:
                        raise InvalidValueError(f"{file}: [{section}] {option}", _hint(group, option, known))
            elif section not in sections_with_credentials:
                close = get_close_matches(group, known, 1, _ALIKE)
                if close:
                    raise InvalidValueError(f"{file}: [{section}]", f"there is no such group; is [{close[0]}] meant?")


def _sections(file: Path) -> _Sections:
    sections: _Sections = {}
    try:
        cfg.ConfigParser(str(file), sections).parse()
    except (OSError, cfg.ParseError):
        # Who reads the options says so better.
        return {}
    return sections


def _known(files: Iterable[_Sections]) -> dict[str, set[str]]:
    """Our groups and the names of their options, those with which one may log in among them."""
    known: defaultdict[str, set[str]] = defaultdict(set)
    for group, options in list_opts():
        for option in [*options, *(loading.get_auth_common_conf_options() if group.name in _WITH_CREDENTIALS else ())]:
            known[group.name] |= all_names(option)
    types: defaultdict[str, set[str]] = defaultdict(lambda: {"v3password"})
    for sections in files:
        for section, options_given in sections.items():
            types[section.lower()].update(options_given.get("auth_type", ()))
    for group_name in _WITH_CREDENTIALS:
        # A plug-in that does not exist is reported by the program that logs in with it.
        for auth_type in types[group_name] & loading.get_available_plugin_names():
            for option in loading.get_auth_plugin_conf_options(auth_type):
                known[group_name] |= all_names(option)
    return dict(known)


def all_names(option: cfg.Opt) -> set[str]:
    """Return the names by which oslo.config finds an option in its group, including deprecated ones."""
    return {option.dest, *(old.name for old in option.deprecated_opts if old.name)}


def _hint(group: str, option: str, known: dict[str, set[str]]) -> str:
    close = get_close_matches(option.replace("-", "_"), known[group], 1)
    if close:
        return f"there is no such option; is {close[0]} meant?"
    elsewhere = sorted(name for name, options in known.items() if option in options)
    if elsewhere:
        return f"there is no such option in this group; it belongs to [{elsewhere[0]}]"
    return f"there is no such option; known are {', '.join(sorted(known[group]))}"
