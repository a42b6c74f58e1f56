"""The identity service: check of tokens, which distinguishes bad tokens from a failing service, and its adapter."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from keystoneauth1 import exceptions, loading
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystonemiddleware.auth_token import AuthProtocol, InvalidToken, ServiceError
from keystonemiddleware.opts import list_auth_token_opts
from oslo_config import cfg
from werkzeug.wrappers import Response

from lease_scheduler.api.errors import ApiError
from lease_scheduler.model.errors import InvalidValueError

Application = Callable[..., Iterable[bytes]]

#: Errors because of which a token cannot be checked: Keystone does not answer, or refuses this service's credentials.
_FAILURES = (
    exceptions.ConnectionError,
    exceptions.DiscoveryFailure,
    exceptions.EndpointNotFound,
    exceptions.RequestTimeout,
    ServiceError,
)

_RETRY_AFTER = 10


class _UncheckedError(Exception):
    """The identity service did not say whether a token is good."""


class _TokenCheck(AuthProtocol):  # type: ignore[misc]
    """Corrected check of keystonemiddleware, which treats tokens that it cannot check as bad tokens."""

    def fetch_token(self, token: str, **options: Any) -> Any:
        try:
            return super().fetch_token(token, **options)
        except InvalidToken as error:
            if isinstance(error.__context__, _FAILURES):
                raise _UncheckedError from error
            raise
        except _FAILURES as error:
            raise _UncheckedError from error


def with_tokens(app: Application, conf: cfg.ConfigOpts) -> Application:
    """Return the application with the check of tokens in front.

    A request without a good token reaches the application without an identity, and the application decides what is
    public. If a token cannot be checked, the answer is 503. The options are those of keystonemiddleware, in the group
    ``keystone_authtoken``.

    :raises InvalidValueError: the service has no credentials with which to check tokens
    """
    checked = _TokenCheck(app, {"oslo_config_config": conf, "delay_auth_decision": True})
    _check_credentials(conf)

    def serve(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            answer: Iterable[bytes] = checked(environ, start_response)
        except _UncheckedError:
            body = ApiError(503, "The identity service cannot check tokens at present; try again").body()
            refusal = Response(json.dumps(body), 503, {"Retry-After": str(_RETRY_AFTER)}, mimetype="application/json")
            answer = refusal(environ, start_response)
        return answer

    return serve


def identity_service(conf: cfg.ConfigOpts) -> Adapter:
    """Return the identity service, authenticated as the user that checks tokens. Nothing is asked yet.

    :raises InvalidValueError: the service has no credentials with which to check tokens
    """
    for name, options in list_auth_token_opts():
        conf.register_opts(options, group=name)
    _check_credentials(conf)
    group = conf.keystone_authtoken
    try:
        plugin = loading.load_auth_from_conf_options(conf, "keystone_authtoken")
    except exceptions.ClientException as error:
        raise InvalidValueError("keystone_authtoken", str(error)) from error
    certificate = (group.certfile, group.keyfile) if group.certfile and group.keyfile else group.certfile
    session = Session(plugin, verify=False if group.insecure else group.cafile or True, cert=certificate)
    return Adapter(
        session,
        service_type="identity",
        interface=group.interface,
        region_name=group.region_name,
        min_version="3",
        max_version="3.latest",
    )


def _check_credentials(conf: cfg.ConfigOpts) -> None:
    group = conf.keystone_authtoken
    if not (group.auth_type or group.auth_section):
        raise InvalidValueError("keystone_authtoken.auth_type", "is needed with [api] auth_strategy = keystone")
