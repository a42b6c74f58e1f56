"""The engine: one per site, in the service and in the simulator (Sotomayor 2010, section 4.2; haizea F18, F39)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from lease_scheduler.engine.admission import Admission
from lease_scheduler.engine.briefing import Briefing
from lease_scheduler.engine.changes import LeaseChanges
from lease_scheduler.engine.early_suspension import suspend_now
from lease_scheduler.engine.fewer_hosts import FewerHosts
from lease_scheduler.engine.follow_up import FollowUp
from lease_scheduler.engine.forecasts import Forecasts
from lease_scheduler.engine.held_leases import HeldLeases
from lease_scheduler.engine.hosts import Hosts
from lease_scheduler.engine.interfaces import Operation, Ports
from lease_scheduler.engine.offers import offer_end
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.engine.outcomes import Outcomes
from lease_scheduler.engine.parts import Parts
from lease_scheduler.engine.quotes import Quotes
from lease_scheduler.engine.state import EngineState
from lease_scheduler.engine.stepping import EngineSteps
from lease_scheduler.engine.submissions import Submission, SubmissionOrder
from lease_scheduler.fractional.discovery import Needs
from lease_scheduler.model.approval import Approval
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.grant import UNANSWERED, Grant
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.power import HostPower
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.changing.changing import Change
from lease_scheduler.plan.explaining.advice import Alternative, Flexibility
from lease_scheduler.plan.explaining.explain import Refusal
from lease_scheduler.plan.explaining.quote import Quote
from lease_scheduler.plan.explaining.reservable import Room, room
from lease_scheduler.plan.fitting.largest_fit import check_least
from lease_scheduler.plan.planner import Planner
from lease_scheduler.plan.transfers.caches import CachedImage
from lease_scheduler.policy.base import Policy
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.prediction.coverage import Covered


class Engine:
    """Engine that leads leases through their life.

    ``step`` does everything that is due at the clock's present instant. The owner of the engine calls it when
    ``next_due`` has come, when the cloud has something to report, and when a request was submitted.

    :param planner: plans the leases
    :param policies: policies of the engine; the planner has the same
    :param ports: clock, cloud, store, recorder and carrier; a carrier is needed if the planner plans transfers
    :param options: options of the engine
    :param order: order of submission that it shares with other engines; None for its own
    :param forecasts: forecasts when leases start; None to forecast nothing
    :ivar held: accepts and rejects offers, and approves and declines leases that await approval
    :ivar hosts: takes hosts out of service, lets them sleep, and replaces them
    :ivar fewer_hosts: computes what fluid leases would get with fewer hosts
    :raises InvalidValueError: transfers are planned, but there is no carrier
    """

    def __init__(
        self,
        planner: Planner,
        policies: PolicySet,
        ports: Ports,
        options: EngineOptions,
        order: SubmissionOrder | None = None,
        forecasts: Forecasts | None = None,
    ) -> None:
        outcomes = Outcomes(self._observers, lambda: self._briefing.of_hosts())
        self._clock = clock = ports.clock
        self._forecasts = forecasts
        self._state = EngineState(planner, policies, ports.cloud, ports.store, ports.recorder, options, outcomes)
        self._briefing = Briefing(self._state, forecasts)
        self._parts = parts = Parts(self._state, ports.carrier, order or SubmissionOrder(), forecasts)
        self._admission = Admission(self._state, parts)
        self._steps = EngineSteps(self._state, parts, self._admission)
        self._changes = LeaseChanges(self._state)
        self._follow_up = FollowUp(self._state, parts.offers, self._steps)
        self.held = HeldLeases(self._state, parts.offers, self._steps, self._follow_up, clock.now, self.cancel)
        self._quotes = Quotes(self._state, parts, self._admission)
        self.hosts = Hosts(self._state, parts.outages, parts.powers, clock.now, self._steps.serve_queue)
        self.fewer_hosts = FewerHosts(self._state, parts.fluid, clock.now)
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
        powers: Mapping[str, HostPower] | None = None,
    ) -> None:
        """Take over from an engine that has stopped, before the first step.

        Nothing is stored and no command is given. Operations in progress are assumed to continue. The next step does
        what is due, including what became due while no engine was running.

        :param leases: all leases of the store. Only the ids of leases that have ended are kept. Undecided requests are
            submitted again.
        :param operations: operations that the cloud is carrying out
        :param next_sequence: position of the next request in the order of submission
        :param outages: hosts that are out of service, as in ``Hosts.outages``
        :param closed: names of hosts among them that accept nothing new, but on which leases continue to run until the
            cloud reports them as down
        :param lateness: seconds by which operations were late, as ``take_lateness`` returned them
        :param cached: images in the caches of hosts, as ``take_cache_changes`` returned them
        :param powers: power of hosts that have been told to sleep, as in ``Hosts.powers``
        :raises InvalidValueError: the engine already has leases, or the arguments contradict each other
        """
        kept = sorted(leases, key=lambda lease: lease.sequence)
        if self._known:
            raise InvalidValueError("leases", "an engine that already has leases cannot take over others")
        if kept and kept[-1].sequence >= next_sequence:
            raise InvalidValueError("next_sequence", f"must be more than {kept[-1].sequence}, not {next_sequence}")
        self._parts.order.next = next_sequence
        undecided = [lease for lease in kept if lease.state in (LeaseState.NEW, LeaseState.PENDING)]
        live = [lease for lease in kept if not lease.is_final and lease not in undecided]
        state, plan = self._state, self._state.planner.plan
        state.lateness.restore(lateness or {})
        self._parts.images.restore(live, cached, self._clock.now())
        state.restore(live, operations, self._clock.now())
        waiting = [lease for lease in plan.leases.values() if lease.lease_id not in state.runs.operating]
        self._parts.deviations.retries.restore(waiting, self._clock.now())
        for lease in live:
            self._parts.deviations.remember_delayed(lease, self._clock.now())
        self._parts.outages.restore(outages or {}, closed)
        numbers = {plan.site.index[name]: power for name, power in (powers or {}).items() if name in plan.site.index}
        self._parts.powers.restore(numbers, self._clock.now())
        self._parts.live_moves.follow_clock(self._clock.now())
        self._parts.places.restore(self._clock.now())
        self.brief_policies()
        self._known.update(lease.lease_id for lease in kept)
        self._admission.submitted.extend(
            Submission(lease.request, None, lease.offered_until, lease.negotiation, lease.approval, lease.grant)
            for lease in undecided
        )

    def note_needs(self, needs: Needs) -> None:
        """Set the needs by which the next step shares CPU among fluid leases."""
        self._parts.fluid.needs = needs

    @property
    def policies(self) -> PolicySet:
        """The present policies."""
        return self._state.policies

    def use(self, policies: PolicySet) -> None:
        """Use other policies from now on. Call ``brief_policies`` before the next step."""
        self._state.policies = policies
        self._state.planner.use(policies)

    def _observers(self) -> Iterable[Policy]:
        told = self._state.policies.in_order
        return told if self._forecasts is None else (*told, self._forecasts)

    def brief_policies(self) -> None:
        """Tell policies that are new or have been restored about the live leases."""
        self._briefing.of_leases(self.live_leases(), self._clock.now())

    def submit(
        self,
        request: LeaseRequest,
        least: tuple[int, ...] | None = None,
        *,
        offered_for: int | None = None,
        negotiation: str | None = None,
        approval: Approval | None = None,
        grant: Grant = UNANSWERED,
    ) -> None:
        """Accept a request; the next step decides it.

        :param least: smallest acceptable number of nodes of each node set; None means all of them. The terms of the
            lease then have the numbers that it was granted.
        :param offered_for: seconds for which the lease is held for the project to accept it, but not beyond its start;
            None if it need not be accepted
        :param negotiation: id that offers of one negotiation share; accepting one of them withdraws the others
        :param approval: with ``AWAITING``, the lease is held until it is approved, and its project cannot accept it
        :param grant: what is already answered to it, such as a price that was agreed on before
        :raises InvalidValueError: the id has been used before, the numbers are invalid, or the lease cannot be held
        """
        if request.lease_id in self._known:
            raise InvalidValueError("lease_id", f"lease {request.lease_id} exists already")
        if least is not None:
            check_least(request, least)
        until = None if offered_for is None else offer_end(request, self._clock.now(), offered_for)
        self._known.add(request.lease_id)
        self._admission.submitted.append(Submission(request, least, until, negotiation, approval, grant))

    def forget_refused(self, lease_id: str) -> None:
        """Allow another request with the id of a refused one, so that a client can send it again."""
        self._known.discard(lease_id)

    def quote(self, request: LeaseRequest, least: tuple[int, ...] | None = None, grant: Grant = UNANSWERED) -> Quote:
        """Return what would happen to a request if it were made now. Nothing changes.

        :param least: as in ``submit``
        :param grant: as in ``submit``
        :raises InvalidValueError: the id has been used before, or the numbers are invalid
        """
        if request.lease_id in self._known:
            raise InvalidValueError("lease_id", f"lease {request.lease_id} exists already")
        if least is not None:
            check_least(request, least)
        return self._quotes.quote(request, least, grant, self._clock.now())

    def alternatives(
        self, request: LeaseRequest, refusal: Refusal, flexibility: Flexibility
    ) -> tuple[Alternative, ...]:
        """Return alternatives to a refused request, nearest first.

        :param refusal: as ``quote`` returned it
        :param flexibility: how far from its terms the project accepts alternatives
        """
        return self._quotes.alternatives(request, refusal, flexibility, self._clock.now())

    def room(self, node_set: NodeSet, start: int, end: int, duration: int) -> Room:
        """Return when the nodes of a node set fit, from now on; see ``plan.explaining.reservable``."""
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
        """Give a live lease new terms, at the price that ``quote_change`` returns.

        * A lease that has not started keeps its hosts where they still fit.
        * The nodes of a running lease stay on their hosts; nodes are added or removed from now on. It continues on
          other hosts only if its own are promised to others after its old end, and it may move while it runs.
        * A best-effort lease that does not run goes back to its place in the queue.
        * A lease that has already run for its new duration ends.

        The engine tells the cloud only about changes of hosts. The caller has the cloud follow all other changes.

        :param request: the complete new terms; a node set continues the one at the same position
        :param least: as in ``submit``
        :param give_up: indices of the nodes to remove first if there are fewer
        :raises InvalidValueError: there is no such live lease, or one of the terms cannot be changed
        :raises NoPlaceError: there is no place for the new terms; nothing has changed
        """
        now = self._clock.now()
        return self._follow_up.of_change(
            self._changes.change(self._state.live(lease_id), request, now, least, give_up), now
        )

    def quote_change(
        self, lease_id: str, request: LeaseRequest, *, least: tuple[int, ...] | None = None
    ) -> tuple[Lease, tuple[str, ...]]:
        """Return what ``change`` would do. Nothing changes.

        :return: the lease after the change, with its price, and ids of the leases that would lose some of their run
        :raises InvalidValueError: as in ``change``
        :raises NoPlaceError: as in ``change``
        """
        return self._changes.quote(self._state.live(lease_id), request, self._clock.now(), least)

    def move(self, lease_id: str, away: frozenset[str], reason: str = "moved by the operator") -> Change:
        """Move a lease off the named hosts.

        Nodes on other hosts stay. A running lease continues to run.

        :raises InvalidValueError: there is no such live lease or no such host
        :raises NoPlaceError: no other hosts are free; nothing has changed
        """
        now = self._clock.now()
        # Waiting leases are not replanned, because this lease itself might get the same hosts again.
        return self._follow_up.of_change(
            self._changes.move(self._state.live(lease_id), away, now, reason), now, replan=False
        )

    def end(self, lease_id: str, reason: str = "ended by its project", *, by_provider: bool = False) -> None:
        """End a lease now.

        It ends as done if its nodes run or their memory is saved, as cancelled if it has not started, and as rejected
        if it is an offer.

        :param reason: why, for people
        :param by_provider: whether the provider ends it without a wish of its project, which may be a breach
        :raises InvalidValueError: there is no such live lease
        """
        now = self._clock.now()
        lease = self._state.live(lease_id)
        if lease.is_offered:
            self.held.reject(lease_id, reason)
            return
        after = self._changes.end(lease, now, reason, by_provider=by_provider)
        self._follow_up.of_change(Change(lease, after, ()), now)

    def suspend_now(self, lease_id: str) -> None:
        """Begin the planned suspension of a victim now.

        :raises InvalidValueError: there is no such live lease
        :raises NotPlannableError: no suspension of the lease is planned, or it would miss its deadline
        """
        now = self._clock.now()
        self._follow_up.of_change(suspend_now(self._state, self._state.live(lease_id), now), now, replan=False)

    def cancel(self, lease_id: str, reason: str = "cancelled by its project", *, by_provider: bool = False) -> None:
        """End a lease as cancelled, even if it runs (haizea F16). An offer is rejected.

        :param reason: why, for people
        :param by_provider: as for ``end``
        :raises InvalidValueError: there is no such live lease
        """
        lease = self._state.live(lease_id)
        now = self._clock.now()
        if lease.is_offered:
            self.held.reject(lease_id, reason)
            return
        if lease.active_since is not None:
            lease = self._state.stop_counting(lease, now)
        if by_provider:
            lease = self._state.breaches.withdrawn(lease, now)
        self._state.cloud.discard(lease_id, now)
        self._state.finish(lease, LeaseState.CANCELLED, now, reason)
        self._follow_up.of_end(lease, now)

    def guest_lifetimes(self, assurances: Collection[float]) -> Callable[[], Mapping[float, Mapping[str, int]]]:
        """Return a function that computes for how long servers without a lease are promised to run from now on.

        The function may be called in another thread. See ``AssurancePolicy.guest_lifetimes``.

        :param assurances: probabilities of the promises
        """
        self._state.policies.assurance.follow(self._state.planner.plan.site)
        notice = self._state.preparation_time
        return self._state.policies.assurance.guest_lifetimes(assurances, self.live_leases(), self._clock.now(), notice)

    def forecasts(self) -> dict[str, Covered]:
        """Return how often forecasts held, by the name of the forecast."""
        found = dict(self._state.policies.assurance.coverage())
        if self._forecasts is not None:
            found |= self._forecasts.coverage(self._clock.now())
        return {name: each.covered() for name, each in found.items()}

    @property
    def site(self) -> Site:
        """The hosts by their numbers, including those that have left the site."""
        return self._state.planner.plan.site

    def take_cache_changes(self) -> Mapping[tuple[int, str], CachedImage | None]:
        """Return the changes of the image caches since the last call, by host and image; None means that it is gone."""
        return self._state.planner.caches.take_changes()

    # -- time --------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Do everything that is due now; see ``engine.stepping`` for the order."""
        now = self._clock.now()
        if self._state.policies.assurance.promises:
            self._state.policies.assurance.pass_to(now)
        self._steps.step(now)

    def next_due(self) -> int | None:
        """Return the next planned instant, or None."""
        return self._steps.next_due()

    def live_leases(self) -> list[Lease]:
        """Return the live leases, in the order of submission."""
        return sorted(self._state.planner.plan.leases.values(), key=lambda lease: lease.sequence)

    def lease(self, lease_id: str) -> Lease | None:
        """Return the live lease with this id, or None."""
        return self._state.lease(lease_id)

    @property
    def operations(self) -> Mapping[str, Operation]:
        """Operations that the cloud is carrying out, by lease id."""
        return {operation.lease_id: operation for operation in self._state.runs.operations()}

    def take_lateness(self) -> dict[str, list[int]]:
        """Return the seconds by which operations were late, by kind, if there are new ones; the caller stores them."""
        return self._state.lateness.take_changes()

    @property
    def next_sequence(self) -> int:
        """Position of the next request in the order of submission."""
        return self._parts.order.next

    @property
    def is_idle(self) -> bool:
        """Whether no lease is live and no request is undecided."""
        return not self._state.planner.plan.leases and not self._admission.submitted
