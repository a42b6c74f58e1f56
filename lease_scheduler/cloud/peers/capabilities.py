"""What a site of a microversion can be asked to do, and what it says of itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from keystoneauth1.discover import normalize_version_number

from lease_scheduler.federation.members import MemberDescription, Verb
from lease_scheduler.federation.published_load import load_of
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources
from lease_scheduler.sdk.reports import SiteDescription
from lease_scheduler.sdk.resources import Host

#: From this microversion on, the history of a lease has the numbers of transitions.
NUMBERED = (1, 47)
#: From this microversion on, a site describes itself to peers, which say for whom they ask, and a request that is still
#: on its way can be withdrawn.
DESCRIBED = WITHDRAWING = (1, 48)

#: From this microversion on, peers can request leases for projects of the site.
FOR_PROJECTS = (1, 50)

#: Microversion -> verbs that it adds. Leases are named by ids that clients choose, which 1.18 brought, and held quotes
#: only have since 1.47: a hold that cannot be repeated would be lost with its answer.
_SINCE = {
    (1, 12): (Verb.QUOTE,),
    (1, 18): (Verb.SUBMIT, Verb.CHANGE, Verb.END, Verb.SHOW),
    (1, 44): (Verb.EVENTS,),
    (1, 47): (Verb.HOLD, Verb.ACCEPT, Verb.REJECT),
}


def version_of(text: str) -> tuple[int, ...]:
    """Return a microversion such as 1.45 as numbers."""
    return tuple(int(part) for part in normalize_version_number(text))


def verbs_of(version: tuple[int, ...]) -> frozenset[Verb]:
    """Return what a site of a microversion can be asked to do."""
    return frozenset(verb for since, verbs in _SINCE.items() if version >= since for verb in verbs)


def description_of(site: SiteDescription, version: tuple[int, ...]) -> MemberDescription:
    """Return what a site says of itself.

    :raises InvalidValueError: a figure is impossible
    """
    return MemberDescription(
        Resources(site.capacity or {}),
        verbs_of(version) & {verb for verb in Verb if verb.value in site.verbs},
        None if site.load is None else load_of(site.load),
        site.speed,
    )


def capacity_of(hosts: Iterable[Host]) -> Resources:
    """Return the amounts of the hosts that leases may use, without those of nested providers."""
    found: Counter[str] = Counter()
    for host in hosts:
        if host.is_reservable is not False:
            found.update(host.resources or {VCPU: host.vcpus, MEMORY_MB: host.memory_mb, DISK_GB: host.local_gb})
    return Resources(found)
