"""Interface between the service and a cloud. Its unit is a small step that can be repeated without harm."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from lease_scheduler.cloud.differences import Difference
from lease_scheduler.cloud.facts import (
    DriverEvent,
    Flavor,
    Footprint,
    Hypervisor,
    ImageFacts,
    LeaseOnHosts,
    LeaseServer,
)
from lease_scheduler.cloud.host_services import HostServices
from lease_scheduler.cloud.observations import Observer
from lease_scheduler.cloud.orders import AnyOrder, Expectation, ImageOrder, ImageProgress
from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.model.providers import ProviderGroup


class StepFailedError(LeaseSchedulerError):
    """A step that cannot succeed where it was tried.

    :param host: name of the host that caused the failure, or None if no single host did
    :param gives_up: whether the operator allows that servers that do not make room are deleted
    """

    def __init__(self, reason: str, host: str | None = None, *, gives_up: bool = False) -> None:
        super().__init__(reason)
        self.host = host
        self.gives_up = gives_up


class HostsOccupiedError(StepFailedError):
    """Hosts that a lease cannot have because servers on them do not make room.

    :ivar servers: name of the host -> ids of these servers, none if leases without servers have what is missing; only
        operators may see them
    """

    def __init__(self, servers: Mapping[str, Collection[str]]) -> None:
        self.servers = {host: tuple(sorted(ids)) for host, ids in sorted(servers.items())}
        places = (f"{', '.join(ids) or 'none known'} on {host}" for host, ids in self.servers.items())
        super().__init__(f"servers do not give way: {'; '.join(places)}", next(iter(self.servers), None))


class Driver(Protocol):
    """A cloud. Every call may be repeated, also from another process, and finds by name what an earlier one made."""

    def steps(self, order: AnyOrder) -> tuple[str, ...]:
        """Return the names of the steps of an order, in the order in which they are done."""
        ...

    def perform(self, order: AnyOrder, step: str) -> int | None:
        """Do a step, or check how far it is.

        :return: the instant at which to check again, or None when it is done
        :raises StepFailedError: it cannot be done there
        """
        ...

    def footprints(self) -> Iterable[Footprint]:
        """Return what all leases have in the cloud."""
        ...

    def differences(
        self, expectations: Collection[Expectation], live: Mapping[str, int], pool: Collection[str]
    ) -> list[Difference]:
        """Compare what is in the cloud for leases with what should be there. Nothing is changed.

        :param expectations: leases to compare; others are left out
        :param live: number of VMs of each live lease; nothing that belongs to these counts as left over
        :param pool: names of the compute hosts of the pool
        """
        ...

    def mend(self, expectation: Expectation) -> None:
        """Restore what a lease should have and no operation makes: the metadata of a suspended lease."""
        ...

    def remove_left_over(self, left_over: Collection[Difference], live: Mapping[str, int]) -> int:
        """Remove what belongs to no lease. Return how many of these things are gone now.

        :param live: number of VMs of each lease that is live now; nothing that belongs to these is removed
        """
        ...

    def cannot_leave(self) -> str | None:
        """Return why ``leave`` cannot tell what is ours, or None if it can."""
        ...

    def leave(self, *, keep_providers: bool = False) -> frozenset[str]:
        """Remove what is there independently of leases, once there are neither leases nor hosts in the pool.

        :param keep_providers: whether empty resource providers stay
        :return: names of the hosts whose compute services must be told that a provider of theirs is gone
        """
        ...

    def hypervisors(self, names: Collection[str] | None = None) -> Iterable[Hypervisor]:
        """Return the compute hosts with these names that exist, or all; hosts outside the pool included."""
        ...

    def set_pool(self, names: Collection[str]) -> None:
        """Make exactly these compute hosts the pool of hosts for leases."""
        ...

    def pool(self) -> frozenset[str]:
        """Return the names of the compute hosts that are in the pool now, even if something else put them there."""
        ...

    def announce(self, starts: Mapping[str, int]) -> None:
        """Tell the cloud when leases start soon, so that it can place other servers accordingly.

        :param starts: name of the compute host -> instant
        """
        ...

    def promise(self, lifetimes: Mapping[float, Mapping[str, int]], until: int) -> None:
        """Tell the cloud for how long servers without a lease are promised to run on the hosts of the pool.

        :param lifetimes: by probability, the default first: name of the compute host -> seconds from now on
        :param until: instant from which on this is out of date
        """
        ...

    def tell_ends(self, ends: Mapping[str, int | None]) -> None:
        """Tell the cloud when leases end, so that no server starts in them afterwards, even if no engine runs then.

        :param ends: lease -> instant; None while its servers are started or resumed, which may take any time
        """
        ...

    def share(self, revision: int, yields: Mapping[str, float]) -> None:
        """Give servers of fluid leases the parts of the CPU that they are to get; leases that are absent are not fluid.

        Returns soon, also if hosts do not answer: these get their shares when they are back. A cloud that cannot change
        the shares of running servers does nothing.

        :param revision: rises with each change; a call with a lower one than an earlier call is ignored
        :param yields: lease -> part of the CPU that its servers need, more than 0 and at most 1
        """
        ...

    def without_shares(self) -> Mapping[str, str]:
        """Return hosts on which servers may have other parts of the CPU than ``share`` said last -> reason."""
        ...

    def flavors(self) -> Mapping[str, Flavor]:
        """Return all flavors by id."""
        ...

    def unusable(self, group: ProviderGroup) -> str | None:
        """Return why servers of leases could not use devices of nested providers that are granted to them, or None."""
        ...

    def image_facts(self, image_id: str) -> ImageFacts | None:
        """Return what is known about a disk image, or None if there is no image service."""
        ...

    def carry(self, order: ImageOrder) -> ImageProgress:
        """Begin to transfer an image to the caches of hosts, or check how far that is; called again until it is over.

        An order that is over is forgotten. An order of an earlier engine may still be under way.

        :raises StepFailedError: it cannot be transferred
        """
        ...

    def clear_carried(self) -> None:
        """Remove what is left of the image orders of an earlier engine."""
        ...

    def make_groups(self, lease: Mapping[str, Any]) -> Mapping[str, str]:
        """Make server groups for the reservations of a new lease that state an affinity.

        :param lease: lease document
        :return: reservation -> id of its group, which the project is told
        :raises RefusedError: the cloud makes no more groups
        """
        ...

    def remove_groups(self, groups: Iterable[str]) -> None:
        """Remove groups that were made for a lease that was refused. Those of accepted leases go with the lease."""
        ...

    def aggregate_ids(self, lease_id: str, reservations: Collection[str]) -> Mapping[str, int]:
        """Return reservation -> id of the host aggregate that its instances are in, for those that have one.

        :param reservations: ids of instance reservations, all of this lease
        """
        ...

    def servers_of(self, leases: Collection[LeaseOnHosts]) -> Mapping[str, Sequence[LeaseServer]]:
        """Return lease -> its servers, for meters; leases without servers may be left out."""
        ...

    def cpu_time(self, server_id: str) -> float | None:
        """Return the CPU seconds that a running server has used since it was started, or None if the cloud cannot tell.

        :raises Exception: the cloud does not answer
        """
        ...

    def agent_cpu_times(self) -> Mapping[str, float]:
        """Return the CPU seconds of the servers of fluid leases since they were started, as agents on hosts tell them.

        Servers are left out if the agent of their host does not answer, or could not carry out the last order.
        """
        ...

    @property
    def services(self) -> HostServices:
        """The compute services of the hosts, for hosts that sleep."""
        ...

    def start(self, on_event: Callable[[DriverEvent], None], observer: Observer | None = None) -> None:
        """Begin to report events, from threads of the driver.

        :param observer: receives what else a driver sees
        """
        ...

    def stop(self) -> None:
        """Stop reporting."""
        ...
