"""The engine: one per site, in the service and in the simulator (Sotomayor 2010, section 4.2; haizea F18, F39)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lease_scheduler.engine.breaches import Breaches
from lease_scheduler.engine.changes import LeaseChanges
from lease_scheduler.engine.deviations import Deviations
from lease_scheduler.engine.interfaces import (
    Admission,
    Clock,
    Cloud,
    ImageCarrier,
    Operation,
    Penalty,
    Pricing,
    Recorder,
    Store,
)
from lease_scheduler.engine.offers import Offers, offer_end
from lease_scheduler.engine.outages import Outages
from lease_scheduler.engine.precaching import AheadTransfers
from lease_scheduler.engine.prices import Prices, affordable, too_high, within_budget
from lease_scheduler.engine.state import EngineOptions, EngineState
from lease_scheduler.engine.stepping import EngineSteps, Submission
from lease_scheduler.engine.transfers import Transfers
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease, LeaseRequest, NodeSet
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.advice import Alternative, Flexibility
from lease_scheduler.plan.availability import FOREVER
from lease_scheduler.plan.changing import Change
from lease_scheduler.plan.explain import NoPlaceError, Refusal, explain, too_large
from lease_scheduler.plan.largest_fit import check_least, with_counts
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.quote import Quote, quote
from lease_scheduler.plan.reservable import Room, room
from lease_scheduler.plan.transfers.caches import CachedImage
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.penalty.none import NoPenalty
from lease_scheduler.policy.pricing.free import Free


class Engine:
    """Drives leases through their life.

    ``step`` does everything that is due at the clock's present instant. Whoever runs the engine calls it whenever
    ``next_due`` has come, the cloud has something to report, or a request was submitted.

    :param pricing: what leases cost; nothing if there is none
    :param carrier: brings disk images to hosts, if the planner plans that
    :param penalty: what terms cost that are not kept; nothing if there is none
    :raises InvalidValueError: nobody brings the images that the planner plans to have brought
    """

    def __init__(
        self,
        planner: Planner,
        admission: Admission,
        clock: Clock,
        cloud: Cloud,
        store: Store,
        recorder: Recorder,
        options: EngineOptions,
        pricing: Pricing | None = None,
        carrier: ImageCarrier | None = None,
        penalty: Penalty | None = None,
    ) -> None:
        is_planned = planner.plan.images is not None or planner.ahead is not None
        if is_planned and carrier is None:
            raise InvalidValueError("transfers", "are planned, but the cloud does not bring images to hosts")
        breaches = Breaches(recorder, penalty or NoPenalty(PolicyOptions()), options.breach_tolerance)
        self._state = EngineState(planner, cloud, store, recorder, options, breaches)
        self._prices = Prices(self._state, pricing or Free(PolicyOptions()))
        self._offers = Offers(self._state, self._prices)
        self._admission = admission
        self._clock = clock
        self._deviations = Deviations(self._state)
        self._outages = Outages(self._state, self._deviations.relocation)
        self._changes = LeaseChanges(self._state, admission)
        self._precaching: AheadTransfers | None = None
        transfers: Transfers | AheadTransfers = Transfers(self._state, self._deviations.relocation, carrier)
        if planner.ahead is not None and carrier is not None:
            transfers = self._precaching = AheadTransfers(self._state, planner.ahead, carrier)
        self._steps = EngineSteps(
            self._state, admission, self._prices, self._offers, self._deviations, self._outages, transfers
        )
        self._known: set[str] = set()

    # -- requests ----------------------------------------------------------------------------------------

    def restore(
        self,
        leases: Iterable[Lease],
        operations: Iterable[Operation],
        next_sequence: int,
        outages: Mapping[str, tuple[int, int | None]] | None = None,
        closed: Iterable[str] = (),
        lateness: Mapping[str, Sequence[int]] | None = None,
        cached: Iterable[CachedImage] = (),
    ) -> None:
        """Take over from an engine that is no more, before the first step.

        Nothing is stored and no command is given; operations in progress are taken to go on. The next step does what is
        due, also what became due while nobody was there.

        :param leases: what the store kept; leases that are over are remembered as known only, and requests that were
            not decided on are submitted again
        :param operations: what the cloud was doing
        :param next_sequence: position of the next request in the order of submission
        :param outages: hosts that are out of service, as ``outages`` said
        :param closed: those of them on which what runs is thought to go on, until the cloud reports that they are down
        :param lateness: how much longer operations took, as ``take_lateness`` said
        :param cached: images in the caches of hosts, as ``take_cache_changes`` said
        :raises InvalidValueError: the engine has leases already, or the arguments do not fit each other
        """
        kept = sorted(leases, key=lambda lease: lease.sequence)
        if self._known:
            raise InvalidValueError("leases", "an engine that has leases already cannot take over others")
        if kept and kept[-1].sequence >= next_sequence:
            raise InvalidValueError("next_sequence", f"must be more than {kept[-1].sequence}, not {next_sequence}")
        self._steps.sequence = next_sequence
        undecided = [lease for lease in kept if lease.state in (LeaseState.NEW, LeaseState.PENDING)]
        live = [lease for lease in kept if not lease.is_final and lease not in undecided]
        state, plan = self._state, self._state.planner.plan
        state.lateness.restore(lateness or {})
        if self._precaching is not None:
            self._precaching.restore(live, cached, self._clock.now())
        state.restore(live, operations, self._clock.now())
        waiting = [lease for lease in plan.leases.values() if lease.lease_id not in state.operations]
        self._deviations.retries.restore(waiting, self._clock.now())
        for lease in live:
            self._deviations.remember_delayed(lease, self._clock.now())
        for name, (since, until) in (outages or {}).items():
            if name not in plan.site.index:
                raise InvalidValueError("outages", f"there is no host {name}")
            plan.block(plan.site.index[name], since, FOREVER if until is None else until)
        state.closed_hosts.update(plan.site.index[name] for name in closed)
        self._known.update(lease.lease_id for lease in kept)
        self._steps.submitted.extend(Submission(lease.request) for lease in undecided)

    def submit(
        self,
        request: LeaseRequest,
        least: tuple[int, ...] | None = None,
        *,
        offered_for: int | None = None,
        negotiation: str | None = None,
    ) -> None:
        """Take a request; the next step decides on it.

        :param least: for each node set the fewest VMs that will do, if not all; the lease's terms then have as many as
            it was granted
        :param offered_for: seconds for which the lease is held for its consumer until he accepts it, fewer if it would
            have to begin before; none if it need not be accepted
        :param negotiation: what it has in common with other offers: accepting one withdraws the others
        :raises InvalidValueError: there was a lease of that id before, the range makes no sense, or a lease like this
            cannot be held
        """
        if request.lease_id in self._known:
            raise InvalidValueError("lease_id", f"there is a lease {request.lease_id} already")
        if least is not None:
            check_least(request, least)
        until = None if offered_for is None else offer_end(request, self._clock.now(), offered_for)
        self._known.add(request.lease_id)
        self._steps.submitted.append(Submission(request, least, until, negotiation))

    def forget_refused(self, lease_id: str) -> None:
        """Allow another request with the id of one that was refused, so that a client can send it again."""
        self._known.discard(lease_id)

    def quote(self, request: LeaseRequest, least: tuple[int, ...] | None = None) -> Quote:
        """What would become of a request if it came now; nothing of it is kept.

        :param least: as in ``submit``
        :raises InvalidValueError: there was a lease of that id before, or the range makes no sense
        """
        if request.lease_id in self._known:
            raise InvalidValueError("lease_id", f"there is a lease {request.lease_id} already")
        if least is not None:
            check_least(request, least)
        now = self._clock.now()
        refusal = self._admission.refusal(request, now)
        if refusal is not None:
            return Quote(refusal=Refusal("policy", refusal))
        earliest = now + self._state.options.planning_lead
        found = quote(self._state.planner, request, self._steps.sequence, now, least=least, earliest=earliest)
        if found.lease is None or not self._prices.applies_to(found.lease.request):
            return found
        price = self._prices.of(found.lease.request, found.suspension_hours).amount
        priced = replace(found.lease.request, price=price)
        if affordable(priced):
            return replace(found, lease=replace(found.lease, request=priced), price=price)
        return Quote(refusal=Refusal("price", too_high(priced)), price=price)

    def alternatives(
        self, request: LeaseRequest, refusal: Refusal, flexibility: Flexibility
    ) -> tuple[Alternative, ...]:
        """What could be offered in place of a request that is refused, nearest first.

        :param refusal: as ``quote`` tells it
        :param flexibility: how far its consumer would go from his terms
        """
        now = self._clock.now()
        start = now if request.start is None else max(now, request.start)
        found = refusal.alternatives
        if refusal.constraint == "price" and request.max_price is not None:
            rate = self._prices.of(request).rate
            found = within_budget(request, rate, request.max_price, start)
        return tuple(each for each in found if flexibility.allows(each))

    # -- leases that are held ----------------------------------------------------------------------------

    def counter(self, lease_id: str, terms: LeaseRequest, least: tuple[int, ...] | None = None) -> Lease:
        """The consumer of a lease that is held for him would rather have it on other terms (haizea F8).

        :param least: as in ``submit``
        :return: its new value: still held, until when it was before at most
        :raises InvalidValueError: there is no such live lease, it is not held, or these are no terms for it
        :raises NoPlaceError: the terms cannot be had, or cost too much; the offer is as it was
        """
        now = self._clock.now()
        lease = self._offered(lease_id)
        if terms.lease_id != lease_id or terms.kind is not lease.kind:
            raise InvalidValueError("kind", f"a {lease.kind.value} lease cannot become another one")
        if least is not None:
            check_least(terms, least)
        smallest = terms if least is None else with_counts(terms, least)
        if too_large(self._state.planner.context, smallest) is not None:
            raise NoPlaceError(explain(self._state.planner, smallest, now))
        refusal = self._admission.refusal(terms, now)
        if refusal is not None:
            raise NoPlaceError(Refusal("policy", refusal))
        placed = self._offers.exchange(lease, terms, now, least)
        return self._followed_up(Change(lease, placed, ()), now).after

    def accept(self, lease_id: str) -> Lease:
        """The consumer of a lease that is held for him wants it.

        :return: its new value
        :raises InvalidValueError: there is no such live lease, or it is not held
        """
        now = self._clock.now()
        accepted = self._offers.accept(self._offered(lease_id), now)
        self._state.publish(now)
        replaced = self._state.lease(accepted.negotiation)
        if replaced is not None and replaced.started is None and not replaced.is_offered:
            self.cancel(replaced.lease_id, f"lease {lease_id} was accepted in its place")
        self._steps.serve_queue(now)
        return self._live(lease_id)

    def reject(self, lease_id: str, reason: str = "its quote was rejected") -> None:
        """The consumer of a lease that is held for him does not want it.

        :param reason: why, for people
        :raises InvalidValueError: there is no such live lease, or it is not held
        """
        now = self._clock.now()
        self._offers.turn_down(self._offered(lease_id), now, reason)
        self._state.publish(now)
        self._steps.serve_queue(now)

    def _offered(self, lease_id: str) -> Lease:
        lease = self._live(lease_id)
        if not lease.is_offered:
            raise InvalidValueError("lease_id", f"lease {lease_id} is not an open quote")
        return lease

    def room(self, node_set: NodeSet, start: int, end: int, duration: int) -> Room:
        """When there is room for the VMs of a node set, from now on; see ``plan.reservable``."""
        now = self._clock.now()
        return room(self._state.planner, node_set, max(start, now), end, duration, now)

    # -- live leases -------------------------------------------------------------------------------------

    def change(
        self,
        lease_id: str,
        request: LeaseRequest,
        *,
        least: tuple[int, ...] | None = None,
        give_up: Iterable[int] = (),
    ) -> Change:
        """New terms for a live lease: planned anew, then swapped. They cost what ``quote_change`` says.

        Hosts that it has are kept where they still fit. The VMs of a lease that runs stay where they are; others come
        or go from now on. Only if its hosts are promised to others when it was to end and it may move while it runs,
        it goes on elsewhere at once. The cloud is told only if the hosts are others: whoever calls has it follow all
        else. A best-effort lease that does not run goes back to its place in the queue. Terms that are over end the
        lease.

        :param request: the complete new terms; a node set continues the one of the same position
        :param least: as in ``submit``
        :param give_up: indices of the VMs that go first where there are fewer
        :raises InvalidValueError: there is no such live lease, or a term that cannot be changed
        :raises NoPlaceError: there is no place for the new terms; everything is as it was
        """
        now = self._clock.now()
        return self._followed_up(self._changes.change(self._live(lease_id), request, now, least, give_up), now)

    def quote_change(
        self, lease_id: str, request: LeaseRequest, *, least: tuple[int, ...] | None = None
    ) -> tuple[Lease, tuple[str, ...]]:
        """What ``change`` would come to; nothing of it is kept.

        :return: the lease as it would be, with its price, and ids of the leases that would lose some of what they hold
        :raises InvalidValueError: as in ``change``
        :raises NoPlaceError: as in ``change``
        """
        return self._changes.quote(self._live(lease_id), request, self._clock.now(), least)

    def move(self, lease_id: str, away: frozenset[str], reason: str = "moved by the operator") -> Change:
        """Other hosts for a lease in place of the named ones.

        VMs on other hosts stay. A lease that runs goes on running.

        :raises InvalidValueError: there is no such live lease or no such host
        :raises NoPlaceError: there are no others; everything is as it was
        """
        now = self._clock.now()
        # Whoever waits for a better place is not planned again: it might be the lease itself, on the same hosts.
        return self._followed_up(self._changes.move(self._live(lease_id), away, now, reason), now, replan=False)

    def end(self, lease_id: str, reason: str = "ended by its consumer") -> None:
        """End a lease now: as done if its VMs run or their memory is saved, as cancelled if nothing has begun.

        One that is held for its consumer is rejected.

        :param reason: why, for people
        :raises InvalidValueError: there is no such live lease
        """
        now = self._clock.now()
        lease = self._live(lease_id)
        if lease.is_offered:
            self.reject(lease_id, reason)
            return
        self._followed_up(Change(lease, self._changes.end(lease, now, reason), ()), now)

    def _live(self, lease_id: str) -> Lease:
        lease = self._state.lease(lease_id)
        if lease is None:
            raise InvalidValueError("lease_id", f"there is no live lease {lease_id}")
        return lease

    def _followed_up(self, change: Change, now: int, *, replan: bool = True) -> Change:
        """Store what changed, and let others use what came free."""
        if change.after is change.before:
            return change
        self._state.publish(now)
        if replan and change.before.holdings:
            self._let_go_on(change.before, now)
            self._steps.use_freed(change.before, now, max(r.end for r in change.before.holdings))
        self._steps.serve_queue(now)
        return replace(change, after=self._state.lease(change.after.lease_id) or change.after)

    def _let_go_on(self, lease: Lease, now: int) -> None:
        """A lease is no more, or has another place: if nothing of it had begun, nobody need make room where it was."""
        if lease.started is None:
            self._offers.let_go_on(frozenset(host for each in lease.holdings for host in each.hosts), now)

    def cancel(self, lease_id: str, reason: str = "cancelled by its consumer") -> None:
        """End a lease because its consumer wants so (haizea F16); one that is held for him is rejected.

        :param reason: why, for people
        :raises InvalidValueError: there is no such live lease
        """
        lease = self._live(lease_id)
        now = self._clock.now()
        if lease.is_offered:
            self.reject(lease_id, reason)
            return
        if lease.active_since is not None:
            lease = self._state.stop_counting(lease, now)
        self._state.cloud.discard(lease_id, now)
        held = lease.holdings
        self._state.finish(lease, LeaseState.CANCELLED, now, reason)
        if held:
            self._let_go_on(lease, now)
            self._steps.use_freed(lease, now, max(r.end for r in held))
        self._steps.serve_queue(now)

    # -- hosts -------------------------------------------------------------------------------------------

    @property
    def site(self) -> Site:
        """The hosts by their numbers, those that have left the site included."""
        return self._state.planner.plan.site

    def change_site(self, site: Site) -> Site:
        """Hosts came, changed or left; leases that do not fit any more are treated as if their hosts had failed.

        :param site: the hosts that there are now
        :return: the hosts by their numbers, which no host loses; an engine that takes over needs them in this order
        """
        now = self._clock.now()
        merged = self._outages.change_site(site, now)
        self._state.publish(now)
        self._steps.serve_queue(now)
        return merged

    def host_out(self, name: str, until: int | None = None) -> None:
        """A host is out of service: what ran or was saved there is lost, what is planned there is moved.

        :param until: when it is thought to be back, none if never
        :raises InvalidValueError: there is no such host, or the instant has passed
        """
        now = self._clock.now()
        self._outages.host_out(name, now, until)
        self._state.publish(now)
        self._steps.serve_queue(now)

    def host_back(self, name: str) -> None:
        """A host is back in service, empty.

        :raises InvalidValueError: there is no such host
        """
        now = self._clock.now()
        self._outages.host_back(name, now)
        self._state.publish(now)
        self._steps.serve_queue(now)

    @property
    def outages(self) -> dict[str, tuple[int, int | None]]:
        """Hosts that are out of service: since when, and until when that is thought to be so, none if for good."""
        plan = self._state.planner.plan
        # A host that others are on is in service, and is looked at again within a minute.
        out = sorted(plan.outages - self._state.occupied.keys())
        known = {plan.site.hosts[host].name: plan.outage(host) for host in out}
        return {name: (since, None if until == FOREVER else until) for name, (since, until) in known.items()}

    # -- disk images -------------------------------------------------------------------------------------

    def take_cache_changes(self) -> Mapping[tuple[int, str], CachedImage | None]:
        """What hosts are thought to have in their caches, or not any more, since the last call: by host and image."""
        return self._state.planner.caches.take_changes()

    # -- time --------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Do everything that is due now; see ``engine.stepping`` for the order."""
        self._steps.step(self._clock.now())

    def next_due(self) -> int | None:
        """The next instant at which something is planned; none if nothing is."""
        return self._steps.next_due()

    def live_leases(self) -> list[Lease]:
        """Leases that have not come to their end, in the order of submission."""
        return sorted(self._state.planner.plan.leases.values(), key=lambda lease: lease.sequence)

    def lease(self, lease_id: str) -> Lease | None:
        """A lease that has not come to its end, none if there is no such one."""
        return self._state.lease(lease_id)

    @property
    def operations(self) -> Mapping[str, Operation]:
        """What the cloud is carrying out, by lease."""
        return dict(self._state.operations)

    def take_lateness(self) -> dict[str, list[int]]:
        """How much longer operations took, if that was seen since the last call: seconds by kind, to be kept."""
        return self._state.lateness.take_changes()

    @property
    def next_sequence(self) -> int:
        """Position of the next request in the order of submission."""
        return self._steps.sequence

    @property
    def is_idle(self) -> bool:
        """Whether no lease is live and no request waits to be decided on."""
        return not self._state.planner.plan.leases and not self._steps.submitted
