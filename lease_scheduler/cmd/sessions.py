"""Sessions with the credentials of a group of options."""

from __future__ import annotations

from pathlib import Path

from keystoneauth1 import loading
from keystoneauth1.exceptions import ClientException
from keystoneauth1.session import Session
from oslo_config import cfg

from lease_scheduler.model.errors import InvalidValueError


def session_of(conf: cfg.ConfigOpts, group: str, cafile: str, timeout: float | None = None) -> Session:
    """Return a session with the credentials of a group, if it has any. The session makes no connection yet.

    :param cafile: name of the option, in the group, with the file of CA certificates
    :param timeout: maximum seconds to wait for an answer; None for no limit
    :raises InvalidValueError: the credentials are incomplete, or the file of CA certificates does not exist
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
