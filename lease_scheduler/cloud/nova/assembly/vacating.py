"""Assembly of the parts that have servers leave hosts, and come back."""

from __future__ import annotations

from lease_scheduler.cloud.nova.assembly.common import Common
from lease_scheduler.cloud.nova.vacating.arrivals import Arrivals
from lease_scheduler.cloud.nova.vacating.attempts import Attempts
from lease_scheduler.cloud.nova.vacating.awake import AwakeServers
from lease_scheduler.cloud.nova.vacating.departures import Departures
from lease_scheduler.cloud.nova.vacating.given_up import GivenUpRoom
from lease_scheduler.cloud.nova.vacating.guests import Guests
from lease_scheduler.cloud.nova.vacating.intruders import Intruders
from lease_scheduler.cloud.nova.vacating.outliving import OutlivingServers
from lease_scheduler.cloud.nova.vacating.preemption import ServerPreemption
from lease_scheduler.cloud.nova.vacating.putting_away import PuttingAway
from lease_scheduler.cloud.nova.vacating.returning import Returning
from lease_scheduler.cloud.nova.vacating.stale_claims import StaleClaims
from lease_scheduler.cloud.nova.vacating.vacancy import Vacancy


class Vacating:
    """The parts, as attributes."""

    def __init__(self, common: Common) -> None:
        nova, placement, options = common.clients.nova, common.placement, common.options.room
        find, locks, lost, throttle = common.servers.find, common.locks, common.lost, common.throttle
        given_up = GivenUpRoom(placement, common.nodes, locks)
        arrivals = Arrivals(nova, placement.held, placement.release)
        attempts = Attempts(arrivals)
        self.stale_claims = StaleClaims(nova, placement, common.nodes)
        departures = Departures(nova, find, common.nodes, placement, arrivals, self.stale_claims)
        self.away = PuttingAway(nova, throttle, lost, locks, placement.release, given_up, options)
        self.guests = Guests(
            nova, find, throttle, self.away, given_up, locks, common.lease_aggregates.is_taken, options.guest_patience
        )
        self.awake = AwakeServers(find, common.lease_aggregates.all, self.away, given_up, locks)
        self.intruders = Intruders(nova, find, self.guests, throttle, lost, departures, options)
        self.preemption = ServerPreemption(
            nova, find, self.guests, self.intruders, self.away, given_up, attempts, options
        )
        self.returning = Returning(nova, throttle, lost, locks, self.away, given_up, arrivals, attempts)
        self.outliving = OutlivingServers(nova, throttle, lost, locks)
        self.vacancy = Vacancy(nova, find, placement)
