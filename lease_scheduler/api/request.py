"""What a handler gets and gives, and where it is served."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from oslo_policy import policy

from lease_scheduler.api.context import Caller
from lease_scheduler.api.errors import forbidden
from lease_scheduler.api.interfaces import Reader, Trusts
from lease_scheduler.api.microversions import V1_0, Version
from lease_scheduler.api.schemas.base import Parameter
from lease_scheduler.api.settings import ApiSettings
from lease_scheduler.api.validation import Problem, VersionedSchema
from lease_scheduler.engine.interfaces import Clock
from lease_scheduler.model.documents import Document
from lease_scheduler.rpc.interface import EngineRequests


@dataclass(frozen=True)
class Services:
    """What all requests share."""

    settings: ApiSettings
    engine: EngineRequests
    reader: Reader
    clock: Clock
    enforcer: policy.Enforcer
    routes: tuple[Route, ...]
    trusts: Trusts | None = None


@dataclass(frozen=True)
class Answer:
    """The answer to a request.

    :ivar body: a JSON value, bytes of another content type, or none
    """

    body: Any = None
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ApiRequest:
    """A request that has passed the checks that all of them have in common.

    :ivar arguments: the variable parts of the path
    :ivar query: the converted query parameters
    :ivar subject: the lease or series that the path names, none if it names none
    :ivar raw_body: the JSON value of the body, unchecked
    :ivar problems: what is wrong with it, worst first
    :ivar token: what keystonemiddleware says of the sender beside headers, none without it
    :ivar decisions: what the policy said so far, as it is asked again for every lease of a list
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
        """The checked body.

        :raises ApiError: 400, it does not fit the schema
        """
        if self.problems:
            raise self.problems[0].error()
        return self.raw_body

    @property
    def reader(self) -> Reader:
        """Shows what there is."""
        return self.services.reader

    @property
    def engine(self) -> EngineRequests:
        """Changes things."""
        return self.services.engine

    @property
    def now(self) -> int:
        """The present instant."""
        return self.services.clock.now()

    @property
    def named(self) -> Document:
        """The lease or series that the path names."""
        if self.subject is None:
            raise TypeError(f"{self.route.name} names no object")
        return self.subject

    def may(self, rule: str, project_id: str | None = None) -> bool:
        """Whether the policy allows something.

        :param rule: name without the leading ``reservation:``
        :param project_id: whose it is, none for the caller's own project
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
        """Whether the caller may know what is on the site beside what is theirs."""
        return not self.services.settings.privacy or self.may("oshosts:get")

    def require(self, rule: str, project_id: str | None = None) -> None:
        """Refuse what the policy does not allow.

        :raises ApiError: 403
        """
        if not self.may(rule, project_id):
            raise forbidden(f"reservation:{rule}")

    def context(self) -> Document:
        """Who asks, as the engine wants to know it."""
        return {
            "user_id": self.caller.user_id,
            "project_id": self.caller.project_id,
            "roles": sorted(self.caller.roles),
            "is_admin": self.may("leases:all_projects"),
            "sees_site": self.sees_site,
            "request_id": self.caller.request_id,
        }


Handler = Callable[[ApiRequest], Answer]

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True)
class Route:
    """What is served at a path.

    :ivar path: with its variable parts in braces
    :ivar handler: serves it
    :ivar rule: who may use it, without the leading ``reservation:``; none for everybody
    :ivar code: the status of a good answer
    :ivar summary: what it does, for the description of the interface
    :ivar since: the microversion that brought it
    :ivar subject: the kind of object that the path names, if the rule is about that object's project
    :ivar shows_deleted: whether the object may be a deleted one without being asked for
    :ivar body: schema of the body, none if there is none
    :ivar liberal: brings bodies of Blazar's clients, who know no kinds of leases, into the form of the schema
    :ivar query: parameters in the query
    :ivar answer: schema of the good answer, none if it has no JSON body
    :ivar changes: whether it needs the engine
    """

    method: Method
    path: str
    handler: Handler
    rule: str | None
    code: int
    summary: str
    since: Version = V1_0
    subject: Literal["lease", "series"] | None = None
    shows_deleted: bool = False
    body: VersionedSchema | None = None
    liberal: Callable[[Any], Any] | None = None
    query: tuple[Parameter, ...] = ()
    answer: VersionedSchema | None = None
    changes: bool = False
    content_type: str = "application/json"

    @property
    def name(self) -> str:
        """Its name: method and path."""
        return f"{self.method} {self.path}"
