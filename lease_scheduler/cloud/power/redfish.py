"""The driver ``redfish``, for management controllers with the Redfish standard of DMTF."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import yaml

from lease_scheduler.cloud.power.base import PowerDriverOptions, PowerError
from lease_scheduler.model.errors import InvalidValueError

_OPTION = "power.redfish_hosts"
_KEYS = frozenset({"address", "user", "password", "system"})


class RedfishPower:
    """Driver that calls the controller of each host with sushy.

    If a host is not known, the file of the hosts is read again, so that hosts can be added at any time.

    :raises InvalidValueError: sushy is not installed, or the file of the hosts is missing, open to others, or wrong
    """

    def __init__(self, options: PowerDriverOptions) -> None:
        try:
            import sushy
        except ImportError:
            raise InvalidValueError("power.driver", "redfish needs sushy; install lease-scheduler[redfish]") from None
        self._sushy: Any = sushy
        self._path = Path(str(options.values["redfish_hosts"]))
        authorities = str(options.values["redfish_cafile"])
        if authorities and not Path(authorities).is_file():
            raise InvalidValueError("power.redfish_cafile", f"there is no file {authorities}")
        self._verify: str | bool = authorities or True
        self._timeout: float = options.values["driver_timeout"]
        self._hosts = _read(self._path)
        self._lock = Lock()
        self._systems: dict[str, Any] = {}

    def is_on(self, host: str) -> bool | None:
        """See ``PowerDriver.is_on``. A host that is going on or off counts as on."""
        found: bool | None = self._ask(host, self._state)
        return found

    def turn_on(self, host: str) -> None:
        """See ``PowerDriver.turn_on``."""
        self._reset(host, self._sushy.RESET_TYPE_ON)

    def turn_off(self, host: str) -> None:
        """See ``PowerDriver.turn_off``."""
        self._reset(host, self._sushy.RESET_TYPE_GRACEFUL_SHUTDOWN)

    def _state(self, system: Any) -> bool | None:
        system.refresh(force=True)
        states = self._sushy.PowerState
        known = {states.ON: True, states.POWERING_ON: True, states.OFF: False, states.POWERING_OFF: True}
        return known.get(system.power_state)

    def _reset(self, host: str, kind: Any) -> None:
        self._ask(host, lambda system: system.reset_system(kind))

    def _ask(self, host: str, question: Any) -> Any:
        try:
            return question(self._system(host))
        except PowerError:
            raise
        except Exception as error:
            # A session may have ended, or the controller was replaced: log in again next time.
            with self._lock:
                self._systems.pop(host, None)
            raise PowerError(f"controller of {host}: {error}") from error

    def _system(self, host: str) -> Any:
        with self._lock:
            known = self._systems.get(host)
        if known is not None:
            return known
        if host not in self._hosts:
            self._hosts = _read(self._path)
        entry = self._hosts.get(host)
        if entry is None:
            raise PowerError(f"host {host} is not in {self._path}")
        root = self._sushy.Sushy(
            entry["address"],
            auth=self._sushy.auth.BasicAuth(entry["user"], entry["password"]),
            verify=self._verify,
            server_side_retries=0,
            connect_timeout=self._timeout,
            read_timeout=self._timeout,
        )
        found = root.get_system(entry["system"]) if "system" in entry else root.get_system()
        with self._lock:
            self._systems[host] = found
        return found


def _read(path: Path) -> Mapping[str, Mapping[str, str]]:
    """Read the file of the hosts: name of each host -> its controller.

    :raises InvalidValueError: the file is missing or wrong, or others may access it
    """
    try:
        mode = path.stat().st_mode
        content = yaml.safe_load(path.read_text())
    except OSError as error:
        raise InvalidValueError(_OPTION, f"{path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError) as error:
        # The error itself may quote passwords.
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f", see line {mark.line + 1}"
        raise InvalidValueError(_OPTION, f"{path} is not YAML{where}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InvalidValueError(_OPTION, f"{path} has passwords, and others may use it: chmod 600 {path}")
    if not isinstance(content, dict):
        raise InvalidValueError(_OPTION, f"{path} must map names of hosts to their controllers")
    for host, entry in content.items():
        _check(path, str(host), entry)
    return {str(host): entry for host, entry in content.items()}


def _check(path: Path, host: str, entry: Any) -> None:
    if not isinstance(entry, dict) or not _KEYS - {"system"} <= entry.keys() <= _KEYS:
        raise InvalidValueError(_OPTION, f"{path}: {host} must have address, user and password, and may have system")
    if not all(isinstance(value, str) for value in entry.values()):
        raise InvalidValueError(_OPTION, f"{path}: {host}: all values must be text; put them in quotes")
    try:
        address = urlsplit(entry["address"])
    except ValueError:
        raise InvalidValueError(_OPTION, f"{path}: {host}: the address is not a URL") from None
    if address.scheme != "https" or not address.hostname:
        raise InvalidValueError(
            _OPTION, f"{path}: {host}: the address must begin with https:// and a host, as the password is sent to it"
        )
    if "@" in address.netloc:
        # Addresses are logged.
        raise InvalidValueError(_OPTION, f"{path}: {host}: the address must not have a user or a password")
