"""Keystone, for the login of the calendar page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from keystoneauth1 import exceptions
from keystoneauth1.access import AccessInfoV3
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.login.interfaces import (
    ApplicationCredential,
    Grant,
    IdentityUnavailableError,
    Password,
    Project,
)
from lease_scheduler.cmd.page import versioned

LOG = logging.getLogger(__name__)

#: Message of Keystone for all wrong credentials. Other messages, such as that of an expired password, are shown.
_USUAL = "The request you have made requires authentication"
_LONGEST_MESSAGE = 300

_UNAVAILABLE = "The identity service does not answer at present; try again"


class KeystoneIdentity:
    """Keystone (see ``api.login.interfaces.Identity``). Each request has a connection of its own.

    :param url: URL of Keystone, with or without version
    :param verify: whether certificates are verified, or the file with those of the authorities
    :param timeout: maximum seconds of each request
    :param certificate: certificate of the client, in the form of the parameter ``cert`` of requests
    """

    def __init__(
        self, url: str, verify: bool | str, timeout: float, certificate: tuple[str, str] | str | None = None
    ) -> None:
        self._url = versioned(url)
        self._verify = verify
        self._timeout = timeout
        self._certificate = certificate

    def by_password(self, credentials: Password, client: str | None) -> Grant:
        """Return an unscoped token."""
        user = {"username": credentials.user, "user_domain_name": credentials.domain}
        methods: list[Any] = [v3.PasswordMethod(password=credentials.password, **user)]
        if credentials.passcode is not None:
            methods.append(v3.TOTPMethod(passcode=credentials.passcode, **user))
        plugin = v3.Auth(self._url, methods, unscoped=True, include_catalog=False)
        return self._grant(plugin, client, "Keystone does not accept this user name, domain and password")

    def by_application_credential(self, credentials: ApplicationCredential, client: str | None) -> Grant:
        """Return a token for the project of the credential."""
        method = v3.ApplicationCredentialMethod(
            application_credential_secret=credentials.secret,
            application_credential_id=credentials.id,
            application_credential_name=credentials.name,
            username=credentials.user,
            user_domain_name=credentials.domain,
        )
        plugin = v3.Auth(self._url, [method], include_catalog=False)
        return self._grant(plugin, client, "Keystone does not accept this application credential")

    def scoped(self, token: str, project_id: str, client: str | None) -> Grant:
        """Return a token for a project, in exchange for an unscoped one."""
        method = v3.TokenMethod(token=token)
        plugin = v3.Auth(self._url, [method], project_id=project_id, include_catalog=False)
        return self._grant(plugin, client, "Keystone does not accept the token of this login; log in again")

    def projects(self, token: str, client: str | None) -> tuple[Project, ...]:
        """Return the enabled projects in which the user has a role, sorted by name."""
        with self._asking(client) as ask:
            found = ask("GET", "/auth/projects", token).json()["projects"]
            enabled = [Project(each["id"], each["name"]) for each in found if each.get("enabled", True)]
            return tuple(sorted(enabled, key=lambda project: (project.name.casefold(), project.id)))

    def default_project(self, token: str, client: str | None) -> str | None:
        """Return the id of the user's default project, or None."""
        try:
            with self._asking(client) as ask:
                about = ask("GET", "/auth/tokens?nocatalog", token, token).json()["token"]
                user = ask("GET", f"/users/{quote(about['user']['id'], safe='')}", token).json()["user"]
                return str(user["default_project_id"])
        except (ApiError, IdentityUnavailableError):
            return None

    def revoke(self, token: str, client: str | None) -> None:
        """Revoke a token. Does nothing if it is already invalid."""
        try:
            with self._asking(client) as ask:
                ask("DELETE", "/auth/tokens", token, token)
        except ApiError as error:
            if error.code != 401:
                raise

    def _grant(self, plugin: v3.Auth, client: str | None, refusal: str) -> Grant:
        with _plain_errors(refusal), self._session(client) as session:
            found = plugin.get_access(session)
            project = Project(found.project_id, found.project_name or "") if found.project_id else None
            if not isinstance(found, AccessInfoV3) or found.auth_token is None or found.expires is None:
                raise ValueError("no token of Keystone")
            expires = found.expires.strftime("%Y-%m-%dT%H:%M:%SZ")
            return Grant(found.auth_token, found.username or "", found.user_domain_name or "", project, expires)

    @contextmanager
    def _asking(self, client: str | None) -> Iterator[Callable[..., Any]]:
        """Yield a function that sends a request: (method, path, token of the user, token that the request is about)."""
        refusal = "Keystone does not accept the token of this login; log in again"
        with _plain_errors(refusal), self._session(client) as session:

            def ask(method: str, path: str, token: str, subject: str | None = None) -> Any:
                headers = {"X-Auth-Token": token} | ({} if subject is None else {"X-Subject-Token": subject})
                return session.request(f"{self._url}{path}", method, authenticated=False, headers=headers)

            yield ask

    @contextmanager
    def _session(self, client: str | None) -> Iterator[Session]:
        session = Session(
            verify=self._verify,
            cert=self._certificate,
            timeout=self._timeout,
            original_ip=client,
            app_name="lease-scheduler",
        )
        try:
            yield session
        finally:
            session.session.close()


@contextmanager
def _plain_errors(refusal: str) -> Iterator[None]:
    """Turn the errors of keystoneauth into those of the API.

    :param refusal: message if the credentials are wrong
    """
    try:
        yield
    except exceptions.MissingAuthMethods as error:
        raise _more_methods(error) from None
    except exceptions.HttpError as error:
        if error.http_status >= 500 or error.http_status == 429:
            LOG.warning("the identity service answered a login with %d", error.http_status)
            raise IdentityUnavailableError(_UNAVAILABLE) from None
        raise _refused(error, refusal) from None
    except exceptions.ClientException as error:
        LOG.warning("the identity service does not answer a login: %s", " ".join(str(error).split()))
        raise IdentityUnavailableError(_UNAVAILABLE) from None
    except (ValueError, LookupError, TypeError, AttributeError):
        # The answer is not one of Keystone, but for example the error page of a proxy.
        LOG.warning("the identity service answered a login with something that is not its interface")
        raise IdentityUnavailableError(_UNAVAILABLE) from None


def _more_methods(error: exceptions.MissingAuthMethods) -> ApiError:
    """Return the error for a user who needs more than a password."""
    needed = {method for rule in error.required_auth_methods for method in rule} - set(error.methods)
    if any(set(rule) - set(error.methods) == {"totp"} for rule in error.required_auth_methods):
        return ApiError(401, "Keystone also asks for a one-time passcode", "passcode")
    return ApiError(
        401, f"Keystone also asks for {', '.join(sorted(needed))}, which this page does not offer; paste a token"
    )


def _refused(error: exceptions.HttpError, refusal: str) -> ApiError:
    message = " ".join(str(error.message or "").split())[:_LONGEST_MESSAGE]
    if error.http_status == 403:
        return ApiError(403, f"Keystone refuses: {message}" if message else "Keystone refuses")
    # Keystone answers 404 to a credential that does not exist, and 400 to a name that is not valid.
    is_told = error.http_status == 401 and message and not message.startswith(_USUAL)
    return ApiError(401, f"{refusal}. It says: {message}" if is_told else refusal)
