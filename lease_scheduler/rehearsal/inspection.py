"""Inspection of a world: collects the facts, and stops the world at the first violation."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from lease_scheduler.rehearsal import stored_facts
from lease_scheduler.rehearsal.cloud_facts import Sightings, cloud_facts
from lease_scheduler.rehearsal.disturbances import Disturbances
from lease_scheduler.rehearsal.invariants.catalogue import INVARIANTS, OFTEN, first_broken
from lease_scheduler.rehearsal.invariants.clouds import owners
from lease_scheduler.rehearsal.invariants.facts import CloudFacts, Facts, SentFact, Violation
from lease_scheduler.rehearsal.runtime.broker import BrokerFaults, BusMessage
from lease_scheduler.rehearsal.runtime.processes import EPOCH
from lease_scheduler.rehearsal.site import CloudSite
from lease_scheduler.rehearsal.story import Ledger
from lease_scheduler.rehearsal.world import World

#: Seconds between two looks, and until the next attempt while a transaction runs.
_INTERVAL, _SOON = 10.0, 0.05

#: Number of looks of which one is at everything.
_EVERYTHING = 6

_TOPIC = "lease_notifications."


class BrokenInvariantError(Exception):
    """An invariant is broken.

    :ivar instant: true seconds since the world began
    """

    def __init__(self, violation: Violation, instant: float) -> None:
        super().__init__(f"{violation.invariant}: {violation.what}")
        self.violation, self.instant = violation, instant


class Overhearing(BrokerFaults):
    """Notes the notifications about transitions that engines send, whatever happens to them on their way.

    :param faults: decides what goes wrong with messages
    """

    def __init__(self, faults: BrokerFaults) -> None:
        self._faults = faults
        self.sent: list[SentFact] = []
        self._numbers: set[int] = set()

    def deliveries(self, message: BusMessage) -> Any:
        """See ``BrokerFaults``."""
        if _TOPIC in message.queue and message.number not in self._numbers:
            content = json.loads(message.body)["message"]
            payload = (
                json.loads(content["oslo.message"])["payload"] if "oslo.message" in content else content["payload"]
            )
            if "state_before" in payload:
                self.sent.append(
                    SentFact(payload["lease_id"], payload["instant"], payload["state_before"], payload["state"])
                )
        return self._faults.deliveries(message)

    def is_away(self, process: Any) -> bool:
        """See ``BrokerFaults``."""
        return self._faults.is_away(process)


class Inspection:
    """Looks at the cloud of a world every ten seconds, and at everything every minute.

    :param calm: true seconds since the world began after which nothing new goes wrong
    :ivar number: number of inspections so far
    """

    def __init__(
        self, world: World, site: CloudSite | None, ledger: Ledger, disturbances: Disturbances, calm: float
    ) -> None:
        self._world, self._site, self._ledger, self._calm = world, site, ledger, calm
        self._disturbances, self._sightings = disturbances, Sightings()
        self.number = 0
        self._heard = world.broker.faults = Overhearing(world.broker.faults)
        world.scheduler.call_later(_INTERVAL, self._look)

    def _look(self) -> None:
        scheduler = self._world.scheduler
        if not self._world.database.is_idle:
            scheduler.call_later(_SOON, self._look)
            return
        self.number += 1
        violation = None
        if self.number % _EVERYTHING == 0:
            violation = first_broken(self.facts(), INVARIANTS)
        elif self._site is not None:
            violation = first_broken(self.often(), OFTEN)
        if violation is not None:
            raise BrokenInvariantError(violation, scheduler.now)
        scheduler.call_later(_INTERVAL, self._look)

    def often(self) -> Facts:
        """Return what is looked at often: leases, hosts, and the cloud."""
        now, database = self._world.scheduler.now, self._world.database
        leases = stored_facts.leases(database)
        facts = Facts(
            EPOCH + now,
            None if now < self._calm else now - self._calm,
            leases,
            hosts=stored_facts.hosts(database),
            disturbances=self._disturbances.all,
        )
        return replace(facts, cloud=self._cloud(facts))

    def facts(self) -> Facts:
        """Return the facts of this instant."""
        database = self._world.database
        return replace(
            self.often(),
            history=stored_facts.history(database),
            operations=stored_facts.operations(database),
            waiting=stored_facts.waiting(database),
            breaches=stored_facts.breaches(database),
            sent=self._heard.sent,
            told=self._ledger.leases,
            told_ends=self._ledger.ended,
            answers=self._ledger.answers,
            booted=self._ledger.booted,
            stays=stored_facts.stays(database),
        )

    def _cloud(self, facts: Facts) -> CloudFacts | None:
        if self._site is None:
            return None
        owned = ((lease.lease_id, host) for host, lease in owners(facts).items())
        return self._sightings.seen(cloud_facts(self._site.cloud, facts.leases.values()), owned, facts.now)
