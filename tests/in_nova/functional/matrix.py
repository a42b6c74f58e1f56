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
from lease_scheduler.cloud.nova import server as of
from lease_scheduler.cloud.nova.driver import DriverOptions
from lease_scheduler.cloud.nova.lease_parts import is_slot_only
from lease_scheduler.cloud.nova.lost import LostOptions
from lease_scheduler.cloud.nova.room import RoomOptions
from lease_scheduler.cloud.orders import AnyOrder, Order, Removal
from lease_scheduler.engine.interfaces import OperationKind
from lease_scheduler.model.resources import HOST_SHARE, Resources
from tests.in_nova.functional.members import ACTIONS, MemberSite
from tests.in_nova.functional.site import IMAGE, WHOLE

#: Of one server.
TINY = Resources({"VCPU": 1, "MEMORY_MB": 64, "DISK_GB": 1, HOST_SHARE: 1})

#: Seconds for which the driver is patient: long for what comes to an end, and short for what does not.
_ENDING = DriverOptions(room=RoomOptions(escalate_after=40, intruder_patience=120), lost=LostOptions(lost_after=15))
_ENDLESS = DriverOptions(room=RoomOptions(escalate_after=5, intruder_patience=5), lost=LostOptions(5, 25, 600))

#: Seconds until a step that is under way counts as one that goes on for ever; patience is shorter.
FOR_EVER = 240.0

#: Seconds between two looks at many servers, which take Nova long.
PAUSE = 1.0

#: Servers that are booted at once: more take Nova a time that grows with the square of their number.
_AT_ONCE = 4

OTHERS = "another-project"


class Outcome(Enum):
    """What came of a step for a server. There is no other one."""

    #: The server needs nothing of the host any more.
    MADE_ROOM = "made room"
    #: It runs again where its lease has its hosts.
    CAME_BACK = "came back"
    #: The step has failed in time, and said which host is not available.
    GAVE_UP = "gave up"


class MatrixSite(MemberSite):
    """A site where many servers are handled at once, each after another action of a member."""

    def setUp(self) -> None:
        super().setUp()
        self.pool: tuple[str, ...] = ("host1", "host2")
        self.driver.set_pool(self.pool)
        self.outcomes: dict[str, Outcome] = {}
        self.acted: dict[str, str] = {}
        self.succeeds = True
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

    def due(self, kind: OperationKind, lease_id: str, hosts: tuple[str, ...], *arguments: Any, **said: Any) -> Order:
        """Return an order that begins and is due now."""
        order = self.order(kind, lease_id, hosts, *arguments, late=1, **said)
        return replace(order, operation=replace(order.operation, begun=int(time.time())))

    def of_others(self, order: Order) -> Order:
        return replace(order, document=replace(order.document, project_id=OTHERS))

    def result(self, order: AnyOrder) -> StepFailedError | None:
        """Carry out an order as the executor does. Return what it failed of."""
        for step in self.driver.steps(order):
            begun = time.monotonic()
            while True:
                try:
                    if self.driver.perform(order, step) is None:
                        break
                except StepFailedError as error:
                    return error
                except Exception as error:
                    # The executor tries it again.
                    self.unexpected.append(f"{step}: {error!r}")
                assert time.monotonic() < begun + FOR_EVER, (step, self.described(), self.unexpected[-3:])
                time.sleep(PAUSE)
        return None

    def done(self, order: AnyOrder) -> None:
        error = self.result(order)
        assert error is None, error

    def tried(self, order: AnyOrder) -> StepFailedError | None:
        """Carry out an order. Return what it failed of, which only endless actions may bring about."""
        error = self.result(order)
        assert error is None or not self.succeeds, error
        return error

    # -- outcomes ----------------------------------------------------------------------------------------

    def judge(self, servers: Mapping[str, Any], host: str, error: StepFailedError | None) -> None:
        """Note what came of a step for each server."""
        node = self.driver._hosts.node(host)
        assert node is not None
        found = {each.id: each for each in self.all_servers()}
        for name, server in servers.items():
            now = found.get(server.id)
            is_there = now is not None and getattr(now, "OS-EXT-SRV-ATTR:host") == host
            is_aside = now is not None and now.status in ("SHUTOFF", "SUSPENDED")
            claims = self.held.held(server.id).get(node.provider_id)
            if (not claims or is_slot_only(claims)) and (not is_there or is_aside):
                self.outcomes[name] = Outcome.MADE_ROOM
                continue
            said = None if now is None else (now.status, getattr(now, "OS-EXT-STS:task_state"), now.locked_reason)
            assert error is not None, f"{name}: nothing has failed, but the server is there: {said}, {claims}"
            named = error.servers if isinstance(error, HostsOccupiedError) else {error.host}
            assert host in named, f"{name}: {error} does not say that it is about {host}"
            self.outcomes[name] = Outcome.GAVE_UP

    def judge_return(self, servers: Mapping[str, Any], host: str, error: StepFailedError | None) -> None:
        """Note what came of bringing each server back."""
        for name, server in servers.items():
            now = self.server(server)
            if now is None or now.status == "SOFT_DELETED":
                self.outcomes[name] = Outcome.MADE_ROOM
            elif now.status == "ACTIVE" and getattr(now, "OS-EXT-SRV-ATTR:host") == host:
                self.outcomes[name] = Outcome.CAME_BACK
            else:
                assert error is not None, (name, now.status, of.task(now))
                self.outcomes[name] = Outcome.GAVE_UP

    def assert_others_get(self, host: str) -> None:
        """Check that a lease of another project gets a host."""
        lease_id = str(uuid4())
        self.done(self.of_others(self.due(OperationKind.START, lease_id, (host,), WHOLE)))
        assert is_slot_only(self.used(host)), self.used(host)
        self.done(self.of_others(self.due(OperationKind.STOP, lease_id, (host,), WHOLE)))

    def each_kind(self, try_out: Callable[[list[str]], None], stays: Collection[str] = ()) -> None:
        """Try out all actions: those that let the step succeed, and then those that need not.

        :param stays: those that need not, besides those that do not end
        """
        for succeeds, options in ((True, _ENDING), (False, _ENDLESS)):
            self.driver = self.new_driver(options)
            self.driver.set_pool(self.pool)
            chosen = [name for name, each in ACTIONS.items() if succeeds is not (each.is_endless or name in stays)]
            self.succeeds = succeeds
            try_out(chosen)
            self.let_go()
            self.clean_up()
        self.report()

    def clean_up(self) -> None:
        """Delete what servers there are."""
        for server in self.all_servers():
            self.nova.servers.reset_state(server, "active")
            self.nova.servers.delete(server)
        self.until(self.all_servers, lambda servers: not servers)
        for server in self.nova.servers.list(search_opts={"all_tenants": 1, "deleted": 1, "status": "SOFT_DELETED"}):
            self.nova.servers.force_delete(server)

    def report(self) -> None:
        assert self.outcomes.keys() == ACTIONS.keys(), ACTIONS.keys() - self.outcomes.keys()
        counted = ", ".join(f"{count} {each.value}" for each, count in Counter(self.outcomes.values()).items())
        gave_up = sorted(name for name, outcome in self.outcomes.items() if outcome is Outcome.GAVE_UP)
        print(f"{self.id().rpartition('.')[2]}: {len(self.outcomes)} cases: {counted}; refused: {sorted(self.refused)}")
        print(f"  gave up: {gave_up}; unexpected: {Counter(self.unexpected)}")

    def remove(self, lease_id: str, order: Order | None = None) -> None:
        document = None if order is None else order.document
        self.done(Removal(2, lease_id, document, is_over=True))
