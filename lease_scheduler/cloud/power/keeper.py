"""The keeper, which makes hosts sleep and wake as the engine wishes.

Again and again, it compares wishes with states and does the next step that is missing. So it does not matter when an
earlier process died, and a changed wish takes effect at the next check. What a host has reached is reported.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from lease_scheduler.cloud.host_services import HostServices
from lease_scheduler.cloud.power.base import PowerDriver, PowerError
from lease_scheduler.engine.interfaces import EventKind
from lease_scheduler.model.power import PowerState
from lease_scheduler.worker import Worker

LOG = logging.getLogger(__name__)

#: Number of signs of life after which a host counts as awake, whatever its driver says. The last signs of a host that
#: went off may come late, but not that many.
_SIGNS_OF_LIFE = 3

#: Called with a host, the state that it has reached, and the reason why it is awake although it should sleep.
Report = Callable[[str, EventKind, str], None]


@dataclass(frozen=True)
class PowerTimes:
    """Times for switching hosts and checking them, in real seconds.

    :ivar interval: time between two checks of hosts that fall asleep or wake
    :ivar sleeping_interval: time between two checks of hosts that sleep, or have just been woken
    :ivar again: time after which a command is repeated
    :ivar shutdown: time after a command to switch off at which a host that is still on counts as staying on
    :ivar patience: time after which a host that has not fallen asleep is woken again, and for which a host that was
        woken is watched
    :ivar workers: maximum number of hosts that are handled at the same time
    """

    interval: float = 5.0
    sleeping_interval: float = 60.0
    again: float = 30.0
    shutdown: float = 90.0
    patience: float = 600.0
    workers: int = 16


@dataclass
class _Known:
    """What is remembered of a host while its wish stays the same. A new process can find out all of it again.

    :ivar state: the wish
    :ivar since: seconds at which the wish was first seen
    :ivar looks_at: seconds at which the host is checked next
    :ivar closed_at: seconds at which the host was found closed and vacant, or None
    :ivar told_at: seconds at which the last command was given, or None
    :ivar heard: the first heartbeat, or None
    :ivar heard_off: the last heartbeat while the driver said that the host is off
    :ivar signs_off: number of new heartbeats while the driver said so
    :ivar complaint: the last error that was logged
    :ivar is_over: whether the host was given up, so that nothing is done until its wish changes
    """

    state: PowerState
    since: float
    looks_at: float = 0.0
    closed_at: float | None = None
    told_at: float | None = None
    heard: Hashable | None = None
    heard_off: Hashable | None = None
    signs_off: int = 0
    complaint: str = ""
    is_over: bool = False


class PowerKeeper:
    """Keeper of the power of hosts. It has threads, or is called by ``look``.

    :param wishes: returns host -> wish, for hosts that have ever been told to sleep; None if nothing may be done now
    :param report: called when a host has reached a state, from threads of the keeper
    :param may_act: returns whether this process may still give commands; called directly before each command
    """

    def __init__(
        self,
        services: HostServices,
        driver: PowerDriver,
        wishes: Callable[[], Mapping[str, PowerState] | None],
        report: Report,
        may_act: Callable[[], bool],
        times: PowerTimes | None = None,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._services = services
        self._driver = driver
        self._wishes = wishes
        self._report = report
        self._may_act = may_act
        self._times = times or PowerTimes()
        self._steady = steady
        self._known: dict[str, _Known] = {}
        self._running: dict[str, Future[None]] = {}
        self._left_over: frozenset[str] | None = None
        #: Host that may still be going off -> seconds at which it was told to.
        self._told_off: dict[str, float] = {}
        #: Hosts that run although their driver says that they are off.
        self._overruled: set[str] = set()
        self._pool: ThreadPoolExecutor | None = None
        self._worker = Worker("power", self._look, self._times.interval)

    def start(self) -> None:
        """Start the threads."""
        self._pool = ThreadPoolExecutor(self._times.workers, thread_name_prefix="power")
        self._worker.start()

    def wake(self) -> None:
        """Check at once, as wishes may have changed."""
        self._worker.wake()

    def ask_to_stop(self) -> None:
        """Give no further commands."""
        self._worker.ask_to_stop()

    def join(self) -> None:
        """Wait until the commands that are under way are given."""
        self._worker.join()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _look(self) -> float | None:
        """Have the hosts that are due handled by the pool. Return the seconds until the next check, or None."""
        for host in self.due():
            assert self._pool is not None
            self._running[host] = self._pool.submit(self._deal_with, host, self._known[host])
        return self._times.interval if self._known or self._left_over is None else None

    def look(self) -> None:
        """Handle the hosts that are due, one after the other."""
        for host in self.due():
            self._deal_with(host, self._known[host])

    def due(self) -> list[str]:
        """Return the hosts to handle now, and update what is known about all."""
        wishes = self._wishes()
        if wishes is None:
            return []
        if self._left_over is None:
            # An engine that died or was deposed may have left hosts closed that should be awake.
            self._left_over = frozenset(
                host for host in self._services.closed() if wishes.get(host, PowerState.AWAKE) is PowerState.AWAKE
            )
        now, awake = self._steady(), PowerState.AWAKE
        watched = {host for host, known in self._known.items() if known.state is not awake or self._is_new(known, now)}
        wished = {host: state for host, state in wishes.items() if state is not awake or host in watched}
        for host in self._left_over:
            if wishes.get(host, awake) is awake:
                wished[host] = PowerState.WAKING
        self._known = {host: self._known_of(host, state, now) for host, state in wished.items()}
        self._running = {host: each for host, each in self._running.items() if not each.done()}
        return [host for host, known in self._known.items() if known.looks_at <= now and host not in self._running]

    def _known_of(self, host: str, state: PowerState, now: float) -> _Known:
        known = self._known.get(host)
        return known if known is not None and known.state is state else _Known(state, now)

    def _is_new(self, known: _Known, now: float) -> bool:
        return now - known.since < self._times.patience

    def _deal_with(self, host: str, known: _Known) -> None:
        is_slow = known.state in (PowerState.ASLEEP, PowerState.AWAKE)
        known.looks_at = self._steady() + (self._times.sleeping_interval if is_slow else 0.0)
        try:
            if known.state is PowerState.FALLING_ASLEEP:
                self._fall_asleep_or_wake(host, known)
            elif known.state is PowerState.ASLEEP:
                self._sleep_on(host, known)
            elif known.state is PowerState.AWAKE:
                self._keep_awake(host)
            else:
                self._wake_up(host, known)
        except Exception as error:
            # It is tried again at the next check. The engine decides when a host is late.
            self._complain(host, known, error)

    def _complain(self, host: str, known: _Known, error: Exception) -> None:
        if str(error) != known.complaint:
            known.complaint = str(error)
            trace = None if isinstance(error, PowerError) else error
            LOG.warning("host %s: its power is not as wished; it is tried again: %s", host, error, exc_info=trace)

    # -- off ---------------------------------------------------------------------------------------------

    def _fall_asleep_or_wake(self, host: str, known: _Known) -> None:
        """Do the next step until a host sleeps, and wake it if that takes too long."""
        if known.is_over:
            return
        try:
            hindrance = self._fall_asleep(host, known)
        except Exception as error:
            if self._is_new(known, self._steady()):
                raise
            self._complain(host, known, error)
            hindrance = str(error)
        if hindrance and not self._is_new(known, self._steady()):
            self._give_up(host, known, hindrance)

    def _fall_asleep(self, host: str, known: _Known) -> str:
        """Close a host without servers, check once more, and switch it off.

        :return: why it does not sleep yet, or an empty text if there is nothing more to do
        """
        if not self._services.is_vacant(host):
            if known.closed_at is not None:
                known.closed_at = None
                self._services.open(host)
            return "servers are on it"
        if not self._is_wished(host, PowerState.FALLING_ASLEEP):
            return ""
        if not self._services.close(host):
            # Whoever disabled the service decides about the power of this host, too.
            reason = "its compute service is disabled"
            LOG.warning("host %s does not fall asleep: %s", host, reason)
            self._stays_awake(host, known, reason)
            return ""
        now = self._steady()
        if known.closed_at is None:
            known.closed_at = now
        if now - known.closed_at < self._times.interval:
            # A server may still be on its way, which a later check shows.
            return "it was closed just now"
        if self._driver.is_on(host) is not False and self._is_time(known):
            self._tell_off(host, known)
        if self._driver.is_on(host) is not False:
            return "it does not switch off"
        self._told_off.pop(host, None)
        self._report(host, EventKind.HOST_ASLEEP, "")
        return ""

    def _tell_off(self, host: str, known: _Known) -> None:
        # Check again, as the driver may have taken long to answer.
        if self._services.is_vacant(host) and self._is_wished(host, PowerState.FALLING_ASLEEP):
            LOG.info("host %s is switched off", host)
            known.told_at = self._told_off[host] = self._steady()
            self._driver.turn_off(host)

    def _give_up(self, host: str, known: _Known, reason: str) -> None:
        """Wake a host that did not fall asleep in time."""
        if not self._is_wished(host, PowerState.FALLING_ASLEEP):
            return
        LOG.error("host %s does not fall asleep, and is woken: %s", host, reason)
        with suppress(PowerError):
            self._driver.turn_on(host)
        self._services.open(host)
        self._stays_awake(host, known, reason)

    def _stays_awake(self, host: str, known: _Known, reason: str) -> None:
        known.is_over = True
        self._report(host, EventKind.HOST_AWAKE, reason)

    def _is_wished(self, host: str, state: PowerState) -> bool:
        """Return whether this is still the wish for a host, and this process may act. Call this before each command."""
        wishes = self._wishes()
        return wishes is not None and wishes.get(host) is state and self._may_act()

    def _is_time(self, known: _Known) -> bool:
        return known.told_at is None or self._steady() - known.told_at >= self._times.again

    # -- asleep ------------------------------------------------------------------------------------------

    def _sleep_on(self, host: str, known: _Known) -> None:
        """Report a sleeping host that somebody has switched on."""
        if self._driver.is_on(host) is not True:
            known.heard = None
            return
        # Check it more often now.
        known.looks_at = self._steady()
        if self._is_alive(host, known) and self._is_wished(host, PowerState.ASLEEP):
            LOG.warning("host %s was switched on by somebody else; it stays awake", host)
            self._services.open(host)
            self._report(host, EventKind.HOST_AWAKE, "")

    # -- on ----------------------------------------------------------------------------------------------

    def _wake_up(self, host: str, known: _Known) -> None:
        """Switch a host on, and open it once its compute service runs."""
        is_on = self._driver.is_on(host)
        self._overruled.discard(host)
        if is_on is False:
            self._told_off.pop(host, None)
        told_off = self._told_off.get(host)
        if told_off is not None and self._steady() - told_off < self._times.shutdown:
            # It is still going off, and would ignore a command to switch on.
            return
        if is_on is not True or known.state is PowerState.FAILED or known.told_at is None:
            self._tell_on(host, known)
        is_alive = self._is_alive_though_off(host, known) if is_on is False else self._is_alive(host, known)
        if is_alive and self._may_act():
            self._told_off.pop(host, None)
            self._services.open(host)
            if self._left_over:
                self._left_over -= {host}
            self._report(host, EventKind.HOST_AWAKE, "")

    def _tell_on(self, host: str, known: _Known) -> None:
        if self._is_time(known) and self._may_act():
            LOG.info("host %s is switched on", host)
            known.told_at = self._steady()
            self._driver.turn_on(host)

    def _keep_awake(self, host: str) -> None:
        """Open and switch on a host that was woken recently, as an earlier command may take effect late.

        If others have closed the host, they decide about its power, too. A driver that was wrong before is not asked.
        """
        if not self._is_wished(host, PowerState.AWAKE):
            return
        self._services.open(host)
        if host not in self._overruled and self._driver.is_on(host) is False and self._services.is_open(host):
            LOG.warning("host %s went off after it was woken; it is switched on again", host)
            self._driver.turn_on(host)

    def _is_alive(self, host: str, known: _Known) -> bool:
        """Return whether the compute service has given a sign of life since the first check.

        A single heartbeat proves nothing, as a service counts as running for some time after its host was switched off.
        """
        heard = self._services.heartbeat(host)
        if heard is None or known.heard is None:
            known.heard = heard
            return False
        return heard != known.heard

    def _is_alive_though_off(self, host: str, known: _Known) -> bool:
        """Return whether the compute service keeps giving signs of life, so that the driver must be wrong."""
        heard, before = self._services.heartbeat(host), known.heard_off
        known.heard_off = heard
        known.signs_off += heard is not None and before is not None and heard != before
        # The driver may report a change a little late.
        if known.signs_off < _SIGNS_OF_LIFE or self._steady() - known.since < self._times.again:
            return False
        self._overruled.add(host)
        LOG.warning("host %s counts as awake: its compute service runs, though its driver says that it is off", host)
        return True
