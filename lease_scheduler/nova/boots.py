"""The parts of Nova's scheduling request that leases depend on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lease_scheduler.model.durations import seconds_of
from lease_scheduler.nova.aggregates import is_true, probability
from lease_scheduler.nova.rules import Boot, Lifetime

#: Scheduler hints that name a lease; the second one is Blazar's.
HINTS = ("lease", "reservation")

#: Extra specs of the flavor of a lease, and of an instance reservation of Blazar.
FLAVOR_LEASE = "lease:id"
_FLAVOR_RESERVATION = "aggregate_instance_extra_specs:reservation"

#: Extra specs of a flavor whose servers make room for leases.
FLAVOR_PREEMPTIBLE = ("lease:preemptible", "blazar:preemptible")

#: Extra specs of a flavor whose servers go only where this lifetime is promised with this probability.
FLAVOR_LIFETIME = "lease:min_lifetime"
FLAVOR_ASSURANCE = "lease:assurance"

#: Extra specs that ask for resources, in or outside of a group.
_RESOURCES = re.compile("resources[^:]*:(.+)")

#: Scheduler hint with the name of the host that is planned for a server of a lease.
_PLANNED_HOST = "lease:host"


def read_boot(spec: Any) -> Boot:
    """Return what the rules need of Nova's ``RequestSpec``."""
    extra_specs: Mapping[str, str] = spec.flavor.extra_specs if "extra_specs" in spec.flavor else {}
    return Boot(
        spec.project_id,
        tuple(name for hint in HINTS for name in _hint(spec, hint)),
        extra_specs.get(FLAVOR_LEASE) or extra_specs.get(_FLAVOR_RESERVATION),
        any(is_true(extra_specs.get(key)) for key in FLAVOR_PREEMPTIBLE),
        _claims(spec, extra_specs),
        _lifetime(extra_specs),
    )


def _lifetime(extra_specs: Mapping[str, str]) -> Lifetime | None:
    """Return the lifetime that a flavor asks for, or None. One that cannot be read is promised nowhere."""
    lifetime, assurance = extra_specs.get(FLAVOR_LIFETIME), extra_specs.get(FLAVOR_ASSURANCE)
    if lifetime is None:
        return None if assurance is None else Lifetime(mistake=f"{FLAVOR_ASSURANCE} needs {FLAVOR_LIFETIME}")
    seconds = seconds_of(lifetime.strip())
    if not seconds:
        return Lifetime(mistake=f"{FLAVOR_LIFETIME} must be a duration such as 6h, not {lifetime!r}")
    if assurance is None:
        return Lifetime(seconds)
    asked = probability(assurance)
    if asked is None:
        return Lifetime(mistake=f"{FLAVOR_ASSURANCE} must be more than 0 and less than 1, not {assurance!r}")
    return Lifetime(seconds, asked)


def _claims(spec: Any, extra_specs: Mapping[str, str]) -> frozenset[str]:
    """Return the resource classes that a server asks for beyond the size of its flavor."""
    asked = (match[1] for key, value in extra_specs.items() if value != "0" and (match := _RESOURCES.fullmatch(key)))
    # Nova puts here what ports and aliases of PCI devices ask for.
    groups = (spec.requested_resources or ()) if "requested_resources" in spec else ()
    return frozenset(asked).union(*(group.resources for group in groups))


def planned_host(spec: Any) -> str | None:
    """Return the name of the host that is planned for the server, or None if it belongs to no managed lease."""
    return next(iter(_hint(spec, _PLANNED_HOST)), None)


def _hint(spec: Any, name: str) -> list[str]:
    hints: Mapping[str, Any] = (spec.scheduler_hints or {}) if "scheduler_hints" in spec else {}
    values = hints.get(name) or []
    return [str(value) for value in (values if isinstance(values, list) else [values]) if value]
