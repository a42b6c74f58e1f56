"""Rules for which server may start on which host: pure functions of plain values."""

from __future__ import annotations

from dataclasses import dataclass

from lease_scheduler.model.durations import in_words
from lease_scheduler.nova.aggregates import HeldBy, HostLeases

#: What marks the flavors of a lease, for messages.
_OWN_FLAVOR = "the extra spec lease:id (or aggregate_instance_extra_specs:reservation) that names it"


@dataclass(frozen=True)
class Lifetime:
    """A lifetime that the flavor of a server asks for.

    :ivar seconds: for how long the server is to run before a lease takes its host
    :ivar assurance: with which probability; None for the default of the site
    :ivar mistake: what is wrong with the extra specs, or None
    """

    seconds: int = 0
    assurance: float | None = None
    mistake: str | None = None


@dataclass(frozen=True)
class Boot:
    """A server that needs a host.

    :ivar project_id: its project
    :ivar hints: leases that its scheduler hints name; it must get a host that all of them have
    :ivar flavor_lease: lease that its flavor belongs to, or None for an ordinary flavor
    :ivar preemptible: whether its flavor says that it makes room for leases
    :ivar claims: resource classes that it asks for by extra specs, ports or aliases of PCI devices
    :ivar lifetime: lifetime that it must be promised if it belongs to no lease, or None
    """

    project_id: str
    hints: tuple[str, ...] = ()
    flavor_lease: str | None = None
    preemptible: bool = False
    claims: frozenset[str] = frozenset()
    lifetime: Lifetime | None = None

    @property
    def leases(self) -> tuple[str, ...]:
        """All leases that the server is meant for."""
        return self.hints if self.flavor_lease is None else (*self.hints, self.flavor_lease)


@dataclass(frozen=True)
class Rules:
    """What the operator allows.

    :ivar allow_preemptibles: whether preemptible servers without a lease may use hosts of the pool
    :ivar on_demand_horizon: seconds for which a host of the pool must be free of leases so that an ordinary server may
        start there; None keeps ordinary servers off the pool
    """

    allow_preemptibles: bool = True
    on_demand_horizon: int | None = None


def refusal(boot: Boot, host: HostLeases, now: int, rules: Rules) -> str | None:
    """Return why a server may not start on a host, or None if it may.

    The four rules of Blazar's filter hold here too:

    * a server whose hint names a reservation may use its hosts if both belong to the same project;
    * the flavor of a reservation counts like a hint;
    * preemptible servers may use hosts of the pool that no lease has for itself;
    * all others keep off the pool.

    One rule is stricter than Blazar's: where a lease has only a part of a host, a hint alone is not enough. One is new:
    a server without a lease whose flavor asks for a lifetime may use only hosts for which it is promised.

    :param now: seconds since the epoch
    """
    if boot.leases:
        return _refusal_in_lease(boot, host, now) or _refusal_by_nested(boot, host)
    by_owner = _refusal_by_owner(host, now)
    if by_owner is not None:
        return by_owner
    by_lifetime = _refusal_by_lifetime(boot.lifetime, host, now)
    if by_lifetime is not None:
        return by_lifetime
    if not host.in_pool and not host.held_by:
        return None
    by_nested = _refusal_by_nested(boot, host)
    if by_nested is not None:
        return by_nested
    if boot.preemptible:
        if any(held.vacated_from <= now < held.start for held in host.held_by):
            # It would take capacity that is being vacated for the lease.
            return "a lease is being prepared there"
        return None if rules.allow_preemptibles else "preemptible servers may not use hosts of the pool"
    if rules.on_demand_horizon is None:
        return "hosts of the pool are for leases"
    coming = next_start(host, now)
    if coming is not None and coming < now + rules.on_demand_horizon:
        return f"a lease starts there in {in_words(max(coming - now, 0))}"
    return None


def _refusal_in_lease(boot: Boot, host: HostLeases, now: int) -> str | None:
    for name in boot.leases:
        # A lease and each of its reservations may have an aggregate with the host. The strictest of them counts.
        found = [held for held in host.held_by if name in held.names]
        if not found:
            return f"lease {name} does not have the host"
        for held in found:
            reason = _refusal_by_lease(boot, held, name, now)
            if reason is not None:
                return reason
    return _refusal_by_owner(host, now, boot.leases)


def _refusal_by_lease(boot: Boot, held: HeldBy, name: str, now: int) -> str | None:
    if held.project_id != boot.project_id:
        return f"lease {name} belongs to another project"
    if held.start > now:
        return f"lease {name} has not started"
    if held.until is not None and held.until <= now:
        return f"lease {name} is over"
    if not held.exclusive and boot.flavor_lease not in held.names:
        # The lease has slots there, and only servers of its own flavors take one. Any other flavor would take capacity
        # that belongs to the pool or to other leases.
        return f"lease {name} has a part of the host only; boot with a flavor of the lease, one with {_OWN_FLAVOR}"
    return None


def _refusal_by_owner(host: HostLeases, now: int, but: tuple[str, ...] = ()) -> str | None:
    """Return a reason if a lease other than the named ones has the whole host, or is having it vacated; or None."""
    for held in host.held_by:
        if held.exclusive and held.vacated_from <= now and held.names.isdisjoint(but):
            return f"lease {min(held.names)} has the host for itself"
    return None


def _refusal_by_nested(boot: Boot, host: HostLeases) -> str | None:
    """Return a reason if a server would take from nested providers what other leases there have and its own has not.

    The servers of a lease claim such resources themselves, so nothing else keeps them free for the lease.
    """
    own = frozenset[str]().union(*(held.nested for held in host.held_by if not held.names.isdisjoint(boot.leases)))
    for held in host.held_by:
        kept = (held.nested & boot.claims) - own
        if kept and held.names.isdisjoint(boot.leases):
            return f"its {min(kept)} is kept for lease {min(held.names)}"
    return None


def _refusal_by_lifetime(wanted: Lifetime | None, host: HostLeases, now: int) -> str | None:
    """Return a reason if the lifetime is not promised on the host, or a lease would start within it; or None."""
    if wanted is None:
        return None
    if wanted.mistake is not None:
        return f"its flavor is wrong: {wanted.mistake}"
    promises = host.promises
    if now >= promises.until or not promises.lifetimes:
        return "no lifetime is promised there"
    assurance = promises.default if wanted.assurance is None else wanted.assurance
    if assurance is None:
        return "no probability is known with which lifetimes are promised; name one in lease:assurance"
    promised = promises.seconds(assurance, now)
    if promised < wanted.seconds:
        return f"{in_words(promised)} is promised there with {assurance:.6g}, not {in_words(wanted.seconds)}"
    # A lease may have been planned since the promise was published.
    starts = [held.vacated_from for held in host.held_by if held.start > now]
    if host.coming is not None and host.coming > now:
        starts.append(host.coming)
    if starts and min(starts) < now + wanted.seconds:
        return f"a lease starts there in {in_words(max(min(starts) - now, 0))}"
    return None


def next_start(host: HostLeases, now: int) -> int | None:
    """Return when the next lease starts on a host: now if one has it already, or None if none is known."""
    starts = [max(held.vacated_from, now) for held in host.held_by]
    if host.coming is not None:
        starts.append(max(host.coming, now))
    return min(starts, default=None)


def free_for(host: HostLeases, now: int, longest: int) -> int:
    """Return the seconds until a lease starts on a host, at most ``longest``, which also stands for "none is known"."""
    coming = next_start(host, now)
    return longest if coming is None else min(coming - now, longest)
