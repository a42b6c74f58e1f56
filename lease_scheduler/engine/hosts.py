"""Changes of the hosts of a site by operators and the cloud."""

from __future__ import annotations

from collections.abc import Callable

from lease_scheduler.engine.outages import Outages
from lease_scheduler.engine.power import HostPowers
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.host import Site
from lease_scheduler.model.power import HostPower
from lease_scheduler.plan.capacity.availability import FOREVER


class Hosts:
    """Hosts by their names: methods to change them, and their outages and power.

    :param state: state that the parts of the engine share
    :param outages: takes hosts out of service
    :param powers: lets hosts sleep and wakes them
    :param now: returns the present instant
    :param serve_queue: places waiting leases on what became free
    """

    def __init__(
        self,
        state: EngineState,
        outages: Outages,
        powers: HostPowers,
        now: Callable[[], int],
        serve_queue: Callable[[int], None],
    ) -> None:
        self._state = state
        self._outages = outages
        self._powers = powers
        self._now = now
        self._serve_queue = serve_queue

    def change_site(self, site: Site) -> Site:
        """Replace the hosts. Leases that no longer fit are treated as if their hosts had failed.

        :param site: the present hosts
        :return: all hosts in the order of their numbers, which never change; an engine that takes over needs this order
        """
        now = self._now()
        merged = self._outages.change_site(site, now)
        self._follow_up(now)
        return merged

    def out(self, name: str, until: int | None = None) -> None:
        """Take a host out of service: what ran or was saved there is lost, what is planned there is moved.

        :param until: instant at which it is expected back; None means never
        :raises InvalidValueError: there is no such host, or the instant has passed
        """
        now = self._now()
        self._outages.host_out(name, now, until)
        self._follow_up(now)

    def back(self, name: str) -> None:
        """Bring a host back into service, empty.

        :raises InvalidValueError: there is no such host
        """
        now = self._now()
        self._outages.host_back(name, now)
        self._follow_up(now)

    @property
    def outages(self) -> dict[str, tuple[int, int | None]]:
        """Outages by host: (since, expected end), the end being None when unknown."""
        plan = self._state.planner.plan
        # Occupied hosts have outages in the plan, but are in service: they are checked again within a minute.
        out = sorted(plan.outages.keys() - self._state.occupied.keys())
        known = {plan.site.hosts[host].name: plan.outages[host] for host in out}
        return {name: (since, None if until == FOREVER else until) for name, (since, until) in known.items()}

    def sleep(self, name: str) -> None:
        """Let a host sleep until a lease needs it.

        :raises InvalidValueError: there is no such host, or it cannot sleep now
        """
        self._powers.sleep(self._outages.number(name), self._now())

    def wake(self, name: str) -> None:
        """Wake a host. Does nothing if it does not sleep.

        :raises InvalidValueError: there is no such host
        """
        now = self._now()
        self._powers.wake([self._outages.number(name)], now)
        self._follow_up(now)

    @property
    def powers(self) -> dict[str, HostPower]:
        """Power of the hosts that have ever been told to sleep, by name."""
        hosts = self._state.planner.plan.site.hosts
        return {hosts[host].name: power for host, power in self._state.powers.items()}

    @property
    def sleeping(self) -> int:
        """Number of hosts that are known to sleep."""
        return len(self._state.powers.off - self._state.powers.changing)

    def hand_over_power(self, name: str, other: Hosts) -> None:
        """Pass the power record of a host, which is awake, to the engine to which the host now belongs."""
        host = self._outages.number(name)
        power = self._state.powers.get(host)
        if power is not None:
            del self._state.powers[host]
            other._state.powers[other._outages.number(name)] = power

    def _follow_up(self, now: int) -> None:
        self._state.publish(now)
        self._serve_queue(now)
