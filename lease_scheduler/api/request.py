"""Requests and answers as handlers see them, and the routes that lead to handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from oslo_policy import policy

from lease_scheduler.api.calendar.cache import CalendarCache
from lease_scheduler.api.context import Caller
from lease_scheduler.api.errors import forbidden
from lease_scheduler.api.interfaces import Names, Reader, Sites, Trusts
from lease_scheduler.api.lease_texts import LeaseTexts
from lease_scheduler.api.microversions import V1_0, Version
from lease_scheduler.api.schemas.base import Parameter
from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.api.validation import Problem, VersionedSchema
from lease_scheduler.engine.interfaces import Clock
from lease_scheduler.model.documents import Document
from lease_scheduler.rpc.interface import EngineRequests


@dataclass(frozen=True)
class Services:
    """The services that all requests share."""

    settings: ApiSettings
    engine: EngineRequests
    reader: Reader
    clock: Clock
    enforcer: policy.Enforcer
    routes: tuple[Route, ...]
    trusts: Trusts | None = None
    names: Names | None = None
    sites: Sites | None = None
    calendar: CalendarCache = field(default_factory=CalendarCache)
    lease_texts: LeaseTexts = field(default_factory=LeaseTexts)


@dataclass(frozen=True)
class Answer:
    """The answer to a request.

    :ivar body: a JSON value, bytes of another content type, or None
    """

    body: Any = None
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ApiRequest:
    """A request that has passed the checks common to all routes.

    :ivar arguments: the variable parts of the path
    :ivar query: the converted query parameters
    :ivar subject: the lease, series, subscription or feed that the path names, or None
    :ivar raw_body: the JSON value of the body, not validated
    :ivar problems: problems of the body, in the order in which they are reported
    :ivar token: the sender as keystonemiddleware describes them (``keystone.token_auth``); None without identity checks
    :ivar decisions: decisions of the policy so far, because a list asks for the same one for every lease
    """

    services: Services
    route: Route
    version: Version
    caller: Caller
    base_url: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    subject: Document | None = None
    raw_body: Any = None
    problems: tuple[Problem, ...] = ()
    token: Any = None
    decisions: dict[tuple[str, str], bool] = field(default_factory=dict)

    @property
    def body(self) -> Any:
        """The validated body.

        :raises ApiError: 400, the body does not fit the schema
        """
        if self.problems:
            raise self.problems[0].error()
        return self.raw_body

    @property
    def reader(self) -> Reader:
        """The reader of leases, hosts and reports."""
        return self.services.reader

    @property
    def engine(self) -> EngineRequests:
        """The engine, which makes all changes."""
        return self.services.engine

    @property
    def now(self) -> int:
        """The present instant."""
        return self.services.clock.now()

    @property
    def named(self) -> Document:
        """The lease, series, subscription or feed that the path names."""
        if self.subject is None:
            raise TypeError(f"{self.route.name} names no object")
        return self.subject

    def may(self, rule: str, project_id: str | None = None) -> bool:
        """Return whether the policy allows something.

        :param rule: name without the leading ``reservation:``
        :param project_id: project of the object concerned; None means the caller's project
        """
        owner = self.caller.project_id if project_id is None else project_id
        if (rule, owner) not in self.decisions:
            self.decisions[rule, owner] = bool(
                self.services.enforcer.authorize(
                    f"reservation:{rule}", {"project_id": owner}, self.caller.credentials(), do_raise=False
                )
            )
        return self.decisions[rule, owner]

    @property
    def sees_site(self) -> bool:
        """Whether the caller may see hosts, and leases of other projects."""
        return not self.services.settings.privacy or self.may("oshosts:get")

    def require(self, rule: str, project_id: str | None = None) -> None:
        """Refuse what the policy does not allow.

        :raises ApiError: 403
        """
        if not self.may(rule, project_id):
            raise forbidden(f"reservation:{rule}")

    def context(self) -> Document:
        """Return the caller in the form that requests to the engine have."""
        return {
            "user_id": self.caller.user_id,
            "project_id": self.caller.project_id,
            "roles": sorted(self.caller.roles),
            "is_admin": self.may("leases:all_projects"),
            "sees_site": self.sees_site,
            "origin": self.caller.origin,
            "request_id": self.caller.request_id,
        }


Handler = Callable[[ApiRequest], Answer]

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True)
class Route:
    """A method of a path, and what serves it.

    :ivar path: path with its variable parts in braces
    :ivar handler: serves the requests
    :ivar rule: access rule without the leading ``reservation:``; None means that everybody may use the route
    :ivar action_rules: access rules of the actions to which ``rule`` does not apply, by the key of the action
        in the body
    :ivar code: HTTP status of a successful answer
    :ivar summary: what the route does, for the OpenAPI description
    :ivar since: the microversion that added the route
    :ivar subject: kind of the object that the path names, if access depends on that object's project
    :ivar shows_deleted: whether deleted objects are found even if the query does not ask for them
    :ivar body: schema of the body; None if the route has no body
    :ivar liberal: converts bodies of Blazar's clients, which know no lease kinds, to the form of the schema
    :ivar query: query parameters
    :ivar answer: schema of a successful answer; None if it has no JSON body
    :ivar changes: whether the route needs the engine
    :ivar conditional: whether the answer is 304 if the client already has it
    """

    method: Method
    path: str
    handler: Handler
    rule: str | None
    code: int
    summary: str
    since: Version = V1_0
    subject: Literal["lease", "series", "subscription", "feed"] | None = None
    shows_deleted: bool = False
    body: VersionedSchema | None = None
    liberal: Callable[[Any], Any] | None = None
    query: tuple[Parameter, ...] = ()
    answer: VersionedSchema | None = None
    changes: bool = False
    content_type: str = "application/json"
    conditional: bool = False
    action_rules: Mapping[str, str] = field(default_factory=dict)

    def rule_for(self, raw_body: Any) -> str | None:
        """Return the access rule for a request.

        :param raw_body: the JSON value of its body, not validated; None without one
        """
        if isinstance(raw_body, dict) and len(raw_body) == 1:
            return self.action_rules.get(next(iter(raw_body)), self.rule)
        return self.rule

    @property
    def name(self) -> str:
        """Method and path."""
        return f"{self.method} {self.path}"
