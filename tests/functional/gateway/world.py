"""A gateway over three simulated sites, stepped from outside, which can be killed at any boundary."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lease_scheduler.federation.answers import Unanswered
from lease_scheduler.federation.asks import Ask, OnBehalfOf
from lease_scheduler.federation.members import MemberDescription, Verb
from lease_scheduler.federation.negotiation.record import Mode, Rules
from lease_scheduler.federation.routing.policies import RoutingPolicies
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import HOST_SHARE, VCPU, WHOLE_HOST, Resources
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.federated import FederatedLease
from lease_scheduler.service.gateway.calling import AtOnce, Hands, Members
from lease_scheduler.service.gateway.driver import Driver
from lease_scheduler.service.gateway.interfaces import GatewaySettings
from lease_scheduler.service.gateway.projects import Projects, ProjectsMode
from lease_scheduler.service.gateway.routing import Router
from lease_scheduler.service.gateway.workers import workers_of
from lease_scheduler.service.runners import SteppedRunner
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.member import SimulatedMember
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload
from lease_scheduler.store.sql import migrate
from lease_scheduler.store.sql.database import open_database
from lease_scheduler.store.sql.gateway import SqlGateway
from lease_scheduler.store.sql.reader import SqlReader

HOUR = 3_600
BEGIN = 1_800_000_000
HOSTS, VCPUS = 2, 8
NAMES = ("north", "south", "west")
HOLD = 300
RULES = Rules("gateway", hold_time=HOLD, accept_time=30)
DRIVE_TIME = 60
#: Each site has a project of its own for each of two projects.
MAPPED = Projects(
    ProjectsMode.MAPPED, {name: {each: f"{each} at {name}" for each in ("project", "red")} for name in NAMES}
)


class KilledError(BaseException):
    """The gateway is killed here."""


class Clock:
    """The clock of all: sites and gateways."""

    def __init__(self) -> None:
        self.simulated = SimulatedClock(BEGIN)

    def now(self) -> int:
        """Return the present instant."""
        return self.simulated.now()

    def seconds_until(self, instant: int) -> float:
        """Return the seconds until an instant, or 0 if it has passed."""
        return max(0.0, float(instant - self.now()))


@dataclass
class Fate:
    """Decides at which boundary a gateway is killed. Boundaries are before and after each call and each commit.

    :ivar kill_at: number of the boundary, counted from 0; None for none
    :ivar passed: boundaries that were passed
    """

    kill_at: int | None = None
    passed: int = 0

    def boundary(self) -> None:
        """Pass a boundary."""
        number = self.passed
        self.passed += 1
        if number == self.kill_at:
            raise KilledError


class Between:
    """Passes all that is asked of it on to something else, with a boundary before and after what changes things."""

    def __init__(self, inner: Any, fate: Fate, *names: str) -> None:
        self._inner = inner
        self._fate = fate
        self._names = names

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in self._names:
            return found

        def call(*arguments: Any) -> Any:
            self._fate.boundary()
            answer = found(*arguments)
            self._fate.boundary()
            return answer

        return call


class Moody:
    """A member with faults.

    :ivar is_away: whether no call reaches it, and none is answered
    :ivar is_mute: verbs that it does without answering
    :ivar answers: what it answers to some verbs, whatever it does
    :ivar cannot: verbs that it does not offer
    """

    def __init__(self, inner: SimulatedMember) -> None:
        self.inner = inner
        self.name = inner.name
        self.is_away = False
        self.is_mute: set[Verb] = set()
        self.answers: dict[Verb, Callable[[Any], Any]] = {}
        self.cannot: frozenset[Verb] = frozenset()
        self.calls: list[Verb] = []

    def describe(self) -> Any:
        """Return its description, without what it does not offer."""
        if self.is_away:
            return Unanswered()
        found = self.inner.describe()
        assert isinstance(found, MemberDescription)
        return replace(found, verbs=found.verbs - self.cannot)

    def __getattr__(self, name: str) -> Any:
        verb = Verb(name)

        def call(*arguments: Any) -> Any:
            self.calls.append(verb)
            if self.is_away:
                return Unanswered()
            answer = getattr(self.inner, name)(*arguments)
            if verb in self.is_mute:
                return Unanswered()
            return self.answers.get(verb, lambda found: found)(answer)

        return call


_CALLS = tuple(verb.value for verb in Verb if verb not in (Verb.QUOTE, Verb.SHOW, Verb.EVENTS))


@dataclass
class Gateway:
    """One process of a gateway.

    :ivar store: its database
    :ivar driver: drives negotiations
    :ivar runner: has the rounds of its workers
    """

    store: SqlGateway
    members: Members
    driver: Driver
    router: Router
    settings: GatewaySettings
    runner: SteppedRunner


@dataclass
class World:
    """Three sites, a database, and gateways over them.

    :param folder: folder for the database
    """

    folder: Path
    mode: Mode = Mode.IN_TURN
    projects: Projects = field(default_factory=Projects)
    clock: Clock = field(default_factory=Clock)
    started: int = 0

    def __post_init__(self) -> None:
        hosts = Site.homogeneous(HOSTS, Resources({VCPU: VCPUS, HOST_SHARE: WHOLE_HOST}))
        self.sites = {
            name: SiteRun(Workload("nothing", ()), RunSettings(check_invariants=True), self.clock.simulated, hosts)
            for name in NAMES
        }
        self.moody = {name: Moody(SimulatedMember(name, run, HOLD)) for name, run in self.sites.items()}
        template = self.folder.parent / "template.sqlite"
        if not template.exists():
            made = open_database(f"sqlite:///{template}")
            migrate.upgrade(made)
            made.dispose()
        self.folder.mkdir(exist_ok=True)
        path = self.folder / "gateway.sqlite"
        shutil.copy(template, path)
        self.database = open_database(f"sqlite:///{path}")
        self.reader = SqlReader(self.database)
        SqlGateway(self.database).join(self.clock.now())

    def close(self) -> None:
        """Close the database."""
        self.database.dispose()

    def gateway(self, fate: Fate | None = None, make_hands: Callable[[], Hands] = AtOnce) -> Gateway:
        """Start a gateway."""
        self.started += 1
        fate, name = fate or Fate(), f"gateway.{self.started}"
        store: Any = Between(SqlGateway(self.database), fate, "commit")
        members = Members([Between(each, fate, *_CALLS) for each in self.moody.values()], self.clock.now, make_hands())
        settings = GatewaySettings(RULES, self.mode, drive_time=DRIVE_TIME, projects=self.projects)
        router = Router(members, RoutingPolicies(), lambda: 0.5, None)
        driver = Driver(store, members, router, self.clock, settings, name)
        runner = SteppedRunner()
        runner.start(workers_of(store, members, driver, self.clock, settings, name, AtOnce))
        return Gateway(store, members, driver, router, settings, runner)

    def ask(self, number: int = 1, count: int = 1, kind: LeaseKind = LeaseKind.RESERVATION, patience: int = 60) -> Ask:
        """Return an ask for whole hosts for two hours, from tomorrow on if it is a reservation.

        :param patience: seconds within which the client wants an answer
        """
        now = self.clock.now()
        nodes = (NodeSet(count, Resources({VCPU: VCPUS})),)
        start = BEGIN + 24 * HOUR if kind is LeaseKind.RESERVATION else None
        lease_id = f"00000000-0000-4000-8000-{number:012}"
        terms = LeaseRequest(lease_id, kind, nodes, now, 2 * HOUR, start, user="project")
        projects = self.projects.at_members("project", NAMES)
        return Ask(terms, now + patience, on_behalf_of=OnBehalfOf("project", "user"), projects=projects)

    def document(self, ask: Ask) -> LeaseDocument:
        """Return the document of a lease."""
        return LeaseDocument(ask.ask_id, f"lease {ask.ask_id}", "project", "user", self.clock.now())

    def create(self, gateway: Gateway, ask: Ask) -> FederatedLease:
        """Ask for a lease, and return it when no call is left that its members would answer now."""
        if gateway.store.lease(ask.ask_id) is None:
            gateway.driver.begin(ask, self.document(ask), None)
        gateway.driver.drive(ask.ask_id)
        return self.lease(gateway, ask)

    def lease(self, gateway: Gateway, ask: Ask) -> FederatedLease:
        """Return a lease."""
        found = gateway.store.lease(ask.ask_id)
        assert found is not None
        return found

    def pass_time(self, gateways: list[Gateway], seconds: int, step: int = 10) -> None:
        """Let time pass, and gateways and sites do what is due."""
        end = self.clock.now() + seconds
        while self.clock.now() < end:
            self.clock.simulated.set(min(end, self.clock.now() + step))
            for site in self.sites.values():
                while (due := site.next_instant(expects=True)) is not None and due <= self.clock.now():
                    site.step()
            for gateway in gateways:
                gateway.runner.step(float(self.clock.now()))

    def living(self) -> list[tuple[str, Lease]]:
        """Return all leases that are not over, by site."""
        return [(name, lease) for name, site in self.sites.items() for lease in site.engine.live_leases()]

    def granted(self) -> list[str]:
        """Return the sites of all leases that are granted and not over."""
        return [name for name, lease in self.living() if not lease.is_offered]
