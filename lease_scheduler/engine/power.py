"""Sleeping hosts, and when to wake them, so that no lease is late because its host sleeps.

The engine keeps a wanted power state for each host, awake or asleep. The cloud brings the host into this state, and
reports when it is there. In the plan, a sleeping host can be used from the instant at which it could be awake. The
host wakes when this instant reaches the first lease that is planned on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from lease_scheduler.engine.power_options import PowerOptions
from lease_scheduler.engine.relocation import Relocation, most_binding
from lease_scheduler.engine.state import EngineState
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.power import HostPower, PowerState
from lease_scheduler.plan.capacity.availability import Availability, IntArray
from lease_scheduler.plan.changing.sleepers import give_back, take_all_until, take_until

_LATE = "its host is not awake yet"


class HostPowers:
    """Wanted power states of hosts.

    :param state: state that the parts of the engine share
    :param relocation: finds other places for leases
    """

    def __init__(self, state: EngineState, relocation: Relocation) -> None:
        self._state = state
        self._relocation = relocation
        #: Waking host -> instant at which it is late.
        self._ready: dict[int, int] = {}
        self._now = 0
        self._seen: tuple[Availability, IntArray, int | None] | None = None
        #: Whether leases may need sleeping hosts at once, because time passed while no engine was running.
        self._is_restored = False
        #: Host that did not fall asleep -> instant before which it is not told to sleep again.
        self.rests: dict[int, int] = {}

    @property
    def _options(self) -> PowerOptions:
        return self._state.options.power

    # -- wanted states -----------------------------------------------------------------------------------

    def sleep(self, host: int, now: int) -> None:
        """Let a host sleep; it wakes when a lease needs it.

        :raises InvalidValueError: it cannot be used anyway, or leases hold it now or before it could wake again
        """
        state, plan = self._state, self._state.planner.plan
        power = state.powers.get(host)
        if power is not None and power.state.is_off:
            return
        if power is not None and power.state is not PowerState.AWAKE:
            raise InvalidValueError("host", "is waking; let it sleep once it is awake")
        if host in plan.outages:
            raise InvalidValueError("host", "is out of service")
        soon = now + self.wake_ahead
        if int(plan.availability.peak(now, soon)[-1, host]) or host in self.kept_awake(now):
            raise InvalidValueError("host", "is held by a lease now or soon")
        self.fall_asleep([host], now)

    def fall_asleep(self, hosts: Collection[int], now: int) -> None:
        """Let hosts sleep."""
        state, lead = self._state, self._options.lead(PowerState.FALLING_ASLEEP)
        for host in hosts:
            power = state.powers.get(host, HostPower(PowerState.AWAKE, now))
            state.powers[host] = power.to(PowerState.FALLING_ASLEEP, now)
        take_until(state.planner.plan, dict.fromkeys(hosts, now + lead), now)
        state.recorder.count("host_sleeps", len(hosts))

    def wake(self, hosts: Iterable[int], now: int) -> int:
        """Wake those of the hosts that sleep, whether or not leases need them, and return their number."""
        state, ready = self._state, {}
        for host in hosts:
            power = state.powers.get(host)
            if power is not None and power.state.is_off:
                ready[host] = now + self._options.lead(power.state)
                state.powers[host] = power.to(PowerState.WAKING, now)
        if ready:
            self._ready |= ready
            take_until(state.planner.plan, ready, now)
            state.recorder.count("host_wakes", len(ready))
        return len(ready)

    # -- reports of the cloud ----------------------------------------------------------------------------

    def is_asleep(self, host: int, now: int) -> None:
        """Record that a host has fallen asleep."""
        power = self._state.powers.get(host)
        if power is not None and power.state is PowerState.FALLING_ASLEEP:
            self._state.powers[host] = power.to(PowerState.ASLEEP, now)

    def is_awake(self, host: int, now: int, reason: str = "") -> None:
        """Record that a host is awake, whether or not it should be.

        :param reason: why it did not fall asleep; "" if it may be told to sleep again at any time
        """
        state = self._state
        power = state.powers.get(host)
        if power is None or power.state is PowerState.AWAKE or (reason and not power.state.is_off):
            return
        if reason:
            self.rests[host] = now + state.options.host_repair_time
            state.recorder.count("failed_host_sleeps")
        self._are_awake([host], now)

    def _are_awake(self, hosts: Collection[int], now: int) -> None:
        state = self._state
        for host in hosts:
            self._ready.pop(host, None)
            if state.powers[host].state is PowerState.WAKING:
                state.policies.power.woke(max(0, now - state.powers[host].since))
            state.powers[host] = state.powers[host].to(PowerState.AWAKE, now)
        give_back(state.planner.plan, hosts, now)
        for host in state.occupied.keys() & hosts:
            # The host is checked at once for leases that run without it.
            state.occupy(host, now, now)
        state.recorder.count("replans", state.use_freed(len(hosts), now, now + state.options.host_repair_time))

    def _fails(self, host: int, now: int) -> None:
        """Handle a host that did not wake: leases on it get other hosts, or start on the rest of theirs."""
        state, plan = self._state, self._state.planner.plan
        state.powers[host] = state.powers[host].to(PowerState.FAILED, now)
        self._ready.pop(host, None)
        state.recorder.count("failed_host_wakes")
        give_back(plan, [host], now)
        until = now + state.options.host_repair_time
        state.occupy(host, now, until)
        for lease in sorted(plan.leases.values(), key=most_binding):
            first = lease.holdings[0] if lease.holdings else None
            if first is None or not any(host in each.hosts and each.start < until for each in lease.holdings):
                continue
            if not lease.kind.promises_interval:
                self._relocation.move(lease, now, _LATE)
            elif lease.started is None and lease.lease_id not in state.runs.operating:
                # If there is no other host, it keeps its place, and starts on the hosts that are usable then.
                away = [node for node, each in enumerate(first.assignment) if each == host]
                self._relocation.place_anew(lease, away, now)

    # -- the passing of time -----------------------------------------------------------------------------

    def next_due(self) -> int | None:
        """Return the next instant at which something is due, or None."""
        instants = [*self._ready.values()]
        first = self._first_use()
        if first is not None:
            # Leases planned since the last step are considered in the next one.
            instants.append(max(first - self.wake_ahead, self._now + 1))
        if not self._options.confirms:
            instants += map(self._done_at, self._state.powers.changing)
        return min(instants, default=None)

    def follow(self, now: int) -> None:
        """Wake hosts in time for the leases on them, and handle hosts that are late."""
        if not self._state.powers:
            return
        self._now = now
        if not self._options.confirms:
            self._assume_done(now)
        self._move_along(now)
        for host in [host for host, ready in self._ready.items() if ready <= now]:
            self._fails(host, now)
            self._state.publish(now)

    def _move_along(self, now: int) -> None:
        """Wake the sleeping hosts that leases need soon, and move the first possible use of the others along."""
        state = self._state
        sleepers = state.powers.off
        if not sleepers:
            return
        reach = now + self.wake_ahead
        first = self._first_use()
        if self._is_restored or (first is not None and first <= reach) or state.occupied.keys() & sleepers:
            self._is_restored = False
            self.wake(self._needed(sleepers, now, reach), now)
        self.keep_taken(now)

    def keep_taken(self, now: int) -> None:
        """Have the plan use sleeping hosts only after they could be awake if they were woken now.

        Called before anything is planned.
        """
        state, plan, options = self._state, self._state.planner.plan, self._options
        sleepers, hosts = state.powers.off, state.powers.off_hosts
        if not sleepers:
            return
        if state.occupied:
            hosts = np.array([host for host in hosts.tolist() if host not in state.occupied], dtype=np.int64)
        ends = np.full(len(hosts), now + options.lead(PowerState.ASLEEP))
        falling = sorted((state.powers.changing & sleepers) - state.occupied.keys())
        ends[hosts.searchsorted(falling)] = now + options.lead(PowerState.FALLING_ASLEEP)
        if (plan.sleep_ends[hosts] != ends).any():
            take_all_until(plan, hosts, ends, now)

    @property
    def _longest_lead(self) -> int:
        return self._options.lead(PowerState.FALLING_ASLEEP)

    @property
    def wake_ahead(self) -> int:
        """Seconds before a lease at which its hosts are woken, and within which no host that it needs is put to sleep.

        Where hosts take longer to wake than the operator has set, this is longer. The plan still uses the operator's
        time, so a lease at short notice may use a sleeping host that much earlier.
        """
        state, options = self._state, self._options
        longer = max(0, state.policies.power.wake_time() - options.wake_time)
        return self._longest_lead + longer + state.preparation_time

    def _first_use(self) -> int | None:
        """Return the next instant at which a lease starts to use a sleeping host, or None.

        Recomputed only after the plan or the sleeping hosts have changed, or that instant has passed.
        """
        availability, sleepers, seen = self._state.planner.plan.availability, self._state.powers.off_hosts, self._seen
        if (
            seen is None
            or seen[0] is not availability
            or seen[1] is not sleepers
            or (seen[2] or self._now + 1) <= self._now
        ):
            first = availability.next_rise(sleepers, self._now) if len(sleepers) else None
            seen = self._seen = availability, sleepers, first
        return seen[2]

    def _needed(self, sleepers: Collection[int], now: int, reach: int) -> frozenset[int]:
        """Return the sleeping hosts on which a lease has a holding that starts by an instant and has not ended.

        :param reach: the instant
        """
        state, needed = self._state, set[int]()
        for lease in state.planner.plan.leases.values():
            for holding in lease.holdings:
                # A lease that already runs or is in an operation needs no waking: its host was awake, and is being
                # emptied.
                leaves = holding is lease.holdings[0] and (
                    lease.active_since is not None or lease.lease_id in state.runs.operating
                )
                if now < holding.end and holding.start <= reach and not leaves:
                    needed |= holding.hosts.intersection(sleepers)
        return frozenset(needed)

    def kept_awake(self, now: int) -> frozenset[int]:
        """Return the hosts that must not sleep even if nothing is planned on them.

        These are hosts of operations in progress, hosts with saved state, and hosts that recently failed to fall
        asleep.
        """
        state, hosts = self._state, set[int]()
        for operation in state.runs.operations():
            hosts.update(operation.assignment)
        for lease in state.planner.plan.leases.values():
            if lease.saved_on is not None and not lease.request.preemption_mode.leaves_host:
                hosts.update(lease.saved_on)
        hosts.update(host for host, until in self.rests.items() if until > now)
        return frozenset(hosts)

    # -- clouds that do not confirm power states ---------------------------------------------------------

    def _done_at(self, host: int) -> int:
        """Return the instant at which a host that wakes or falls asleep is assumed to have done so."""
        if host in self._ready:
            return self._ready[host] - self._options.allowance
        return self._state.powers[host].since + self._options.shutdown_time

    def _assume_done(self, now: int) -> None:
        done = sorted(host for host in self._state.powers.changing if self._done_at(host) <= now)
        woken = [host for host in done if self._state.powers[host].state is PowerState.WAKING]
        for host in done:
            self.is_asleep(host, now)
        if woken:
            self._are_awake(woken, now)
            self._state.publish(now)

    # -- another engine ----------------------------------------------------------------------------------

    def restore(self, powers: Mapping[int, HostPower], now: int) -> None:
        """Take over the wanted power states of an engine that has stopped."""
        state, options = self._state, self._options
        late = self._longest_lead
        for host, power in powers.items():
            state.powers[host] = power
            if power.state is PowerState.WAKING:
                # While no engine was running, the cloud could not report that the host is awake.
                self._ready[host] = min(max(power.since + late, now + options.allowance), now + late)
            elif power.state is PowerState.FAILED:
                state.occupy(host, now, now + state.options.host_repair_time)
        take_until(state.planner.plan, self._ready, now)
        self._is_restored = True
