"""The configured login of the calendar page."""

from __future__ import annotations

import ssl

from keystoneauth1 import exceptions, loading
from keystonemiddleware.opts import list_auth_token_opts
from oslo_config import cfg

from lease_scheduler.api.login.routes import Login
from lease_scheduler.api.login.settings import LoginSettings
from lease_scheduler.cmd.keystone import KeystoneIdentity
from lease_scheduler.cmd.page import websso_choices, websso_origin
from lease_scheduler.model.errors import InvalidValueError


def configured_login(conf: cfg.ConfigOpts, threads: int) -> Login | None:
    """Return the login that the page offers, or None.

    :param threads: number of requests that the process serves at the same time
    :raises InvalidValueError: an option of group ``page`` is wrong
    """
    group = conf.page
    origin = websso_origin(conf)
    if not group.login or conf.api.auth_strategy != "keystone":
        return None
    settings = LoginSettings(
        default_domain=group.default_domain,
        websso=websso_choices(conf),
        websso_origin=origin,
        # Half of the threads keep answering other requests while Keystone is slow.
        concurrent=max(1, threads // 2),
    )
    for name, options in list_auth_token_opts():
        conf.register_opts(options, group=name)
    url = group.auth_url or _service_url(conf)
    return Login(settings, KeystoneIdentity(url, _verification(conf), group.timeout, _certificate(conf)))


def _service_url(conf: cfg.ConfigOpts) -> str:
    """Return the URL of Keystone that keystonemiddleware uses."""
    group = conf.keystone_authtoken
    if not (group.auth_type or group.auth_section):
        raise InvalidValueError("keystone_authtoken.auth_type", "is needed with [api] auth_strategy = keystone")
    try:
        plugin = loading.load_auth_from_conf_options(conf, "keystone_authtoken")
    except exceptions.ClientException as error:
        raise InvalidValueError("keystone_authtoken", str(error)) from error
    url = getattr(plugin, "auth_url", None) or group.www_authenticate_uri
    if not url:
        raise InvalidValueError("page.auth_url", "is needed, because [keystone_authtoken] has no auth_url")
    return str(url)


def _verification(conf: cfg.ConfigOpts) -> bool | str:
    """Return the value of the parameter ``verify`` of requests."""
    insecure = conf.page.insecure
    if conf.keystone_authtoken.insecure if insecure is None else insecure:
        return False
    file = conf.page.cafile or conf.keystone_authtoken.cafile
    if conf.page.cafile:
        try:
            ssl.create_default_context(cafile=conf.page.cafile)
        except OSError as error:
            raise InvalidValueError("page.cafile", f"{conf.page.cafile} cannot be read: {error.strerror}") from error
    return file or True


def _certificate(conf: cfg.ConfigOpts) -> tuple[str, str] | str | None:
    """Return the client certificate of keystonemiddleware, with its key if that is in another file."""
    group = conf.keystone_authtoken
    return (group.certfile, group.keyfile) if group.certfile and group.keyfile else group.certfile
