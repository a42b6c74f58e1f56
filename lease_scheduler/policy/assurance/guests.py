"""For how long servers without a lease are promised to run, host by host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lease_scheduler.model.lease import Lease
from lease_scheduler.prediction.quiet_times import Known, QuietTimes, restored

_HOUR, _DAY = 3_600, 86_400
#: Lifetimes that are promised: seconds.
LIFETIMES = (
    1_800,
    *(hours * _HOUR for hours in (1, 2, 3, 4, 6, 8, 12, 18)),
    *(days * _DAY for days in (1, 2, 3, 5, 7)),
)

_HOST = "@"
_LONGEST_NAME = 250
_SEEN = "guests"


class GuestHistory:
    """When leases started on the hosts of the site, from the first question about it on.

    :ivar is_wanted: whether the history has been asked for
    """

    def __init__(self) -> None:
        self.is_wanted = False
        self._quiet: dict[str, QuietTimes] = {}
        self._hosts_of: dict[str, frozenset[str]] = {}
        self._leases_on: Counter[str] = Counter()
        #: Last instant at which it was known that nothing was missed.
        self._seen: int | None = None
        self._changed: set[str] = set()

    def hosts_are(self, names: Collection[str], now: int) -> None:
        """Take note of the hosts of the site; called at intervals. A day without a call ends the history."""
        if self._seen is None or now - self._seen > _DAY:
            self._changed.update(self._quiet)
            self._quiet = {}
        if self._seen is None or now // _HOUR != self._seen // _HOUR:
            self._changed.add("")
            for quiet in self._quiet.values():
                quiet.forget(now)
        self._seen = now
        self.is_wanted = True
        for name in self._quiet.keys() - names:
            del self._quiet[name]
            self._changed.add(name)
        for name in names - self._quiet.keys():
            self._quiet[name] = QuietTimes(now)
            if self._leases_on[name]:
                self._quiet[name].started(now)
            self._changed.add(name)

    def follow(self, lease_id: str, hosts: frozenset[str], now: int) -> None:
        """Take note of the hosts that a lease uses now."""
        known = self._hosts_of.get(lease_id, frozenset())
        if hosts == known:
            return
        if hosts:
            self._hosts_of[lease_id] = hosts
        else:
            del self._hosts_of[lease_id]
        for name in hosts - known:
            self._leases_on[name] += 1
            self._tell(name, QuietTimes.started, now)
        for name in known - hosts:
            self._leases_on[name] -= 1
            if not self._leases_on[name]:
                del self._leases_on[name]
                self._tell(name, QuietTimes.ended, now)

    def _tell(self, name: str, told: Callable[[QuietTimes, int], None], now: int) -> None:
        quiet = self._quiet.get(name)
        if quiet is not None:
            told(quiet, now)
            self._changed.add(name)

    def take_over(self, using: Mapping[str, frozenset[str]], now: int) -> None:
        """Take note of the leases that use hosts now, which may have begun or ended unobserved.

        :param using: lease -> its hosts
        """
        taken = frozenset[str]().union(*using.values())
        self._hosts_of = dict(using)
        self._leases_on = Counter(name for hosts in using.values() for name in hosts)
        for name, quiet in self._quiet.items():
            if quiet.is_free == (name in taken):
                self._tell(name, QuietTimes.started if quiet.is_free else QuietTimes.ended, now)

    def hosts_by_past(self) -> dict[Known, list[str]]:
        """Return the hosts grouped by what is known of them now."""
        found: dict[Known, list[str]] = {}
        for name, quiet in self._quiet.items():
            found.setdefault(quiet.known(), []).append(name)
        return found

    def take_changes(self) -> dict[str, Mapping[str, Any] | None]:
        """Return what differs from the last call: host by host, None for what is forgotten."""
        found: dict[str, Mapping[str, Any] | None] = {}
        for name in self._changed:
            if not name:
                found[_SEEN] = {"seen": self._seen}
            elif len(name) <= _LONGEST_NAME:
                quiet = self._quiet.get(name)
                found[f"{_HOST}{name}"] = None if quiet is None else quiet.stored()
        self._changed.clear()
        return found

    def restore(self, learnt: Mapping[str, Mapping[str, Any]]) -> None:
        """Continue with what was stored; a host whose entry is damaged counts as new."""
        seen = learnt.get(_SEEN, {}).get("seen")
        self._seen = seen if isinstance(seen, int) else None
        self.is_wanted = self._seen is not None
        self._changed.clear()
        self._hosts_of.clear()
        self._leases_on.clear()
        entries = {name[len(_HOST) :]: restored(value) for name, value in learnt.items() if name.startswith(_HOST)}
        self._quiet = {name: quiet for name, quiet in entries.items() if quiet is not None}


@dataclass(frozen=True)
class GuestQuestion:
    """All that it takes to tell, in any thread, for how long servers without a lease are promised to run.

    :ivar hosts: hosts by what is known of them
    :ivar now: the present instant
    :ivar confidence: confidence at which promises hold
    :ivar since: nothing before this instant counts
    :ivar most: longest lifetime that may be promised
    :ivar notice: seconds before a lease starts at which servers have to leave its hosts
    """

    hosts: Mapping[Known, Sequence[str]]
    now: int
    confidence: float
    since: int
    most: int
    notice: int

    def lifetimes(self, assurance: float) -> dict[str, int]:
        """Return the longest lifetime that is promised with this probability, by host: seconds."""
        allowed = [seconds + self.notice for seconds in LIFETIMES if seconds <= self.most]
        found: dict[str, int] = {}
        for known, names in self.hosts.items():
            seconds = QuietTimes.of(known).longest(allowed, assurance, self.confidence, self.now, self.since)
            if seconds is not None:
                found.update(dict.fromkeys(names, seconds - self.notice))
        return found


def using(leases: Iterable[Lease], hosts: Sequence[Any]) -> dict[str, frozenset[str]]:
    """Return the names of the hosts that leases use now, by lease.

    :param hosts: hosts of the site, by number
    """
    found = {lease.lease_id: hosts_of(lease, hosts) for lease in leases}
    return {lease_id: names for lease_id, names in found.items() if names}


def hosts_of(lease: Lease, hosts: Sequence[Any]) -> frozenset[str]:
    """Return the names of the hosts that a lease uses now."""
    if lease.is_final or lease.active_since is None or not lease.holdings:
        return frozenset()
    return frozenset(hosts[number].name for number in lease.holdings[0].hosts if number < len(hosts))
