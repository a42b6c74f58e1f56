"""What members do to servers, times what the driver does with servers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any
from uuid import uuid4

from novaclient.exceptions import ClientException

from lease_scheduler.cloud.driver import HostsOccupiedError, StepFailedError
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.lost import LostOptions
from lease_scheduler.cloud.nova.assembly.options import DriverOptions
from lease_scheduler.cloud.nova.lease.lease_parts import is_slot_only
from lease_scheduler.cloud.nova.vacating.options import IntruderAction, RoomOptions
from lease_scheduler.cloud.orders import AnyOrder, Order, Removal
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.resources import HOST_SHARE, Resources
from tests.in_nova.functional.members import ACTIONS, MemberSite
from tests.in_nova.functional.site import IMAGE, WHOLE

#: Of one server.
TINY = Resources({"VCPU": 1, "MEMORY_MB": 64, "DISK_GB": 1, HOST_SHARE: 1})

#: Nearly all of a host.
MOST = Resources({"VCPU": 2, "MEMORY_MB": 7660, "DISK_GB": 1, HOST_SHARE: 1})

#: Seconds for which the driver is patient: long for what comes to an end, and short for what does not.
_ENDING = DriverOptions(room=RoomOptions(escalate_after=90, intruder_patience=200), lost=LostOptions(lost_after=15))
_ENDLESS = DriverOptions(room=RoomOptions(escalate_after=5, intruder_patience=10), lost=LostOptions(5, 20, 20))

#: Seconds until a step that is under way counts as one that goes on for ever; patience is shorter.
FOR_EVER = 300.0

#: Seconds for which a step is tried whose hypervisor is held up.
HELD_UP = 25.0

#: Seconds between two looks at many servers, which take Nova long.
PAUSE = 1.0

#: Servers that are booted at once: more take Nova a time that grows with the square of their number.
_AT_ONCE = 4

#: States of servers that need nothing of a host.
_ON_NO_HOST = frozenset({of.OFFLOADED, of.DELETED})

OTHERS = "another-project"


class Outcome(Enum):
    """What came of a step for a server. There is no other one."""

    #: The server needs nothing of the host any more.
    MADE_ROOM = "made room"
    #: It runs again where its lease has its hosts.
    CAME_BACK = "came back"
    #: It is still there. Leases that should get the host are told in time, and get other hosts.
    STAYS = "stays, others told"
    #: It is not back. Its lease is told in time.
    NOT_BACK = "not back, told"


class MatrixSite(MemberSite):
    """A site where many servers are handled at once, each after another action of a member.

    :cvar actions: names of the actions that are tried out
    :cvar refused_by_nova: those of them that Nova does not let members do
    :cvar staying: those that come to an end, and after which a server may stay all the same
    :cvar intruders: what the operator allows against ordinary servers
    """

    actions: Collection[str] = tuple(ACTIONS)
    refused_by_nova: frozenset[str] = frozenset()
    staying: frozenset[str] = frozenset()
    intruders = IntruderAction.REFUSE

    def setUp(self) -> None:
        super().setUp()
        self.pool: tuple[str, ...] = ("host1", "host2")
        self.driver.set_pool(self.pool)
        self.outcomes: dict[str, Outcome] = {}
        self.acted: dict[str, str] = {}
        self.refused: set[str] = set()
        self.unexpected: list[str] = []

    # -- servers -----------------------------------------------------------------------------------------

    def flavor(self, *, preemptible: bool) -> str:
        found = self.nova.flavors.create(f"size-{uuid4()}", 64, 1, 1)
        if preemptible:
            found.set_keys({"lease:preemptible": "true"})
        return str(found.id)

    def boot_many(
        self, actions: Collection[str], flavor_id: str, host: str | None = None, **hints: str
    ) -> dict[str, Any]:
        """Boot a server of the tenant for each action."""
        nova = self.tenant if host is None else self.client_of(self.project)
        said = {} if host is None else {"host": host}
        building = {"all_tenants": 1, "status": "BUILD"}
        known = {each.id for each in self.all_servers()}
        for first in range(0, len(actions), _AT_ONCE):
            count = min(_AT_ONCE, len(actions) - first)
            named = {"min_count": count, "max_count": count, "scheduler_hints": hints, **said}
            nova.servers.create("s", IMAGE, flavor_id, nics="none", **named)
            self.until(lambda: self.nova.servers.list(detailed=False, search_opts=building), lambda found: not found)
        found = [each for each in self.all_servers() if each.id not in known]
        assert {each.status for each in found} == {"ACTIVE"}, [each.fault for each in found if each.status == "ERROR"]
        self.acted |= {each.id: name for name, each in zip(actions, found, strict=True)}
        return dict(zip(actions, found, strict=True))

    def all_servers(self) -> list[Any]:
        return list(self.nova.servers.list(search_opts={"all_tenants": 1}))

    def described(self) -> dict[str, tuple[object, ...]]:
        """Return what Nova says of each server, by the action of its member."""
        return {
            self.acted.get(each.id, each.name): (of.service(each), each.status, of.task(each), each.locked_reason)
            for each in self.all_servers()
        }

    def until(self, ask: Callable[[], Any], is_right: Callable[[Any], bool]) -> Any:
        end = time.monotonic() + FOR_EVER
        while not is_right(found := ask()):
            assert time.monotonic() < end, found
            time.sleep(PAUSE)
        return found

    def act(self, servers: Mapping[str, Any], *, runs: bool = True) -> None:
        """Have the members act on their servers, one after the other; note what Nova refuses.

        :param runs: whether the servers run, so that it is known what Nova says of them afterwards
        """
        for name, server in servers.items():
            action = ACTIONS[name]
            try:
                action.do(self, self.tenant.servers.get(server.id))
                if not action.is_endless and action.status:
                    self.settled(server, *((action.status,) if runs else ()))
            except ClientException as error:
                assert error.code in (400, 403, 404, 409), (name, error)
                self.refused.add(name)

    # -- orders ------------------------------------------------------------------------------------------

    def due(
        self, kind: OperationKind, lease_id: str, hosts: tuple[str, ...], resources: Resources, **said: Any
    ) -> Order:
        """Return an order that begins and is due now."""
        order = self.order(kind, lease_id, hosts, resources, late=1, **said)
        return replace(order, operation=replace(order.operation, begun=int(time.time())))

    def of_others(self, order: Order) -> Order:
        return replace(order, document=replace(order.document, project_id=OTHERS))

    def result(self, order: AnyOrder, seconds: float = FOR_EVER) -> StepFailedError | Outcome | None:
        """Carry out an order as the executor does, for some seconds.

        :return: None if it is done, what it failed of, or ``STAYS`` if it is still under way
        """
        end = time.monotonic() + seconds
        for step in self.driver.steps(order):
            while True:
                try:
                    if self.driver.perform(order, step) is None:
                        break
                except StepFailedError as error:
                    return error
                except Exception as error:
                    # The executor tries it again.
                    self.unexpected.append(f"{step}: {error!r}")
                if time.monotonic() > end:
                    return Outcome.STAYS
                time.sleep(PAUSE)
        return None

    def done(self, order: AnyOrder) -> None:
        result = self.result(order)
        assert result is None, (result, self.described(), self.unexpected[-3:])

    def remove(self, lease_id: str, order: Order | None = None) -> None:
        document = None if order is None else order.document
        self.done(Removal(2, lease_id, document, is_over=True))

    # -- outcomes ----------------------------------------------------------------------------------------

    def judge(self, servers: Mapping[str, Any], host: str, told: StepFailedError | None = None) -> None:
        """Note what came of making room for each server.

        :param told: what leases are told that should get the host
        """
        node = self.driver._common.hosts.node(host)
        assert node is not None
        found = {each.id: each for each in self.all_servers()}
        named = told.servers.get(host, ()) if isinstance(told, HostsOccupiedError) else ()
        for name, server in servers.items():
            now = found.get(server.id)
            # Nova shows for a moment where a server was.
            is_there = now is not None and of.service(now) == host and now.status not in _ON_NO_HOST
            is_aside = now is not None and now.status in of.ASIDE and not of.is_busy(now)
            claims = self._claims(server, node.provider_id, waits=now is not None and now.status in _ON_NO_HOST)
            if (not claims or is_slot_only(claims)) and (not is_there or is_aside):
                self.outcomes[name] = Outcome.MADE_ROOM
                continue
            said = None if now is None else (now.status, of.task(now), now.locked_reason)
            assert server.id in named, f"{name}: it is there and nobody is told: {said}, {claims}, {told}"
            self.outcomes[name] = Outcome.STAYS

    def _claims(self, server: Any, provider_id: str, *, waits: bool) -> Mapping[str, int] | None:
        """Return what a server has of a host. If it is gone, wait until it has nothing: Nova is a little slower."""

        def claims() -> Mapping[str, int] | None:
            return self.held.held(server.id).get(provider_id)

        return self.until(claims, lambda left: not left) if waits else claims()

    def judge_return(self, servers: Mapping[str, Any], host: str, result: StepFailedError | Outcome | None) -> None:
        """Note what came of bringing each server back."""
        for name, server in servers.items():
            now = self.server(server)
            if now is None or now.status == of.SOFT_DELETED:
                self.outcomes[name] = Outcome.MADE_ROOM
            elif now.status == of.ACTIVE and of.service(now) == host:
                self.outcomes[name] = Outcome.CAME_BACK
            else:
                assert isinstance(result, StepFailedError), (name, now.status, of.task(now), result)
                self.outcomes[name] = Outcome.NOT_BACK

    def assert_others_get(self, host: str) -> None:
        """Check that a lease of another project gets a host."""
        lease_id = str(uuid4())
        self.done(self.of_others(self.due(OperationKind.START, lease_id, (host,), WHOLE)))
        assert is_slot_only(self.used(host)), self.used(host)
        self.done(self.of_others(self.due(OperationKind.STOP, lease_id, (host,), WHOLE)))

    def told_to_others(self, host: str, resources: Resources) -> StepFailedError | None:
        """Return what another lease fails of that should get a host, or None if it gets it. It does not wait for ever.

        Its engine is told which host is occupied, so that it gets another one.
        """
        lease_id = str(uuid4())
        result = self.result(self.of_others(self.due(OperationKind.START, lease_id, (host,), resources)))
        assert not isinstance(result, Outcome), ("it waits for ever", self.described())
        assert result is None or isinstance(result, HostsOccupiedError), result
        self.remove(lease_id)
        return result

    def each_kind(self, ending: Callable[[list[str]], None], endless: Callable[[list[str]], None]) -> None:
        """Try out the actions that come to an end, which let all steps succeed, and then those that do not."""
        for try_out, options, is_endless in ((ending, _ENDING, False), (endless, _ENDLESS, True)):
            self._use(options)
            chosen = [name for name in self.actions if ACTIONS[name].is_endless is is_endless]
            try_out([name for name in chosen if name not in self.staying])
            self.clean_up()
        self.report()

    def _use(self, options: DriverOptions) -> None:
        options = replace(options, room=replace(options.room, intruders=self.intruders))
        self.driver = self.new_driver(options)
        self.driver.set_pool(self.pool)

    def use_endless(self) -> None:
        """Have a driver that is not patient."""
        self._use(_ENDLESS)

    def go_on(self) -> None:
        """Have the hypervisors go on. From now on, all comes to an end."""
        self.let_go()
        self._use(_ENDING)

    def clean_up(self) -> None:
        """Delete what servers there are."""
        self.let_go()
        for server in self.all_servers():
            self.nova.servers.reset_state(server, "active")
            self.nova.servers.delete(server)
        self.until(self.all_servers, lambda servers: not servers)
        for server in self.nova.servers.list(search_opts={"all_tenants": 1, "deleted": 1, "status": "SOFT_DELETED"}):
            self.nova.servers.force_delete(server)

    def report(self) -> None:
        """Print what came of each action, and check that none is left out."""
        counted = Counter(each.value for each in self.outcomes.values())
        name = ".".join(self.id().split(".")[-2:])
        print(f"{name}: {len(self.outcomes)} actions: {dict(counted)}; refused by Nova: {sorted(self.refused)}")
        for action in self.actions:
            print(f"  {action}: {self.outcomes[action].value if action in self.outcomes else 'NOTHING'}")
        for what, times in Counter(self.unexpected).items():
            print(f"  {times} times: {what}")
        assert self.outcomes.keys() == set(self.actions), set(self.actions) - self.outcomes.keys()
        ending = {name for name in self.actions if not ACTIONS[name].is_endless} - self.staying
        told = {Outcome.STAYS, Outcome.NOT_BACK}
        assert not [name for name in ending if self.outcomes[name] in told], "what comes to an end lets steps succeed"
        assert self.refused == self.refused_by_nova & set(self.actions), sorted(self.refused)
