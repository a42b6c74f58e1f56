"""Promises by the past: for how long the demand of others has let such leases run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from lease_scheduler.model.durations import in_words
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import Assured
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.resources import FLOATING_IP
from lease_scheduler.policy.assurance.base import AssurancePolicy, Promise, Shortfall, Wanted
from lease_scheduler.policy.assurance.booked import BookedDemand
from lease_scheduler.policy.assurance.guests import GuestHistory, GuestQuestion, hosts_of, using
from lease_scheduler.policy.assurance.record import PromiseRecord
from lease_scheduler.policy.base import Learnt, PolicyOptions
from lease_scheduler.policy.outcomes import Outcome
from lease_scheduler.policy.site_share import capacity_of, share_of
from lease_scheduler.prediction.bounds import Side, check_probability, least_count
from lease_scheduler.prediction.coverage import Coverage
from lease_scheduler.prediction.demand_history import STEP, DemandHistory, Survey

_HOUR = 3_600
_DAY = "day "
_LOAD = "load"
_PROMISES = "promises"


class Statistical(AssurancePolicy):
    """Promises a lifetime that leases reached in the past with the requested probability.

    Leases without a promise are preempted first, and among those with one the youngest. So a lease is threatened by the
    demand of leases that may preempt it, and by leases with earlier promises. How often, in the past, would that demand
    have exhausted the present spare capacity within the lifetime (``prediction.demand_history``)? The upper
    Clopper-Pearson limit of that share, at ``assurance_confidence``, must be at most the probability of preemption. The
    same must hold for the capacity that is left when most of the planned leases run.

    Probabilities below ``assurance_least`` (0.5) are refused. They would always be promised, although leases with a
    promise are preempted after all others.

    Promises that were made are judged too. When significantly more of them were broken than may be, for example because
    reservations follow promises, nothing is promised until the broken ones have left the record.

    The policy keeps 90 days of demand in steps of ten minutes, and the last 500 promises.

    Servers without a lease have to leave when a lease starts on their host. So what they are promised rests on when
    leases started on each host (``prediction.quiet_times``). That history is kept once it is asked for.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._confidence = options.number("assurance_confidence", 0.95)
        check_probability("policy option assurance_confidence", self._confidence)
        self._least = options.number("assurance_least", 0.5)
        check_probability("policy option assurance_least", self._least)
        self._history = DemandHistory()
        self._record = PromiseRecord()
        self._site: Site | None = None
        self._capacity: dict[str, int] = {}
        self._threats: dict[str, tuple[LeaseRequest, float]] = {}
        self._demand = 0.0
        self._planned: dict[str, Lease] = {}
        self._booked = BookedDemand()
        self._guests = GuestHistory()

    # -- promises ------------------------------------------------------------------------------------------

    def _promise(self, wanted: Wanted, now: int) -> Promise | Shortfall:
        if wanted.assurance < self._least:
            return Shortfall(
                f"this site promises probabilities of at least {self._least:.6g}, not {wanted.assurance:.6g}"
            )
        allowed = 1 - wanted.assurance
        if self._record.is_worse_than(allowed, self._confidence, now):
            kept, broken = self._record.counts(now)
            return Shortfall(
                f"of the last {kept + broken} promises of this site {broken} were broken, which is more than a promise "
                f"of {wanted.assurance:.6g} allows"
            )
        # What is left for the demand of others.
        spare = 1.0 - self._record.promised(now) - self._share(wanted.request)
        survey = self._survey(spare, wanted.wait + wanted.seconds, now)
        if survey.reaches(wanted.assurance, self._confidence):
            return Promise(Assured.STATISTICAL, survey.observations)
        return Shortfall(self._instead(wanted, spare, survey, now))

    def knows_too_little(self, wanted: Wanted, now: int) -> bool:
        """Return whether the past is too short for the promise, whatever happened in it."""
        survey = self._history.survey(1.0, wanted.wait + wanted.seconds, now)
        return survey.observations < least_count(1 - wanted.assurance, self._confidence, Side.LOWER)

    def guest_lifetimes(
        self, assurances: Collection[float], leases: Collection[Lease], now: int, notice: int
    ) -> Callable[[], Mapping[float, Mapping[str, int]]]:
        """See ``AssurancePolicy.guest_lifetimes``."""
        assert self._site is not None, "the hosts are told before"
        hosts = self._site.hosts
        is_new = not self._guests.is_wanted
        names = {host.name for host in hosts if host.whole_capacity and FLOATING_IP not in host.whole_capacity}
        self._guests.hosts_are(names, now)
        if is_new:
            self._guests.take_over(using(leases, hosts), now)
        asked = [each for each in assurances if not self._record.is_worse_than(1 - each, self._confidence, now)]
        question = GuestQuestion(
            self._guests.hosts_by_past(), now, self._confidence, self._history.since, self._longest, notice
        )
        return lambda: {each: question.lifetimes(each) for each in asked}

    def _instead(self, wanted: Wanted, spare: float, survey: Survey, now: int) -> str:
        """Return why a lifetime cannot be promised, and which one can be, as a text for people."""
        least = least_count(1 - wanted.assurance, self._confidence, Side.LOWER)
        if survey.observations < least:
            reason = (
                f"promising {in_words(wanted.wait + wanted.seconds)} with probability {wanted.assurance:.6g} takes "
                f"{least} observations, and this site has {survey.observations}"
            )
        else:
            reached = max(0.0, survey.assurance(self._confidence))
            reason = (
                f"{in_words(wanted.seconds)} can be promised with a probability of at most {reached:.2f} at present"
            )
        shorter = self._longest_promise(wanted, spare, now)
        if shorter:
            return f"{reason}; with {wanted.assurance:.6g}, {in_words(shorter)} can be promised"
        return f"{reason}; with {wanted.assurance:.6g} no lifetime can be promised"

    def _longest_promise(self, wanted: Wanted, spare: float, now: int) -> int:
        """Return the longest lifetime that can be promised: in hours, or in steps below an hour; 0 if none can."""
        for unit, most in ((_HOUR, wanted.seconds // _HOUR), (STEP, min(wanted.seconds, _HOUR) // STEP)):
            low, high = 0, most
            while high > low:
                middle = (low + high + 1) // 2
                survey = self._survey(spare, wanted.wait + middle * unit, now)
                if survey.reaches(wanted.assurance, self._confidence):
                    low = middle
                else:
                    high = middle - 1
            if low:
                return low * unit
        return 0

    def _survey(self, spare: float, seconds: int, now: int) -> Survey:
        """Return how often demand exhausted too early the present spare capacity, or that at the peak of bookings.

        :param spare: share of the site that is left for the demand
        """
        until = now + seconds
        found = self._history.survey(spare - self._demand, seconds, now)
        booked, instant = self._booked.peak(self._demand, now, until)
        if booked <= self._demand:
            return found
        then = self._history.survey(spare - booked, until - instant, now, instant)
        # The lease has to survive both. The past includes such bookings, so the worse of the two is enough.
        return max(found, then, key=lambda each: each.missed / each.observations if each.observations else 1.0)

    # -- observation ---------------------------------------------------------------------------------------

    def coverage(self) -> Mapping[str, Coverage]:
        """See ``AssurancePolicy.coverage``."""
        return {"demand": self._history.coverage}

    def pass_to(self, now: int) -> None:
        """See ``AssurancePolicy.pass_to``. Time in which the demand does not change counts as well."""
        if self._history.has_begun:
            self._history.pass_to(now)
        else:
            self._history.demand(now, self._demand)

    def follow(self, site: Site) -> None:
        """See ``AssurancePolicy.follow``."""
        if site is self._site:
            return
        self._site = site
        self._capacity, _ = capacity_of(site)
        self._threats = {key: (request, self._share(request)) for key, (request, _) in self._threats.items()}
        self._demand = sum(share for _, share in self._threats.values())
        self._book(self._planned.values())

    def take_over(self, leases: Iterable[Lease], now: int) -> None:
        """See ``AssurancePolicy.take_over``."""
        self._threats = {}
        self._record.forget_live()
        leases = list(leases)
        for lease in leases:
            if _threatens(lease):
                self._threats[lease.lease_id] = lease.request, self._share(lease.request)
            self._record.follow(lease, self._share(lease.request))
        self._demand = sum(share for _, share in self._threats.values())
        self._planned = {}
        self._book([lease for lease in leases if not lease.is_final and may_threaten(lease.request)])
        self._history.resume(now, self._demand)
        if self._guests.is_wanted and self._site is not None:
            self._guests.take_over(using(leases, self._site.hosts), now)

    def observe(self, outcome: Outcome, lease: Lease, before: Lease | None, now: int) -> None:
        """See ``Policy.observe``."""
        if self._guests.is_wanted and self._site is not None:
            self._guests.follow(lease.lease_id, hosts_of(lease, self._site.hosts), now)
        if outcome is Outcome.BROKEN:
            self._record.broken(lease, now)
        elif lease.grant.assured is not None:
            self._record.follow(lease, self._share(lease.request))
        if may_threaten(lease.request):
            self._follow_plan(lease)
        known = self._threats.get(lease.lease_id)
        if _threatens(lease):
            if known is not None and known[0] is lease.request:
                return
            share = self._share(lease.request)
            self._threats[lease.lease_id] = lease.request, share
            self._demand += share - (0.0 if known is None else known[1])
        elif known is not None:
            del self._threats[lease.lease_id]
            self._demand = self._demand - known[1] if self._threats else 0.0
        else:
            share = self._share(lease.request) if outcome is Outcome.REFUSED else 2.0
            if share <= 1.0 and may_threaten(lease.request):
                self._history.refused(now, share)
            return
        self._history.demand(now, self._demand)

    def _book(self, leases: Iterable[Lease]) -> None:
        """Replace everything booked by what is planned for these leases."""
        leases = list(leases)
        self._booked.clear()
        self._planned.clear()
        for lease in leases:
            self._follow_plan(lease)

    def _follow_plan(self, lease: Lease) -> None:
        if lease.is_final or not lease.holdings:
            self._planned.pop(lease.lease_id, None)
            self._booked.remove(lease.lease_id)
        elif self._planned.get(lease.lease_id) is not lease:
            self._planned[lease.lease_id] = lease
            self._booked.put(lease, self._share(lease.request))

    def _share(self, request: LeaseRequest) -> float:
        """Return the largest share that a lease takes of any resource class of the site."""
        return share_of(request, self._capacity)

    # -- storage -------------------------------------------------------------------------------------------

    def take_changes(self) -> Mapping[str, Learnt | None]:
        """See ``Policy.take_changes``."""
        history = self._history
        found: dict[str, Learnt | None] = {f"{_DAY}{day}": history.stored_day(day) for day in history.changed}
        if found:
            found[_LOAD] = history.stored_rest()
        history.changed.clear()
        if self._record.has_changed:
            found[_PROMISES] = self._record.stored()
        return {**found, **self._guests.take_changes()}

    def restore(self, learnt: Mapping[str, Learnt]) -> None:
        """See ``Policy.restore``. What is damaged, or written by another version, is not used."""
        names = (subject for subject in learnt if subject.startswith(_DAY) and subject[len(_DAY) :].isdecimal())
        days = {int(name[len(_DAY) :]): learnt[name] for name in names}
        try:
            self._history.restore(days, learnt.get(_LOAD))
        except (InvalidValueError, KeyError, TypeError, ValueError, AttributeError):
            self._history.restore({}, None)
        self._record.restore(learnt.get(_PROMISES))
        self._guests.restore(learnt)


def may_threaten(request: LeaseRequest) -> bool:
    """Return whether other leases may be preempted for one with these terms."""
    return bool(request.nodes) and (not request.preemptible or request.kind.is_preemptor)


def _threatens(lease: Lease) -> bool:
    return lease.active_since is not None and not lease.is_final and may_threaten(lease.request)
