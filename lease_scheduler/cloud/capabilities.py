"""Optional capabilities of a driver, and a stand-in for each that a driver does not have.

A capability is a protocol, so a class has it if it has its methods. The class ``No...`` below it is its stand-in, which
does nothing, knows nothing, or refuses. ``service.requests.cloud_limits`` refuses terms of leases that need a missing
capability.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from lease_scheduler.cloud.differences import Difference
from lease_scheduler.cloud.facts import DriverEvent, Flavor, ImageFacts, LeaseOnHosts, LeaseServer
from lease_scheduler.cloud.observations import Observer
from lease_scheduler.cloud.orders import Expectation, ImageOrder, ImageProgress
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.model.providers import ProviderGroup


class Absent:
    """Mark of a stand-in for a capability that a driver does not have."""


def is_absent(capability: object) -> bool:
    """Return whether this is only a stand-in for a capability that the driver does not have."""
    return isinstance(capability, Absent)


class Events(Protocol):
    """Reports of events without an order in the cloud. Absent: outages of hosts and lost servers are not noticed."""

    def start(self, on_event: Callable[[DriverEvent], None], observer: Observer | None = None) -> None:
        """Begin to report events, from threads of the driver.

        :param observer: receives everything else that the driver sees
        """
        ...

    def stop(self) -> None:
        """Stop reporting."""
        ...


class NoEvents(Absent):
    """Stand-in that reports nothing."""

    def start(self, on_event: Callable[[DriverEvent], None], observer: Observer | None = None) -> None:
        """See ``Events.start``."""

    def stop(self) -> None:
        """See ``Events.stop``."""


class Announcements(Protocol):
    """Messages to the cloud of what is planned, so that it places other servers accordingly. Absent: none are sent."""

    def announce(self, starts: Mapping[str, int]) -> None:
        """Tell the cloud when leases start soon.

        :param starts: name of the compute host -> instant
        """
        ...

    def promise(self, lifetimes: Mapping[float, Mapping[str, int]], until: int) -> None:
        """Tell the cloud for how long servers without a lease are promised to run on the hosts of the pool.

        :param lifetimes: by probability, the default first: name of the compute host -> seconds from now on
        :param until: instant at which this is out of date
        """
        ...

    def tell_ends(self, ends: Mapping[str, int | None]) -> None:
        """Tell the cloud when leases end, so that no server of them starts afterwards, even if no engine runs then.

        :param ends: lease -> instant; None while its servers are started or resumed, which may take long
        """
        ...


class NoAnnouncements(Absent):
    """Stand-in that tells nothing."""

    def announce(self, starts: Mapping[str, int]) -> None:
        """See ``Announcements.announce``."""

    def promise(self, lifetimes: Mapping[float, Mapping[str, int]], until: int) -> None:
        """See ``Announcements.promise``."""

    def tell_ends(self, ends: Mapping[str, int | None]) -> None:
        """See ``Announcements.tell_ends``."""


class Shares(Protocol):
    """Division of the CPUs of hosts among servers of fluid leases. Absent: fluid leases are refused."""

    def share(self, revision: int, yields: Mapping[str, float]) -> None:
        """Set the parts of the CPU that servers of fluid leases get. Leases that are left out are not fluid.

        Returns soon, even if hosts do not answer. These get their shares when they are back.

        :param revision: rises with each change; a call with a lower one than an earlier call is ignored
        :param yields: lease -> part of the CPU that its servers need, more than 0 and at most 1
        """
        ...

    @property
    def degraded(self) -> Mapping[str, str]:
        """Hosts on which servers may have other parts of the CPU than ``share`` has set last -> reason."""
        ...

    def cpu_times(self) -> Mapping[str, float]:
        """Return the CPU seconds of each server of fluid leases since it was started, according to agents on hosts.

        Servers are left out if the agent of their host does not answer, or could not carry out the last order.
        """
        ...


class NoShares(Absent):
    """Stand-in that changes no shares."""

    degraded: Mapping[str, str] = {}

    def share(self, revision: int, yields: Mapping[str, float]) -> None:
        """See ``Shares.share``."""

    def cpu_times(self) -> Mapping[str, float]:
        """See ``Shares.cpu_times``."""
        return {}


class NoFlavors(Absent, Mapping[str, Flavor]):
    """Stand-in without any flavor, so that requests that name one are refused."""

    def __getitem__(self, flavor_id: str) -> Flavor:
        raise KeyError(flavor_id)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class Devices(Protocol):
    """Devices of nested providers, such as GPUs, for servers. Absent: leases of devices are refused."""

    def problem(self, group: ProviderGroup) -> str | None:
        """Return why servers of leases could not use the devices of a group, or None if they could."""
        ...


class NoDevices(Absent):
    """Stand-in with which no server can use a device."""

    def problem(self, group: ProviderGroup) -> str:
        """See ``Devices.problem``."""
        return "the driver of this cloud gives no devices to servers (capability devices); leave them out"


class Images(Protocol):
    """Facts about disk images. Absent: nothing is known of any image, so none is refused."""

    def facts(self, image_id: str) -> ImageFacts | None:
        """Return what is known about a disk image, or None if there is no image service."""
        ...


class NoImages(Absent):
    """Stand-in that knows no image."""

    def facts(self, image_id: str) -> None:
        """See ``Images.facts``."""


class ImageCaches(Protocol):
    """Transfers of disk images to hosts ahead of servers. Absent: each fails, so servers fetch their images."""

    def carry(self, order: ImageOrder) -> ImageProgress:
        """Begin to transfer an image to the caches of hosts, or check the transfer. Call it until the order is over.

        An order that is over is forgotten. Orders of an earlier engine may still be under way.

        :raises StepFailedError: it cannot be transferred
        """
        ...

    def clear(self) -> None:
        """Remove what is left of the image orders of an earlier engine."""
        ...


class NoImageCaches(Absent):
    """Stand-in with which every transfer fails."""

    def carry(self, order: ImageOrder) -> ImageProgress:
        """See ``ImageCaches.carry``."""
        reason = "the driver of this cloud transfers no images (capability image_caches)"
        return ImageProgress(failed=dict.fromkeys(sorted(order.hosts), reason), is_over=True)

    def clear(self) -> None:
        """See ``ImageCaches.clear``."""


class ServerGroups(Protocol):
    """Server groups for reservations that state an affinity. Absent: such reservations are refused."""

    def make(self, lease: Mapping[str, Any]) -> Mapping[str, str]:
        """Make the server groups of a new lease.

        :param lease: lease document
        :return: reservation -> id of its group, which the project is told
        :raises RefusedError: the cloud makes no more groups
        """
        ...

    def remove(self, groups: Iterable[str]) -> None:
        """Remove groups that were made for a refused lease. Those of accepted leases are removed with the lease."""
        ...


class NoServerGroups(Absent):
    """Stand-in that refuses server groups."""

    def make(self, lease: Mapping[str, Any]) -> Mapping[str, str]:
        """See ``ServerGroups.make``."""
        raise RefusedError(
            409,
            "affinity: the driver of this cloud makes no server groups (capability server_groups); leave it out",
            "affinity",
        )

    def remove(self, groups: Iterable[str]) -> None:
        """See ``ServerGroups.remove``."""


class Aggregates(Protocol):
    """The host aggregates of leases, which are shown to Blazar's clients. Absent: none are shown."""

    def aggregate_ids(self, lease_id: str, reservations: Collection[str]) -> Mapping[str, int]:
        """Return reservation -> id of the host aggregate with its instances, for reservations that have one.

        :param reservations: ids of instance reservations, all of this lease
        """
        ...


class NoAggregates(Absent):
    """Stand-in without aggregates."""

    def aggregate_ids(self, lease_id: str, reservations: Collection[str]) -> Mapping[str, int]:
        """See ``Aggregates.aggregate_ids``."""
        return {}


class Usage(Protocol):
    """The servers of leases, and what they use. Absent: neither a meter nor a source of needs can be chosen."""

    def servers_of(self, leases: Collection[LeaseOnHosts]) -> Mapping[str, Sequence[LeaseServer]]:
        """Return lease -> its servers; leases without servers may be left out."""
        ...

    def cpu_time(self, server_id: str) -> float | None:
        """Return the CPU seconds that a running server has used since it was started, or None if the cloud cannot tell.

        :raises Exception: the cloud does not answer
        """
        ...


class NoUsage(Absent):
    """Stand-in that knows no server."""

    def servers_of(self, leases: Collection[LeaseOnHosts]) -> Mapping[str, Sequence[LeaseServer]]:
        """See ``Usage.servers_of``."""
        return {}

    def cpu_time(self, server_id: str) -> None:
        """See ``Usage.cpu_time``."""


class Repair(Protocol):
    """Comparison and repair of details in the cloud. Absent: only footprints are compared."""

    def differences(
        self, expectations: Collection[Expectation], live: Mapping[str, int], pool: Collection[str]
    ) -> list[Difference]:
        """Return the differences between what is in the cloud for leases and what should be there. Change nothing.

        :param expectations: leases to compare; others are left out
        :param live: number of nodes of each live lease; nothing that belongs to these counts as left over
        :param pool: names of the compute hosts of the pool
        """
        ...

    def mend(self, expectation: Expectation) -> None:
        """Restore what a lease should have and no operation restores: the metadata of a suspended lease."""
        ...

    def remove_left_over(self, left_over: Collection[Difference], live: Mapping[str, int]) -> int:
        """Remove things that belong to no lease, and return the number of those that are gone now.

        :param live: number of nodes of each lease that is live now; nothing that belongs to these is removed
        """
        ...


class NoRepair(Absent):
    """Stand-in that finds no differences."""

    def differences(
        self, expectations: Collection[Expectation], live: Mapping[str, int], pool: Collection[str]
    ) -> list[Difference]:
        """See ``Repair.differences``."""
        return []

    def mend(self, expectation: Expectation) -> None:
        """See ``Repair.mend``."""

    def remove_left_over(self, left_over: Collection[Difference], live: Mapping[str, int]) -> int:
        """See ``Repair.remove_left_over``."""
        return 0


class Uninstall(Protocol):
    """Removal of what the service has in the cloud independently of leases. Absent: uninstalling is refused."""

    def problem(self) -> str | None:
        """Return why ``leave`` cannot tell what is ours, or None if it can."""
        ...

    def leave(self, *, keep_providers: bool = False) -> frozenset[str]:
        """Remove what is there independently of leases. There must be no leases, and no hosts in the pool.

        :param keep_providers: whether to keep empty resource providers
        :return: names of the hosts whose compute services must be reloaded, as one of their providers is gone
        """
        ...


class NoUninstall(Absent):
    """Stand-in that refuses to uninstall."""

    def problem(self) -> str:
        """See ``Uninstall.problem``."""
        return "the driver of this cloud cannot tell what it has made there (capability uninstall)"

    def leave(self, *, keep_providers: bool = False) -> frozenset[str]:
        """See ``Uninstall.leave``."""
        return frozenset()
