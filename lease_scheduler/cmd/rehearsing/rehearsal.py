"""A rehearsal: a world with people, faults and inspections, run for some days."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from lease_scheduler.cmd.rehearsing.casting import Cast
from lease_scheduler.cmd.rehearsing.programs import ServicePrograms
from lease_scheduler.rehearsal import stored_facts
from lease_scheduler.rehearsal.actors.bookings import Verb
from lease_scheduler.rehearsal.actors.clients import Observed, Person, Rest
from lease_scheduler.rehearsal.actors.hosts import HostFates
from lease_scheduler.rehearsal.actors.operators import Office, Operator
from lease_scheduler.rehearsal.actors.strangers import STRANGERS as STRANGE_VERBS
from lease_scheduler.rehearsal.actors.tenants import VERBS, Tenant
from lease_scheduler.rehearsal.disturbances import Disturbances
from lease_scheduler.rehearsal.faults import catalogue
from lease_scheduler.rehearsal.faults.setting import Setting
from lease_scheduler.rehearsal.inspection import BrokenInvariantError, Inspection
from lease_scheduler.rehearsal.invariants.facts import Violation
from lease_scheduler.rehearsal.runtime.patching import Patches
from lease_scheduler.rehearsal.runtime.processes import EPOCH
from lease_scheduler.rehearsal.runtime.trace import Trace
from lease_scheduler.rehearsal.site import OPERATIONS, OPERATOR, STRANGERS, CloudSite, cloud_in
from lease_scheduler.rehearsal.story import Happening, Ledger, Story
from lease_scheduler.rehearsal.world import World, WorldOptions, opened

DAY = 86_400.0

#: Part of a world after which nothing new goes wrong.
CALM = 0.75

#: Seconds within which an engine leads and the pool is filled.
_BEGINNING = 120.0

_PREFIX = "compute-"
_VCPUS = 8

#: Number of lines of a story that are shown: of those about a lease, and of others.
_SHOWN = 20


@dataclass(frozen=True)
class Rehearsal:
    """What is rehearsed.

    :ivar seed: at least 0
    :ivar hosts: number of compute hosts
    :ivar tenants: number of tenants
    :ivar engines: number of engines
    :ivar pauses: see ``WorldOptions``
    :ivar with_nova: whether the cloud is the model with Keystone and Nova
    :ivar cast: who and what takes part
    :ivar calm: simulated seconds after which nothing new goes wrong; None for three quarters of the time
    """

    seed: int
    hosts: int = 50
    tenants: int = 20
    engines: int = 2
    pauses: float = 0.01
    with_nova: bool = False
    cast: Cast = field(default_factory=Cast)
    calm: float | None = None

    def programs(self) -> ServicePrograms:
        """Return the programs of the service, for this number of hosts."""
        options: dict[tuple[str, str], Any] = {
            ("simulated_cloud", "hosts"): self.hosts,
            ("simulated_cloud", "host_prefix"): _PREFIX,
            ("simulated_cloud", "vcpus"): _VCPUS,
            ("simulated_cloud", "boot_time"): 30,
        }
        return ServicePrograms(options=options, with_nova=self.with_nova)

    def world_options(self, image: bytes | None = None) -> WorldOptions:
        """Return the options of the world."""
        return WorldOptions(self.seed, self.pauses, image)

    def drawn(self) -> Cast:
        """Return the cast, with what the seed decides."""
        return self.cast.drawn(self.seed, with_nova=self.with_nova)

    def people(self, staged: Stage) -> Operator:
        """Start engines, a REST service, and those who use it. Return the operator."""
        world, story = staged.world, staged.story
        for number in range(1, self.engines + 1):
            world.start_engine(f"control-{number}")
        world.start_api("control-1")
        names = [f"{_PREFIX}{number}" for number in range(1, self.hosts + 1)]
        cast = self.drawn()

        def office(random: Random) -> Office:
            client = Person(OPERATOR, OPERATIONS) if self.with_nova else Rest("admin")
            observed = Observed(client, "operator", staged.ledger)
            return Office(observed, names, random, story, staged.disturbances, staged.programs.reload)

        operator = Operator(self.seed, cast.acts or (), office)
        world.start("operator", "desk", operator.run)
        verbs = {name: VERBS[name] for name in cast.verbs or () if name in VERBS}
        projects = [f"project-{number}" for number in range(1, self.tenants + 1)]
        people = [*((each, each) for each in projects), *((f"{each}-colleague", each) for each in projects[:1])]
        for name, project in people:
            self._start_tenant(staged, name, project, verbs)
        if self.with_nova:
            strange = {name: STRANGE_VERBS[name] for name in cast.verbs or () if name in STRANGE_VERBS}
            self._start_tenant(staged, STRANGERS, STRANGERS, strange)
        return operator

    def _start_tenant(self, staged: Stage, name: str, project: str, verbs: Mapping[str, tuple[Verb, float]]) -> None:
        def client() -> Observed:
            return Observed(Person(project, project) if self.with_nova else Rest(project), name, staged.ledger)

        tenant = Tenant(self.seed, name, project, client, verbs, staged.story, staged.ledger)
        staged.world.start("tenant", f"desk-{name}", tenant.run)


@dataclass(frozen=True)
class Stage:
    """A world in which people may act.

    :ivar site: the model of the cloud; None if the engine simulates its cloud itself
    """

    world: World
    site: CloudSite | None
    programs: ServicePrograms
    story: Story
    ledger: Ledger
    disturbances: Disturbances


@contextmanager
def staged(
    rehearsal: Rehearsal, patches: Patches | None = None, image: bytes | None = None, trace: Trace | None = None
) -> Iterator[Stage]:
    """Within the block, there is a world for a rehearsal, in which nobody acts yet.

    :param patches: see ``opened``
    :param image: content of the database; None to have the tables made
    """
    programs = rehearsal.programs()
    with ExitStack() as stack:
        world = stack.enter_context(opened(rehearsal.world_options(image), programs, patches, trace))
        site = None
        if rehearsal.with_nova:
            site = stack.enter_context(cloud_in(world, rehearsal.seed, rehearsal.hosts, rehearsal.tenants))
        yield Stage(
            world, site, programs, Story(world.scheduler), Ledger(world.scheduler), Disturbances(world.scheduler)
        )


@dataclass(frozen=True)
class Outcome:
    """How a rehearsal went.

    :ivar seconds: simulated seconds until it ended, or an invariant was broken
    :ivar violation: the invariant that was broken first, or None
    :ivar story: the last lines of its story
    """

    seconds: float
    leases: int
    events: int
    digest: str
    violation: Violation | None
    story: tuple[Happening, ...]


def run(
    rehearsal: Rehearsal,
    days: float,
    patches: Patches | None = None,
    image: bytes | None = None,
    trace: Trace | None = None,
) -> Outcome:
    """Run a rehearsal.

    :param patches: see ``opened``
    :param image: see ``staged``
    """
    calm = days * DAY * CALM if rehearsal.calm is None else rehearsal.calm
    with _quiet(), staged(rehearsal, patches, image, trace) as stage:
        return _played(rehearsal, stage, days * DAY, calm)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep quiet about what goes wrong, which is expected, and happens thousands of times.

    Errors are logged, to nobody: that a notification was not sent is only known from what its driver logs.
    """
    disabled, handlers = logging.root.manager.disable, logging.root.handlers
    logging.disable(logging.WARNING)
    logging.root.handlers = [logging.NullHandler()]
    try:
        yield
    finally:
        logging.root.handlers = handlers
        logging.disable(disabled)


def _transitions(world: World, lease_id: str) -> list[Happening]:
    """Return what the database says has happened to a lease; nothing without a lease."""
    return [
        Happening(
            float(each.instant - EPOCH),
            "service",
            f"{lease_id} goes from {each.before} to {each.after}{each.reason and f': {each.reason}'}",
            lease_id,
        )
        for each in stored_facts.history(world.database)
        if each.lease_id == lease_id
    ]


def _played(rehearsal: Rehearsal, stage: Stage, seconds: float, calm: float) -> Outcome:
    world, violation = stage.world, None
    cast = rehearsal.drawn()
    stage.disturbances.add("beginning", _BEGINNING)
    setting = Setting(rehearsal.seed, world, stage.story, stage.site, calm, stage.disturbances)
    catalogue.switch_on(setting, cast.faults or ())
    operator = rehearsal.people(stage)
    if stage.site is not None:
        HostFates(rehearsal.seed, cast.fates or (), world.scheduler, stage.site, stage.story, stage.disturbances, calm)

    def rest() -> None:
        operator.is_done = True
        stage.story.tell("weather", "is good from now on")

    world.scheduler.call_later(calm, rest)
    Inspection(world, stage.site, stage.ledger, stage.disturbances, calm)
    try:
        world.run(seconds)
    except BrokenInvariantError as error:
        violation = error.violation
    if violation is None and world.scheduler.crashes:
        instant, name, error_of_thread = world.scheduler.crashes[0]
        violation = Violation("no thread ends with an error", f"{name} at {instant:.6f} s: {error_of_thread!r}")
    story: list[Happening] = []
    if violation is not None:
        told = [*stage.story.last(_SHOWN, violation.subject), *_transitions(world, violation.subject)[-_SHOWN:]]
        story = sorted(told, key=lambda each: each.instant)
    trace = world.trace
    return Outcome(world.scheduler.now, len(stage.ledger.leases), trace.count, trace.digest(), violation, tuple(story))
