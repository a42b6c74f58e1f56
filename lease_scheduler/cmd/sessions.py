"""Sessions with the credentials of a group of options."""

from __future__ import annotations

from pathlib import Path

from keystoneauth1 import loading
from keystoneauth1.exceptions import ClientException
from keystoneauth1.session import Session
from oslo_config import cfg

from lease_scheduler.model.errors import InvalidValueError


def session_of(conf: cfg.ConfigOpts, group: str, cafile: str, timeout: float | None = None) -> Session:
    """Return a session with the credentials of a group, if there are any; it connects to nothing yet.

    :param cafile: name of the option of the group with a file of authorities
    :param timeout: seconds that an answer may take; None waits for ever
    :raises InvalidValueError: the credentials are incomplete, or the file of authorities does not exist
    """
    loading.register_auth_conf_options(conf, group)
    try:
        auth = loading.load_auth_from_conf_options(conf, group)
    except ClientException as error:
        raise InvalidValueError(f"{group}.auth_type", str(error)) from error
    authorities = conf[group][cafile]
    if authorities and not Path(authorities).is_file():
        raise InvalidValueError(f"{group}.{cafile}", f"there is no file {authorities}")
    return Session(auth=auth, verify=authorities or True, timeout=timeout)
