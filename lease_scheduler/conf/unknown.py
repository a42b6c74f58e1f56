"""Check for options in configuration files that have no effect, because they are misspelt or in the wrong group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from pathlib import Path

from keystoneauth1 import loading
from oslo_config import cfg

from lease_scheduler.conf import enforcement, gateway, haizea, nova, pools, power
from lease_scheduler.conf.opts import list_opts
from lease_scheduler.model.errors import InvalidValueError

#: Groups with credentials for Keystone. Their valid options depend on ``auth_type``.
_WITH_CREDENTIALS = frozenset({enforcement.GROUP.name, haizea.GROUP.name, nova.GROUP.name, power.GROUP.name})

#: Similarity (difflib) from which an unknown group counts as a misspelt group of ours. ``service_user``, a group that
#: may have credentials, is less similar to our ``service`` than that.
_ALIKE = 0.8

#: Prefix of groups that are named in an option -> that option, and what is named there.
_NAMED = {pools.PREFIX: ("[pools] names", "pool"), gateway.PREFIX: ("[gateway] members", "site")}

#: Group -> option -> its values as texts in the file.
_Sections = dict[str, dict[str, list[str]]]


def files_of(conf: cfg.ConfigOpts) -> list[Path]:
    """Return the files from which a configuration was read, in the order of reading."""
    named = [Path(name).expanduser() for name in conf.config_file or ()]
    folders = [Path(name).expanduser() for name in conf.config_dir or ()]
    return [*named, *(file for folder in folders for file in sorted(folder.glob("*.conf")))]


def refuse_unknown_options(files: Iterable[Path]) -> None:
    """Refuse unknown options in our groups, and groups whose names are nearly those of ours.

    Groups of libraries are not checked, because only the libraries know their options.

    :raises InvalidValueError: an option or group is unknown; the error names the file and what is probably meant
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
            elif group.startswith(tuple(_NAMED)) and options:
                prefix, named, what = next((key, *value) for key, value in _NAMED.items() if group.startswith(key))
                names = [name.removeprefix(prefix) for name in known if name.startswith(prefix)]
                has = ", ".join(sorted(names)) or f"no {what}"
                raise InvalidValueError(f"{file}: [{section}]", f"{named} has {has}; add the {what} there")
            elif section not in sections_with_credentials:
                close = get_close_matches(group, known, 1, _ALIKE)
                if close:
                    raise InvalidValueError(f"{file}: [{section}]", f"there is no such group; is [{close[0]}] meant?")


def _sections(file: Path) -> _Sections:
    sections: _Sections = {}
    try:
        cfg.ConfigParser(str(file), sections).parse()
    except (OSError, cfg.ParseError):
        # oslo.config reports this error better, when the program reads the options.
        return {}
    return sections


def _names(files: Iterable[_Sections], group: str, option: str) -> list[str]:
    """Return the names in a list, or the keys in a table. The last file with the option counts, as in oslo.config."""
    names: list[str] = []
    for sections in files:
        for text in sections.get(group, {}).get(option, []):
            names = [name for each in text.split(",") if (name := each.partition(":")[0].strip())]
    return names


def _known(files: Collection[_Sections]) -> dict[str, set[str]]:
    """Return our groups and the names of their options, including those of authentication plug-ins."""
    known: defaultdict[str, set[str]] = defaultdict(set)
    named = [
        *pools.groups_of(_names(files, pools.GROUP.name, "names")),
        *gateway.groups_of(_names(files, gateway.GROUP.name, "members")),
    ]
    for group, options in [*list_opts(), *named]:
        for option in [*options, *(loading.get_auth_common_conf_options() if group.name in _WITH_CREDENTIALS else ())]:
            known[group.name] |= all_names(option)
    types: defaultdict[str, set[str]] = defaultdict(lambda: {"v3password"})
    for sections in files:
        for section, options_given in sections.items():
            types[section.lower()].update(options_given.get("auth_type", ()))
    for group_name in _WITH_CREDENTIALS:
        # A plug-in that does not exist is reported when the program logs in.
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
    elsewhere = sorted(
        name for name, options in known.items() if option in options and not name.startswith(tuple(_NAMED))
    )
    if elsewhere:
        return f"there is no such option in this group; it belongs to [{elsewhere[0]}]"
    return f"there is no such option; known are {', '.join(sorted(known[group]))}"
