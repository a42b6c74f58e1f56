"""Routes of the login, which the calendar page uses."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from threading import BoundedSemaphore
from typing import Any

import flask

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.login import bodies, sessions, websso
from lease_scheduler.api.login.interfaces import Identity, IdentityUnavailableError
from lease_scheduler.api.login.sessions import Session
from lease_scheduler.api.login.settings import LoginSettings

LOG = logging.getLogger(__name__)

_PASSWORD = frozenset({"domain", "user", "password", "passcode", "project_id"})
_CREDENTIAL = frozenset({"id", "secret", "name", "user", "domain"})
_TOKEN = frozenset({"token", "project_id"})
_TOKENS = frozenset({"tokens"})

#: Values of the header ``Sec-Fetch-Site`` of requests that the page itself sends.
_OWN = frozenset({"same-origin", "none"})


@dataclass(frozen=True)
class Login:
    """The login that a service offers.

    :ivar identity: the identity service
    """

    settings: LoginSettings
    identity: Identity


def add_routes(app: flask.Flask, login: Login | None, frame_ancestors: Sequence[str] = ()) -> None:
    """Add the routes.

    :param login: None if people cannot log in; the page then learns that
    :param frame_ancestors: sites that may show the page in a frame, and hand it a session there
    """
    offer = {**_offer(None if login is None else login.settings), "frame_ancestors": list(frame_ancestors)}
    _add(app, "GET", "/login", lambda: _answer(offer))
    if login is None:
        return
    handlers = _Handlers(login)
    _add(app, "POST", "/login/password", handlers.password)
    _add(app, "POST", "/login/application-credential", handlers.application_credential)
    _add(app, "POST", "/login/token", handlers.token)
    _add(app, "POST", "/login/end", handlers.end)
    _add(app, "POST", websso.PATH, handlers.websso)


def _add(app: flask.Flask, method: str, path: str, view: Callable[[], flask.Response]) -> None:
    app.add_url_rule(
        path, endpoint=f"{method} {path}", view_func=view, methods=[method], provide_automatic_options=False
    )


def _offer(settings: LoginSettings | None) -> Mapping[str, Any]:
    if settings is None:
        return {"login": False}
    choices = [{"label": choice.label, "url": choice.url} for choice in settings.websso]
    return {"login": True, "default_domain": settings.default_domain, "websso": choices}


class _Handlers:
    """Answers the requests of the page."""

    def __init__(self, login: Login) -> None:
        self._settings = login.settings
        self._identity = login.identity
        self._places = BoundedSemaphore(login.settings.concurrent)

    def password(self) -> flask.Response:
        """Log in by password."""
        body = _body(_PASSWORD)
        credentials, last, client = bodies.password(body), bodies.project_id(body), _client()
        with self._place(), _logged(f"{credentials.user!a} of domain {credentials.domain!a}", client):
            return _session(sessions.by_password(self._identity, credentials, last, client))

    def application_credential(self) -> flask.Response:
        """Log in by application credential."""
        credentials, client = bodies.application_credential(_body(_CREDENTIAL)), _client()
        who = f"{credentials.user!a} of domain {credentials.domain!a} by " if credentials.id is None else ""
        with self._place(), _logged(f"{who}application credential {credentials.id or credentials.name!a}", client):
            return _session(sessions.by_application_credential(self._identity, credentials, client))

    def token(self) -> flask.Response:
        """Exchange an unscoped token, which the page has from WebSSO or from an earlier login, for a session."""
        body = _body(_TOKEN)
        token, chosen, client = bodies.token(body), bodies.project_id(body), _client()
        with self._place(), _logged("the owner of a token", client):
            return _session(sessions.by_token(self._identity, token, chosen, client))

    def end(self) -> flask.Response:
        """Log out."""
        tokens = bodies.tokens(_body(_TOKENS))
        with self._place():
            sessions.end(self._identity, tokens, _client())
        return _uncached(flask.Response(status=204))

    def websso(self) -> flask.Response:
        """Hand the token that Keystone's page posts to the tab."""
        flask.request.max_content_length = bodies.MAXIMUM_BODY
        token = flask.request.form.get("token")
        page = websso.page_with(flask.request.headers.get("Origin"), self._settings.websso_origin, token)
        return _uncached(flask.Response(page, content_type="text/html; charset=utf-8"))

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Occupy one of the places for logins.

        :raises IdentityUnavailableError: all of them are occupied
        """
        if not self._places.acquire(blocking=False):
            raise IdentityUnavailableError("Too many people are logging in at this moment; try again")
        try:
            yield
        finally:
            self._places.release()


@contextmanager
def _logged(who: str, client: str | None) -> Iterator[None]:
    """Log who has logged in, or has failed to."""
    try:
        yield
    except ApiError as error:
        LOG.warning("login of %s from %s failed with %d", who, client, error.code)
        raise
    LOG.info("login of %s from %s", who, client)


def _body(known: frozenset[str]) -> bodies.Body:
    # The content type alone keeps forms away; browsers that send this header keep other requests away too.
    if flask.request.headers.get("Sec-Fetch-Site", "none") not in _OWN:
        raise ApiError(403, "Only the calendar page may log people in")
    flask.request.max_content_length = bodies.MAXIMUM_BODY
    return bodies.read_body(flask.request.get_data(cache=False), flask.request.mimetype, known)


def _client() -> str | None:
    """Return the address of the client, or None if a proxy sends something else."""
    try:
        return str(ip_address(flask.request.remote_addr or ""))
    except ValueError:
        return None


def _session(session: Session) -> flask.Response:
    return _answer(session.document())


def _answer(document: Mapping[str, Any]) -> flask.Response:
    return _uncached(flask.Response(json.dumps(document), content_type="application/json"))


def _uncached(response: flask.Response) -> flask.Response:
    response.headers["Cache-Control"] = "no-store"
    return response
