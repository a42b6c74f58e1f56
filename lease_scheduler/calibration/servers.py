"""The test servers of a calibration. A tag marks them, so that those of a killed run can be found."""

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
from lease_scheduler.cloud.nova.api import server as of
from lease_scheduler.cloud.nova.api.listing import all_flavors
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.nova.boots import FLAVOR_PREEMPTIBLE

#: Tag of the servers, and extra spec of the flavor.
TAG = "lease-scheduler-calibration"
_SPEC = "lease-scheduler:calibration"

#: Seconds between two checks of busy servers. The checks only tell when to continue; they measure nothing.
_LOOK = 0.25

_Wanted = TypeVar("_Wanted")

_SOFT_DELETED = "SOFT_DELETED"

_FAILURES = (ClientException, SessionError)

#: Nova's status of a server when an operation is over; None if the server is gone.
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
    """The image, flavor and network of the test servers.

    :ivar flavor_id: id of the flavor made for the calibration
    :ivar network_id: id of the network; None for no network
    """

    image_id: str
    flavor_id: str
    network_id: str | None = None


@dataclass
class _Asked:
    """An operation that was requested from Nova.

    :ivar requests: Nova's ids of the requests
    """

    server_id: str
    host: str
    commanded: float
    requests: list[str] = field(default_factory=list)
    problem: str = ""
    is_over: bool = False


class Servers:
    """The test servers, and the times of operations on them.

    :param nova: novaclient's client of an administrator, in the project of the test servers
    :param times: source of instants
    :param limit: seconds that an operation may take
    """

    def __init__(self, nova: Any, times: Times, limit: float) -> None:
        self._nova = nova
        self._times = times
        self._limit = limit

    def boot(self, kind: Kind, hosts: Sequence[str]) -> list[Sample]:
        """Boot servers at once, one for each entry of ``hosts``.

        :param hosts: names of compute services; a name may be repeated
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
        """Carry out one operation on several servers at once, and wait until it is over.

        :param servers: id and host of each server; a server is unshelved to this host
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
        """Check how far an operation is; a request that fails is repeated by the next check."""
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
                # Nova may be configured to keep a shelved server on its host for a while.
                asked.requests += _requests(self._nova.servers.shelve_offload(server))
        elif operation is MeasuredOperation.DELETE and server.status == _SOFT_DELETED:
            with suppress(*_FAILURES):
                # Nova may be configured to keep deleted servers for a while, so that they can be restored.
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


# -- what a run leaves behind --------------------------------------------------------------------------------------


def ours(nova: Any) -> list[Any]:
    """Return the servers in our project that calibrations have made."""
    found: list[Any] = nova.servers.list(search_opts={"tags": TAG}, limit=-1)
    return [each for each in found if each.status != of.DELETED]


def make_flavor(nova: Any, original: Any) -> Any:
    """Make a private copy of a flavor, marked as preemptible, so that its servers may run on hosts of the pool."""
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
    """Return the flavors that calibrations have made.

    They are recognized by name, because a killed run may not have set the extra spec.
    """
    return [each for each in all_flavors(nova) if each.name.startswith(f"{TAG}-")]


def clean(nova: Any, limit: float) -> tuple[int, int]:
    """Remove all servers and flavors that calibrations have made in our project.

    :param limit: seconds that this may take
    :return: the numbers of servers and of flavors
    :raises InvalidValueError: some servers are still there after the limit
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
