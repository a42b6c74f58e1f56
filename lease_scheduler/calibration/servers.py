"""The servers that are measured: ours alone, known by a tag in our own project, so that a crash leaves none unknown."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from keystoneauth1.exceptions import ClientException as SessionError
from novaclient.exceptions import ClientException, Conflict, NotFound

from lease_scheduler.calibration.samples import MeasuredOperation, Sample
from lease_scheduler.calibration.times import Times
from lease_scheduler.cloud.nova import server as of
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.nova.boots import FLAVOR_PREEMPTIBLE

#: Tag of the servers and extra spec of the flavor.
TAG = "lease-scheduler-calibration"
_SPEC = "lease-scheduler:calibration"

#: Seconds between two looks at servers that are busy: they only say when to go on.
_LOOK = 0.25

_Wanted = TypeVar("_Wanted")

_SOFT_DELETED = "SOFT_DELETED"

_FAILURES = (ClientException, SessionError)

#: In which state a server is when an operation is over; none if it is gone.
_STATE = {
    MeasuredOperation.BOOT: of.ACTIVE,
    MeasuredOperation.SUSPEND: of.SUSPENDED,
    MeasuredOperation.RESUME: of.ACTIVE,
    MeasuredOperation.SHELVE: of.OFFLOADED,
    MeasuredOperation.UNSHELVE: of.ACTIVE,
    MeasuredOperation.STOP: of.STOPPED,
    MeasuredOperation.START: of.ACTIVE,
    MeasuredOperation.DELETE: None,
}


@dataclass(frozen=True)
class Kind:
    """What servers are made of.

    :ivar flavor_id: of a flavor of our own
    :ivar network_id: none for no network
    """

    image_id: str
    flavor_id: str
    network_id: str | None = None


@dataclass
class _Asked:
    """An operation that Nova was asked for.

    :ivar requests: ids that Nova gave the requests for it
    """

    server_id: str
    host: str
    commanded: float
    requests: list[str] = field(default_factory=list)
    problem: str = ""
    is_over: bool = False


class Servers:
    """Makes servers, and times what is done with them.

    :param nova: novaclient's client, of an administrator, in the project that has the servers
    :param times: where instants come from
    :param limit: seconds that an operation may take
    """

    def __init__(self, nova: Any, times: Times, limit: float) -> None:
        self._nova = nova
        self._times = times
        self._limit = limit

    def boot(self, kind: Kind, hosts: Sequence[str]) -> list[Sample]:
        """Boot a server on each of these hosts, of which one may be named several times, all at once.

        :param hosts: names of compute services
        """
        nics: Any = "none" if kind.network_id is None else [{"net-id": kind.network_id}]

        def create(host: str) -> _Asked:
            commanded = time.time()
            try:
                made = self._nova.servers.create(
                    f"{TAG}-{uuid.uuid4()}", kind.image_id, kind.flavor_id, nics=nics, tags=[TAG], host=host
                )
            except _FAILURES as error:
                return _Asked("", host, commanded, problem=f"boot: Nova refuses it: {error}", is_over=True)
            return _Asked(made.id, host, commanded, _requests(made))

        return self._timed(MeasuredOperation.BOOT, _at_once(create, hosts))

    def operate(self, operation: MeasuredOperation, servers: Sequence[tuple[str, str]]) -> list[Sample]:
        """Do the same with servers, asked for at once, and wait until it is over.

        :param servers: id and host of each, to which it is unshelved, too
        """
        return self._timed(operation, _at_once(lambda each: self._ask(operation, *each), servers))

    def _ask(self, operation: MeasuredOperation, server_id: str, host: str) -> _Asked:
        servers = self._nova.servers
        commands: Mapping[MeasuredOperation, Callable[[], Any]] = {
            MeasuredOperation.SUSPEND: lambda: servers.suspend(server_id),
            MeasuredOperation.RESUME: lambda: servers.resume(server_id),
            MeasuredOperation.SHELVE: lambda: servers.shelve(server_id),
            MeasuredOperation.UNSHELVE: lambda: servers.unshelve(server_id, host=host),
            MeasuredOperation.STOP: lambda: servers.stop(server_id),
            MeasuredOperation.START: lambda: servers.start(server_id),
            MeasuredOperation.DELETE: lambda: servers.delete(server_id),
        }
        asked = _Asked(server_id, host, time.time())
        try:
            asked.requests += _requests(commands[operation]())
        except _FAILURES as error:
            asked.problem, asked.is_over = f"{operation.value}: Nova refuses it: {error}", True
        return asked

    def _timed(self, operation: MeasuredOperation, asked: Sequence[_Asked]) -> list[Sample]:
        end = time.monotonic() + self._limit
        while True:
            for each in asked:
                if not each.is_over:
                    self._look(operation, each)
            if all(each.is_over for each in asked):
                break
            if time.monotonic() > end:
                for each in asked:
                    if not each.is_over:
                        each.problem = f"{operation.value}: is not over after {self._limit:.0f} s"
                break
            time.sleep(_LOOK)
        return [self._sample(operation, each) for each in asked]

    def _look(self, operation: MeasuredOperation, asked: _Asked) -> None:
        """See how far Nova is; a request that fails is made again."""
        wanted = _STATE[operation]
        try:
            server = self._nova.servers.get(asked.server_id)
        except NotFound:
            asked.is_over = True
            asked.problem = "" if wanted is None else f"{operation.value}: the server is gone"
            return
        except _FAILURES:
            return
        if server.status == of.ERROR:
            asked.is_over, asked.problem = True, f"{operation.value}: {of.fault(server)}"
        elif of.is_busy(server):
            return
        elif server.status == wanted:
            asked.is_over = True
        elif operation is MeasuredOperation.SHELVE and server.status == of.SHELVED:
            with suppress(*_FAILURES):
                # Where Nova leaves what is shelved on its host for a while.
                asked.requests += _requests(self._nova.servers.shelve_offload(server))
        elif operation is MeasuredOperation.DELETE and server.status == _SOFT_DELETED:
            with suppress(*_FAILURES):
                # Where Nova keeps what is deleted for a while, in case it is wanted again.
                asked.requests += _requests(self._nova.servers.force_delete(server))

    def _sample(self, operation: MeasuredOperation, asked: _Asked) -> Sample:
        sample = Sample(operation, asked.server_id, asked.host, asked.commanded, problem=asked.problem)
        if asked.problem:
            return sample
        try:
            found = self._times.find(operation, asked.server_id, asked.commanded, asked.requests)
        except _FAILURES as error:
            return _failed(sample, f"Nova does not tell how long it took: {error}")
        if found is None:
            return _failed(sample, f"{self._times.name} do not tell how long it took")
        begun, ended = found
        if ended < begun:
            return _failed(sample, "it ends before it begins; do the clocks of the hosts agree?")
        return Sample(operation, asked.server_id, asked.host, asked.commanded, max(begun, asked.commanded), ended)


def _at_once(ask: Callable[[_Wanted], _Asked], wanted: Sequence[_Wanted]) -> list[_Asked]:
    with ThreadPoolExecutor(len(wanted)) as pool:
        return list(pool.map(ask, wanted))


def _failed(sample: Sample, problem: str) -> Sample:
    text = f"{sample.operation.value}: {problem}"
    return Sample(sample.operation, sample.server_id, sample.host, sample.commanded, problem=text)


def _requests(answer: Any) -> list[str]:
    return list(getattr(answer, "request_ids", None) or ())


# -- what is left of a run -----------------------------------------------------------------------------------------


def ours(nova: Any) -> list[Any]:
    """The servers of our own project that a run has made."""
    found: list[Any] = nova.servers.list(search_opts={"tags": TAG}, limit=-1)
    return [each for each in found if each.status != of.DELETED]


def make_flavor(nova: Any, original: Any) -> Any:
    """A private copy of a flavor whose servers give way to leases: so they may be on hosts of the pool."""
    copy = nova.flavors.create(
        f"{TAG}-{uuid.uuid4()}",
        original.ram,
        original.vcpus,
        original.disk,
        ephemeral=getattr(original, "OS-FLV-EXT-DATA:ephemeral", 0),
        swap=original.swap or 0,
        is_public=False,
    )
    copy.set_keys({**original.extra_specs, FLAVOR_PREEMPTIBLE[0]: "true", _SPEC: "true"})
    return copy


def flavors(nova: Any) -> list[Any]:
    """The flavors that runs have made; one is known by its name, too, in case a run ended before it said more."""
    return [each for each in nova.flavors.list(is_public=None) if each.name.startswith(f"{TAG}-")]


def clean(nova: Any, limit: float) -> tuple[int, int]:
    """Remove all servers and flavors that runs have made in our own project.

    :param limit: seconds that it may take
    :return: how many servers and flavors there were
    :raises InvalidValueError: some do not go in time
    """
    end = time.monotonic() + limit
    removed: set[str] = set()
    while left := ours(nova):
        for server in left:
            if of.task(server) != "deleting" and (server.id not in removed or not of.is_busy(server)):
                with suppress(NotFound, Conflict):
                    nova.servers.delete(server)
            removed.add(server.id)
        if time.monotonic() > end:
            ids = ", ".join(sorted(server.id for server in left))
            raise InvalidValueError("--clean", f"these servers are not gone after {limit:.0f} s: {ids}; try again")
        time.sleep(_LOOK)
    of_ours = flavors(nova)
    for flavor in of_ours:
        with suppress(NotFound):
            nova.flavors.delete(flavor)
    return len(removed), len(of_ours)
