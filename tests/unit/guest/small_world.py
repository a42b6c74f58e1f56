"""A queue and a site in memory on one clock, and a guest between them that can be killed at any of its calls."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lease_scheduler.guest.errors import RefusedError
from lease_scheduler.guest.interfaces import QueueView
from lease_scheduler.guest.loading import load_controller
from lease_scheduler.guest.members import Membership
from lease_scheduler.guest.nodes import Lease, LeaseState, Margins, Power, QueueNode
from lease_scheduler.guest.pool import Done, HandlerPool
from lease_scheduler.guest.records import Records, Verb
from lease_scheduler.guest.rounds import Pauses, Rounds, Terms
from lease_scheduler.guest.values import Job, Limits

_MEMORY = "/dev/shm"

#: Seconds that it takes to power a node down.
_DOWN = 2


class KilledError(BaseException):
    """The guest is killed."""


@dataclass
class Switch:
    """Kills the guest at one of its calls, before or after the effect of the call; never if ``at`` is negative."""

    at: int = -1
    after: bool = False
    calls: int = 0

    def around(self, call: Callable[[], Any]) -> Any:
        """Make a call of the guest."""
        is_it = self.calls == self.at
        self.calls += 1
        if is_it and not self.after:
            raise KilledError
        found = call()
        if is_it:
            raise KilledError
        return found


@dataclass
class BatchJob:
    """A job: how many nodes for how long; which nodes it has, and since when it runs."""

    id: str
    width: int
    seconds: int
    nodes: list[str] = field(default_factory=list)
    started: int | None = None
    ends: int = 0

    @property
    def is_over(self) -> bool:
        return self.ends > 0


class SmallQueue:
    """A batch system with nodes that are powered up and down as Slurm does it."""

    def __init__(self, names: Sequence[str], tell: Callable[[Verb, list[str]], None]) -> None:
        self.now = 0
        #: Seconds that a node is idle before it is powered down
        self.idle = 6
        self.power = dict.fromkeys(names, Power.DOWN)
        self.since = dict.fromkeys(names, 0)
        self.draining: set[str] = set()
        #: Nodes whose machine runs, with the lease it is of
        self.machines: dict[str, str] = {}
        self.jobs: list[BatchJob] = []
        self._tell = tell

    def step(self, now: int) -> None:
        """Do what the batch system does by itself."""
        self.now = now
        for job in self.jobs:
            self._advance(job)
        for name, power in self.power.items():
            if power is Power.POWERING_DOWN and now - self.since[name] >= _DOWN:
                self._set(name, Power.DOWN)
            elif power is Power.POWERING_UP and name in self.machines:
                self._set(name, Power.UP)
            elif power is Power.UP and not self._jobs_on(name):
                if name in self.draining or now - self.since[name] >= self.idle:
                    self._power_down(name)
            elif self._jobs_on(name):
                self.since[name] = now if power is Power.UP else self.since[name]

    def _advance(self, job: BatchJob) -> None:
        if job.is_over:
            return
        if not job.nodes:
            usable = [n for n, p in self.power.items() if p in (Power.UP, Power.DOWN) and n not in self.draining]
            free = sorted((n for n in usable if not self._jobs_on(n)), key=lambda n: self.power[n] is Power.DOWN)
            if len(free) < job.width:
                return
            job.nodes = free[: job.width]
            off = [name for name in job.nodes if self.power[name] is Power.DOWN]
            for name in off:
                self._set(name, Power.POWERING_UP)
            if off:
                self._tell(Verb.RESUME, off)
        if any(name not in self.machines for name in job.nodes if self.power[name] is Power.UP):
            self._put_back(job)
        elif job.started is None and all(self.power[name] is Power.UP for name in job.nodes):
            job.started = self.now
        elif job.started is not None and self.now - job.started >= job.seconds:
            job.ends, job.nodes = job.ends + 1, []

    def _jobs_on(self, name: str) -> list[BatchJob]:
        return [job for job in self.jobs if name in job.nodes]

    def _set(self, name: str, power: Power) -> None:
        self.power[name], self.since[name] = power, self.now

    def _put_back(self, job: BatchJob) -> None:
        job.nodes, job.started = [], None

    def _power_down(self, name: str) -> None:
        self.draining.discard(name)
        self._set(name, Power.POWERING_DOWN)
        self._tell(Verb.SUSPEND, [name])

    def look(self) -> QueueView:
        nodes = {
            name: QueueNode(name, power, tuple(job.id for job in self._jobs_on(name)), name in self.draining)
            for name, power in self.power.items()
        }
        starting = [job for job in self.jobs if job.nodes and job.started is None]
        jobs = [Job(job.id, job.width, job.seconds) for job in starting]
        return QueueView(nodes, jobs, {name: job.id for job in starting for name in job.nodes})

    def locate(self, name: str, address: str) -> None:
        assert address == f"address-of-{name}"

    def drain(self, names: Sequence[str]) -> None:
        self.draining |= {name for name in names if self.power[name] in (Power.UP, Power.POWERING_UP)}

    def requeue(self, jobs: Sequence[str]) -> None:
        for job in self.jobs:
            if job.id in jobs and not job.is_over:
                self._put_back(job)

    def power_down_now(self, names: Sequence[str]) -> None:
        for name in names:
            for job in self._jobs_on(name):
                self._put_back(job)
            if self.power[name] is not Power.DOWN:
                self._power_down(name)

    def power_up(self, names: Sequence[str]) -> None:
        for name in names:
            self._set(name, Power.POWERING_UP)
        self._tell(Verb.RESUME, list(names))


@dataclass
class _Granted:
    terms: dict[str, Any]
    state: LeaseState
    start: int
    seconds: int


class SmallSite:
    """A site with some nodes; a lease starts when they are free. All terms are those of the first request of an id."""

    def __init__(self, nodes: int) -> None:
        self.now = 0
        self._nodes = nodes
        self.granted: dict[str, _Granted] = {}

    def step(self, now: int) -> None:
        """Start and end leases."""
        self.now = now
        for lease in self.granted.values():
            if lease.state is LeaseState.ACTIVE and now >= lease.start + lease.seconds:
                lease.state = LeaseState.OVER
        for lease in self.granted.values():
            if lease.state is LeaseState.WAITING and self._free() >= lease.terms["nodes"][0]["count"]:
                lease.state, lease.start = LeaseState.ACTIVE, now

    def _free(self) -> int:
        return self._nodes - sum(self.units(each) for each in self.granted.values())

    @staticmethod
    def units(lease: _Granted) -> int:
        return int(lease.terms["nodes"][0]["count"]) if lease.state is LeaseState.ACTIVE else 0

    def preempt(self) -> None:
        """Preempt all leases that run."""
        for lease in self.granted.values():
            if lease.state is LeaseState.ACTIVE:
                lease.state = LeaseState.LOST

    def live(self) -> list[str]:
        """Return the leases that are not over."""
        return [name for name, lease in self.granted.items() if lease.state is not LeaseState.OVER]

    def leases(self, ids: Sequence[str]) -> dict[str, Lease]:
        return {each: self._shown(each) for each in ids if each in self.granted}

    def _shown(self, lease_id: str) -> Lease:
        lease = self.granted[lease_id]
        end = lease.start + lease.seconds if lease.state is LeaseState.ACTIVE else None
        return Lease(lease_id, lease.state, lease.seconds, end, end)

    def describe(self, lease_id: str) -> dict[str, Any]:
        return {"id": lease_id}

    def ask(self, lease_id: str, terms: Mapping[str, Any]) -> None:
        found = self.granted.setdefault(lease_id, _Granted(dict(terms), LeaseState.WAITING, 0, terms["duration"]))
        assert found.terms == terms, "an id is used twice"

    def extend(self, lease_id: str, seconds: int) -> None:
        lease = self.granted[lease_id]
        if lease.state is not LeaseState.ACTIVE:
            raise RefusedError("the lease does not run")
        lease.seconds = max(lease.seconds, seconds)

    def end(self, lease_id: str) -> None:
        if lease_id in self.granted:
            self.granted[lease_id].state = LeaseState.OVER


class _Killable:
    """Passes calls on through a switch."""

    def __init__(self, target: Any, switch: Switch) -> None:
        self._target, self._switch = target, switch

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._target, name)
        return lambda *words: self._switch.around(lambda: method(*words))


class _Machines:
    """Handlers that switch machines on and off, and tell the queue."""

    def __init__(self, queue: SmallQueue) -> None:
        self._queue = queue

    def join(self, node: str, lease: Mapping[str, Any]) -> str:
        self._queue.machines[node] = str(lease["id"])
        return f"address-of-{node}"

    def leave(self, node: str, lease: Mapping[str, Any]) -> None:
        self._queue.machines.pop(node, None)


class _InlinePool(HandlerPool):
    """Runs a handler when it is started."""

    def __init__(self) -> None:
        super().__init__(1)
        self._done: list[Done] = []

    def start(self, node: str, step: str, call: Callable[[], str | None]) -> bool:
        self._done.append(Done(node, step, address=call()))
        return True

    def collect(self) -> list[Done]:
        done, self._done = self._done, []
        return done


class SmallWorld:
    """Queue, site and guest.

    :param jobs: width and seconds of each job
    """

    def __init__(self, controller: str, limits: Limits, jobs: Sequence[tuple[int, int]]) -> None:
        # In memory where possible: a disk would spend minutes on the transactions of some hundred worlds.
        self._folder = tempfile.TemporaryDirectory(dir=_MEMORY if Path(_MEMORY).is_dir() else None)
        self._path = Path(self._folder.name) / "guest.sqlite"
        self._told = Records(self._path)
        self.queue = SmallQueue([f"c{number}" for number in range(limits.nodes)], self._told.tell)
        self.queue.jobs = [BatchJob(str(number), *job) for number, job in enumerate(jobs)]
        self.site = SmallSite(limits.nodes)
        self.now = 0
        self._controller, self._limits = controller, limits
        self.switch = Switch()
        self._records, self._rounds = self._guest()

    def _guest(self) -> tuple[Records, Rounds]:
        records = Records(self._path)
        queue, site = _Killable(self.queue, self.switch), _Killable(self.site, self.switch)
        handlers, margins = _Killable(_Machines(self.queue), self.switch), Margins(drain=8, requeue=4, force=10)
        members = Membership(records, queue, site, handlers, _InlinePool(), margins)
        controller = load_controller(self._controller, self._limits)
        terms = Terms({"name": "guest"}, {"resources": {"VCPU": 1}})
        return records, Rounds(
            records,
            queue,
            site,
            controller,
            members,
            terms,
            Pauses(refused=5),
            lambda: self.now,
        )

    def step(self) -> None:
        """Let a second pass. A guest that is killed is started again."""
        self.now += 1
        self.site.step(self.now)
        self.queue.step(self.now)
        try:
            self._rounds.round()
        except KilledError:
            self._records.close()
            self._records, self._rounds = self._guest()
        units = sum(self.site.units(each) for each in self.site.granted.values())
        assert units <= self._limits.nodes

    def run(self, seconds: int) -> None:
        """Let seconds pass until all work is done and all nodes are back."""
        end = self.now + seconds
        while self.left():
            assert self.now < end, self.left()
            self.step()

    def left(self) -> list[str]:
        """Return what is left of jobs, leases, machines, nodes and records."""
        found = [f"job {job.id} with {job.nodes}" for job in self.queue.jobs if not job.is_over]
        found += [f"lease {each}" for each in self.site.live()]
        found += [f"machine {name}" for name in self.queue.machines]
        found += [f"node {name} is {power}" for name, power in self.queue.power.items() if power is not Power.DOWN]
        found += [f"record {each}" for each in (*self._records.leases(), *self._records.nodes())]
        return found

    def close(self) -> None:
        """Close the database."""
        self._records.close()
        self._told.close()
        self._folder.cleanup()
