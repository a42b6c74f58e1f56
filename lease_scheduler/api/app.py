"""The WSGI application: a thin layer of Flask between the table of routes and the handlers."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any

import flask
from oslo_policy import policy
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from lease_scheduler.api import access
from lease_scheduler.api.bodies import parse_body
from lease_scheduler.api.context import Caller, caller_of, nobody, request_id_of
from lease_scheduler.api.errors import INTERNAL_ERROR, ApiError, FrameworkError, forbidden, not_found
from lease_scheduler.api.interfaces import (
    EngineUnavailableError,
    Names,
    Reader,
    RefusedError,
    Sites,
    StoreFullError,
    StoreUnavailableError,
    Trusts,
)
from lease_scheduler.api.login.interfaces import IdentityUnavailableError
from lease_scheduler.api.login.routes import Login, add_routes
from lease_scheduler.api.matched_rules import MatchedRule
from lease_scheduler.api.metrics import ROUTE
from lease_scheduler.api.microversions import MINIMUM, SERVICE_TYPE, V1_2, header
from lease_scheduler.api.page_files import add_page, page_or, protection
from lease_scheduler.api.query import read_query
from lease_scheduler.api.request import Answer, ApiRequest, Route, Services
from lease_scheduler.api.routes import ROUTES
from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.api.validation import Problem, find_problems
from lease_scheduler.api.version_request import requested
from lease_scheduler.api.views.alternatives import show_alternatives
from lease_scheduler.engine.interfaces import Clock
from lease_scheduler.model.documents import Document
from lease_scheduler.records.json_text import to_json
from lease_scheduler.rpc.interface import EngineRequests

LOG = logging.getLogger(__name__)

_ID = re.compile(r"[0-9A-Za-z-]{1,36}", re.ASCII)
_TEXT = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,255}")


def build_app(
    settings: ApiSettings,
    engine: EngineRequests,
    reader: Reader,
    clock: Clock,
    enforcer: policy.Enforcer,
    trusts: Trusts | None = None,
    login: Login | None = None,
    frame_ancestors: Sequence[str] = (),
    names: Names | None = None,
    routes: tuple[Route, ...] = ROUTES,
    sites: Sites | None = None,
) -> flask.Flask:
    """Return the WSGI application.

    :param engine: makes all changes
    :param reader: reads leases, hosts and reports
    :param clock: source of "now"
    :param enforcer: checks permissions; rules that it lacks are registered with it
    :param trusts: creates the trusts with which the service boots servers for projects; None if identity is not checked
    :param login: logs users of the calendar page in; None if they need no login, or bring a token
    :param frame_ancestors: sites that may show the page in a frame, and hand it a session there
    :param names: knows the names of projects and users; None if identity is not checked
    :param routes: what is served
    :param sites: the sites behind a gateway; None if the service is none
    """
    access.register(enforcer)
    services = Services(settings, engine, reader, clock, enforcer, routes, trusts, names, sites)
    app = flask.Flask("lease_scheduler.api", static_folder=None)
    app.url_rule_class = MatchedRule
    app.config["MAX_CONTENT_LENGTH"] = settings.maximum_body
    app.url_map.merge_slashes = False
    for route in routes:
        _add(app, route, services)
    for path in dict.fromkeys(route.path for route in routes):
        _add_options(app, path)
    add_page(app)
    add_routes(app, login, frame_ancestors)
    app.before_request(_begin)
    app.after_request(_finish)
    app.after_request(protection(frame_ancestors))
    app.register_error_handler(ApiError, _api_error)
    app.register_error_handler(RefusedError, _refused)
    app.register_error_handler(
        EngineUnavailableError, lambda error: _unavailable("reservation engine", settings, str(error))
    )
    app.register_error_handler(
        IdentityUnavailableError, lambda error: _unavailable("identity service", settings, str(error))
    )
    app.register_error_handler(StoreUnavailableError, lambda error: _unavailable("database", settings))
    app.register_error_handler(StoreFullError, lambda error: _unavailable("database", settings, str(error)))
    app.register_error_handler(RequestEntityTooLarge, lambda error: _too_large())
    app.register_error_handler(HTTPException, _framework_error)
    app.register_error_handler(Exception, _internal_error)
    return app


def _add(app: flask.Flask, route: Route, services: Services) -> None:
    def view(**arguments: str) -> flask.Response:
        return _serve(route, services, arguments)

    for each in _rules(route.path):
        app.add_url_rule(
            each,
            endpoint=f"{route.method} {each}",
            view_func=page_or(view) if route.path == "/" else view,
            methods=[route.method],
            provide_automatic_options=False,
        )


def _add_options(app: flask.Flask, path: str) -> None:
    """Serve OPTIONS: list the methods that a path has at the microversion of the request."""

    def view(**arguments: str) -> flask.Response:
        methods = {route.method for route in ROUTES if route.path == path and route.since <= flask.g.version}
        if not methods:
            raise FrameworkError(404, f"{path} is not there at microversion {flask.g.version}")
        allowed = sorted({*methods, "OPTIONS", *(["HEAD"] if "GET" in methods else [])})
        response = _response(204, Answer())
        response.headers["Allow"] = ", ".join(allowed)
        return response

    for each in _rules(path):
        app.add_url_rule(
            each, endpoint=f"OPTIONS {each}", view_func=view, methods=["OPTIONS"], provide_automatic_options=False
        )


def _rules(path: str) -> tuple[str, ...]:
    """Return the path in Flask's notation, and again with the suffix that Blazar's clients may add."""
    rule = path.replace("{", "<").replace("}", ">")
    suffixed = rule.startswith("/v1/") and rule != "/v1/" and "." not in rule
    return (rule, f"{rule}.json") if suffixed else (rule,)


def _serve(route: Route, services: Services, arguments: dict[str, str]) -> flask.Response:
    version, headers = flask.g.version, flask.request.headers
    if version < route.since:
        raise FrameworkError(404, f"{route.path} needs the header {header(route.since)}; this request is for {version}")
    _check_accept(route)
    _check_headers(route)
    is_open = route.rule is None
    request_id, settings = flask.g.request_id, services.settings
    caller = nobody(request_id) if is_open else caller_of(headers, settings.auth, request_id, settings.peer_role)
    if any(not _TEXT.fullmatch(value) for value in arguments.values()):
        raise not_found(**{key: ascii(value)[1:-1][:255] for key, value in arguments.items()})
    query = read_query(route.query, version, {key: list(values) for key, values in flask.request.args.lists()})
    subject = _subject(route, services.reader, arguments, bool(query.get("deleted")))
    raw_body, unreadable = _raw_body(route)
    _authorize(route.rule_for(raw_body), services.enforcer, caller, subject)
    if unreadable is not None:
        raise unreadable
    problems: tuple[Problem, ...] = ()
    if route.body is not None:
        if route.liberal is not None and version < V1_2:
            raw_body = route.liberal(raw_body)
        problems = find_problems(route.body, version, raw_body)
    request = ApiRequest(
        services=services,
        route=route,
        version=version,
        caller=caller,
        base_url=flask.request.host_url.rstrip("/") + flask.request.script_root,
        arguments=arguments,
        query=query,
        subject=subject,
        raw_body=raw_body,
        problems=problems,
        token=flask.request.environ.get("keystone.token_auth"),
    )
    return _response(route.code, route.handler(request))


def _check_accept(route: Route) -> None:
    accepted = flask.request.accept_mimetypes
    if accepted and not accepted.best_match([route.content_type, "application/json"]):
        raise ApiError(406, f"Accept: this route answers {route.content_type} only", "Accept")


def _check_headers(route: Route) -> None:
    """Refuse headers that would change what the request means, instead of ignoring them."""
    encoding = flask.request.headers.get("Content-Encoding", "identity").strip().lower()
    if route.body is not None and encoding not in ("", "identity"):
        raise ApiError(415, "Content-Encoding: bodies must not be compressed; leave it out", "Content-Encoding")
    if route.changes and flask.request.headers.get("If-Match", "*").strip() != "*":
        problem = "nothing that can be changed has an ETag; to change only what you have read, send its version"
        raise ApiError(412, f"If-Match: {problem} in the body", "If-Match")


def _subject(route: Route, reader: Reader, arguments: dict[str, str], deleted: bool) -> Document | None:
    if route.subject is None:
        return None
    ((key, value),) = arguments.items()
    found: Document | None = None
    if _ID.fullmatch(value):
        if route.subject == "lease":
            found = reader.lease(value, deleted=deleted or route.shows_deleted)
        elif route.subject == "series":
            found = reader.serie(value)
        elif route.subject == "subscription":
            found = reader.subscription(value)
        else:
            found = reader.feed(value)
    if found is None:
        raise not_found(**{key: value})
    return found


def _raw_body(route: Route) -> tuple[Any, ApiError | None]:
    """Return the JSON value of the body and its error, or None. The error must wait until the policy has allowed the
    call.
    """
    if route.body is None:
        return None, None
    try:
        return parse_body(flask.request.get_data(cache=False), flask.request.mimetype), None
    except ApiError as error:
        return None, error


def _authorize(rule: str | None, enforcer: policy.Enforcer, caller: Caller, subject: Document | None) -> None:
    if rule is None:
        return
    name = f"reservation:{rule}"
    target = {"project_id": caller.project_id if subject is None else subject["project_id"]}
    if subject is not None and subject.get("origin") is not None:
        # Without the key, no rule about the peer of the object holds.
        target["origin"] = subject["origin"]
    if not enforcer.authorize(name, target, caller.credentials(), do_raise=False):
        raise forbidden(name)


def _response(code: int, answer: Answer) -> flask.Response:
    if answer.body is None:
        response = flask.Response(status=code)
        del response.headers["Content-Type"]
        return response
    data = answer.body if isinstance(answer.body, bytes) else to_json(answer.body)
    response = flask.Response(data, code, dict(answer.headers), content_type=answer.content_type)
    if "ETag" in answer.headers:
        # Answers 304 if the client already has this answer.
        response.make_conditional(flask.request)
    return response


# Steps common to all requests.


def _begin() -> None:
    rule = flask.request.url_rule
    if rule is not None:
        # One label for all files of the page keeps the number of time series small.
        is_page = rule.endpoint.startswith("page")
        flask.request.environ[ROUTE] = "page" if is_page else rule.rule.removesuffix(".json")
    flask.g.request_id = request_id_of(flask.request.headers)
    flask.g.version = MINIMUM
    flask.g.version = requested(flask.request.headers)


def _finish(response: flask.Response) -> flask.Response:
    response.headers["OpenStack-API-Version"] = f"{SERVICE_TYPE} {flask.g.version}"
    response.vary.add("OpenStack-API-Version")
    response.headers["X-Openstack-Request-Id"] = flask.g.request_id
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


# Errors.


def _api_error(error: ApiError) -> flask.Response:
    return _response(error.code, Answer(error.body(flask.g.version)))


def _refused(error: RefusedError) -> flask.Response:
    code = error.code if 400 <= error.code < 500 else 409
    shown = show_alternatives(error.alternatives, flask.g.version)
    return _api_error(ApiError(code, error.message, error.field, shown, error.reason))


def _unavailable(what: str, settings: ApiSettings, why: str = "") -> flask.Response:
    response = _api_error(ApiError(503, why or f"No {what} answers at present; try again"))
    response.headers["Retry-After"] = str(settings.retry_after)
    return response


def _too_large() -> flask.Response:
    maximum = flask.request.max_content_length
    return _api_error(ApiError(413, f"The body must not have more than {maximum} bytes", "body"))


def _framework_error(error: HTTPException) -> flask.Response:
    code = error.code or 500
    response = _api_error(FrameworkError(code, error.description or error.name))
    for name, value in error.get_headers():
        if name == "Allow":
            response.headers[name] = value
    return response


def _internal_error(error: Exception) -> flask.Response:
    # The path as it is declared, since variable parts may be secret.
    LOG.error("%s: %s failed", flask.g.request_id, flask.request.environ.get(ROUTE), exc_info=error)
    return _response(500, Answer(INTERNAL_ERROR))
