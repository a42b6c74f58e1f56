"""The objects of the reservation service as resources of openstacksdk. ``doc/source/api`` explains the attributes."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from openstack import resource
from openstack.resource import Body

from lease_scheduler.sdk.base import ReservationResource, raise_refusal


class Lease(ReservationResource):
    """A lease. Dates are texts in ISO 8601, durations are seconds."""

    resource_key = "lease"
    resources_key = "leases"
    base_path = "/leases"
    allow_create = allow_fetch = allow_commit = allow_delete = allow_list = True

    _query_mapping = resource.QueryParameters(
        *("name", "status", "state", "kind", "project_id", "all_projects", "deleted", "series_id", "number", "live"),
        *("pool", "site", "sort_key", "sort_dir"),
    )

    project_id = Body("project_id")
    user_id = Body("user_id")
    trust_id = Body("trust_id")
    series_id = Body("series_id")
    negotiation_id = Body("negotiation_id")
    number = Body("number", type=int)
    #: Name of the peer that requested it, with the party for which it did (``project`` and ``user``), and the names of
    #: those that had passed the request on before; None for a lease of the site itself
    origin = Body("origin")
    on_behalf_of = Body("on_behalf_of", type=dict)
    path = Body("path", type=list)
    #: Name of the pool that its hosts are in; None if the site has only one
    pool = Body("pool")
    description = Body("description")
    extras = Body("extras", type=dict)
    #: reservation, immediate, deadline or best-effort
    kind = Body("kind")
    #: Blazar's status, such as PENDING or ACTIVE
    status = Body("status")
    state = Body("state")
    #: Why it is in this state
    reason = Body("reason")
    start_date = Body("start_date")
    end_date = Body("end_date")
    before_end_date = Body("before_end_date")
    #: Seconds as a number, or a text such as 2h30m in a request
    duration = Body("duration")
    deadline = Body("deadline")
    earliest_start = Body("earliest_start")
    submitted_at = Body("submitted_at")
    started_at = Body("started_at")
    ended_at = Body("ended_at")
    #: Seconds that it has run so far
    accumulated = Body("accumulated", type=int)
    is_preemptible = Body("preemptible", type=bool)
    preemption_mode = Body("preemption_mode")
    #: Seconds for which it is not to be preempted, or a text such as 6h in a request; and the probability of that
    min_lifetime = Body("min_lifetime")
    assurance = Body("assurance", type=float)
    #: Whether it waits until that can be assured
    await_assurance = Body("await_assurance", type=bool)
    #: planned, statistical or broken; None without a promise
    assured = Body("assured")
    #: Number of observations that the promise rests on
    assured_from = Body("assured_from", type=int)
    #: Seconds after which it was already planned to leave its hosts when the promise was made
    planned_lifetime = Body("planned_lifetime")
    #: The promise in words
    promise = Body("promise")
    #: Seconds from its submission within which it was expected to start, with 95 %, when it was queued
    expected_wait = Body("expected_wait", type=int)
    #: Number of waits that this rests on
    expected_wait_from = Body("expected_wait_from", type=int)
    #: By when it is expected to start, in words; None if it does not wait, or too little is known
    expectation = Body("expectation")
    #: Part of its VCPU that a fluid lease gets at least
    min_yield = Body("min_yield", type=float)
    #: Part that it gets now; seconds that its work would have taken with all of them; how many times longer it took
    current_yield = Body("yield", type=float)
    virtual_time = Body("virtual_time", type=float)
    stretch = Body("stretch", type=float)
    #: When it is to be preempted, which makes its end the earliest one; None if it is to run until its end
    preempted_at = Body("preempted_at")
    #: Latest end, its deadline if nothing else is known; None if nothing is known
    latest_end = Body("latest_end")
    is_degraded = Body("degraded", type=bool)
    #: Behind a gateway, the site that has granted it, its id and project there, and whether that site does not answer
    #: at present
    site = Body("site")
    site_lease_id = Body("site_lease_id")
    site_project_id = Body("site_project_id")
    is_unreachable = Body("unreachable", type=bool)
    is_maintenance = Body("maintenance", type=bool)
    on_end = Body("on_end")
    #: Short form of reservations in a request: count, vcpus, memory_mb and more
    nodes = Body("nodes", type=list, list_type=dict)
    reservations = Body("reservations", type=list, list_type=dict)
    servers = Body("servers", type=list, list_type=dict)
    events = Body("events", type=list, list_type=dict)
    holdings = Body("holdings", type=list, list_type=dict)
    price = Body("price")
    max_price = Body("max_price")
    #: Since when its servers have used nothing, as far as the service knows
    idle_since = Body("idle_since")
    #: awaiting, approved, declined, expired or withdrawn; None if it needs no approval
    approval = Body("approval")
    #: Until when a held lease can be accepted or approved
    expires_at = Body("expires_at")
    penalties = Body("penalties")
    breaches = Body("breaches", type=list, list_type=dict)
    #: A change that sends it is refused if the lease has changed since
    version = Body("version", type=int)

    def act(self, session: Any, action: str, **terms: Any) -> Lease:
        """Perform an action, and take over the state of the lease after it.

        :param action: extend, shrink, move, end, cancel, accept, reject, counter, approve or decline
        :param terms: arguments of the action
        :raises openstack.exceptions.HttpException: the service refuses it
        """
        self._translate_response(self._ask(session, "POST", "action", {action: terms}))
        return self

    def fetch_quote(self, session: Any, **change: Any) -> ChangeQuote:
        """Ask what a change would come to.

        :param change: one of change, extend, shrink, with its arguments
        """
        found = ChangeQuote()
        found._translate_response(self._ask(session, "POST", "quote", change))
        return found

    def fetch_history(self, session: Any) -> list[dict[str, str]]:
        """Return what has happened, oldest first: dictionaries with time, from, to and reason.

        From microversion 1.37 on, also user_id, project_id and by_operator.
        """
        return list(self._ask(session, "GET", "history").json()["history"])

    def fetch_hosts(self, session: Any) -> list[dict[str, str]]:
        """Return where it runs: dictionaries with hypervisor_hostname and reservation_id."""
        return list(self._ask(session, "GET", "hosts").json()["hosts"])

    def _ask(self, session: Any, method: str, part: str, body: dict[str, Any] | None = None) -> Any:
        version = self._get_microversion(session)
        path = f"{self.base_path}/{quote(self.id, safe='')}/{part}"
        answer = session.request(path, method, json=body, microversion=version)
        raise_refusal(answer)
        return answer


class Quote(ReservationResource):
    """What a lease would come to. With ``hold=True`` it is kept until it is accepted, rejected or expired."""

    resource_key = "quote"
    base_path = "/quotes"
    allow_create = True
    #: The terms in the request are those of leases.
    _allow_unknown_attrs_in_body = True

    is_granted = Body("granted", type=bool)
    reason = Body("reason")
    #: The reason in a word, for programs; None if it is granted
    reason_code = Body("reason_code")
    start = Body("start")
    end = Body("end")
    hosts = Body("hosts", type=list)
    preempts = Body("preempts", type=list)
    #: Number of leases that it would preempt, of all projects
    preempted = Body("preempted", type=int)
    preempted_kinds = Body("preempted_kinds", type=list)
    alternatives = Body("alternatives", type=list, list_type=dict)
    queue_position = Body("queue_position", type=int)
    price = Body("price")
    #: What would be left of the budgets of the project, as ``Budget`` has it; None if the site has none
    budget = Body("budget", type=list, list_type=dict)
    pool = Body("pool")
    #: Behind a gateway, the site that would grant it, and the sites that did not answer
    site = Body("site")
    unanswered = Body("unanswered", type=list)
    #: Why the lease would have to be approved; None if it need not
    approval = Body("approval")
    #: What the lease would be promised, in words
    promise = Body("promise")
    #: When the lease would be preempted, which makes its end the earliest one; None if it would run until its end
    preempted_at = Body("preempted_at")
    #: Latest end, its deadline if nothing else is known; None if nothing is known
    latest_end = Body("latest_end")
    lease_id = Body("lease_id")
    expires_at = Body("expires_at")
    negotiation_id = Body("negotiation_id")
    counter_offers = Body("counter_offers", type=list, list_type=dict)
    #: Node sets that would be granted: ``count`` and ``resources`` of each
    nodes = Body("nodes", type=list, list_type=dict)


class ChangeQuote(ReservationResource):
    """What a change of a lease would come to."""

    resource_key = "quote"

    is_granted = Body("granted", type=bool)
    reason = Body("reason")
    #: The reason in a word, for programs; None if it is granted
    reason_code = Body("reason_code")
    start = Body("start")
    end = Body("end")
    preempted = Body("preempted", type=int)
    preempted_kinds = Body("preempted_kinds", type=list)
    alternatives = Body("alternatives", type=list, list_type=dict)
    price = Body("price")
    present_price = Body("present_price")
    #: What would be left of the budgets of the project, as ``Budget`` has it; None if the site has none
    budget = Body("budget", type=list, list_type=dict)
    preempted_at = Body("preempted_at")
    latest_end = Body("latest_end")
    #: Node sets that the lease would have: ``count`` and ``resources`` of each
    nodes = Body("nodes", type=list, list_type=dict)


class Series(ReservationResource):
    """Leases that repeat by an iCalendar rule."""

    resource_key = "series"
    resources_key = "series"
    base_path = "/series"
    allow_create = allow_fetch = allow_delete = allow_list = True

    project_id = Body("project_id")
    user_id = Body("user_id")
    rule = Body("rule")
    #: IANA name of the time zone whose clocks it follows, such as Europe/Berlin; None for UTC
    time_zone = Body("time_zone")
    #: Terms of the first lease, in a request
    lease = Body("lease", type=dict)
    #: Ids of its leases
    leases = Body("leases", type=list)
    #: Occurrences that were refused, after creation: dictionaries with start and message
    refused = Body("refused", type=list, list_type=dict)


class Subscription(ReservationResource):
    """A subscription to notifications about leases."""

    resource_key = "subscription"
    resources_key = "subscriptions"
    base_path = "/subscriptions"
    allow_create = allow_fetch = allow_commit = allow_delete = allow_list = True

    _query_mapping = resource.QueryParameters("all_projects", "project_id", include_pagination_defaults=False)

    project_id = Body("project_id")
    user_id = Body("user_id")
    #: webhook or mail
    driver = Body("driver")
    target = Body("target")
    event_types = Body("event_types", type=list)
    lease_id = Body("lease_id")
    #: Key of the signatures; only the answer to the creation has it
    secret = Body("secret")
    waiting = Body("waiting", type=int)
    failed_attempts = Body("failed_attempts", type=int)
    next_attempt_at = Body("next_attempt_at")
    delivered_at = Body("delivered_at")
    last_error = Body("last_error")


class Feed(ReservationResource):
    """A secret address at which calendar programs read the leases of a project."""

    resource_key = "feed"
    resources_key = "feeds"
    base_path = "/feeds"
    allow_create = allow_fetch = allow_delete = allow_list = True

    _query_mapping = resource.QueryParameters("all_projects", "project_id", include_pagination_defaults=False)

    project_id = Body("project_id")
    user_id = Body("user_id")
    #: The address; only the answer to the creation has it
    url = Body("url")


class Host(ReservationResource):
    """A host of the pool. Its capabilities are attributes too: ``host["gpu"]``."""

    resource_key = "host"
    resources_key = "hosts"
    base_path = "/os-hosts"
    allow_create = allow_fetch = allow_commit = allow_delete = allow_list = True
    _allow_unknown_attrs_in_body = True

    hypervisor_hostname = Body("hypervisor_hostname")
    hypervisor_type = Body("hypervisor_type")
    hypervisor_version = Body("hypervisor_version", type=int)
    service_name = Body("service_name")
    availability_zone = Body("availability_zone")
    vcpus = Body("vcpus", type=int)
    memory_mb = Body("memory_mb", type=int)
    local_gb = Body("local_gb", type=int)
    cpu_info = Body("cpu_info")
    #: Blazar's, always None
    status = Body("status")
    trust_id = Body("trust_id")
    is_reservable = Body("reservable", type=bool)
    #: What leases may use of the host itself, by resource class, and its traits
    resources = Body("resources", type=dict)
    traits = Body("traits", type=list)
    #: Its nested resource providers, such as GPUs, with ``name``, ``resources`` and ``traits``
    providers = Body("providers", type=list, list_type=dict)
    pool = Body("pool")
    #: State of the power, since when, and the energy saved by sleeping, in watt-hours.
    power_state = Body("power_state")
    power_since = Body("power_since")
    energy_saved_wh = Body("energy_saved_wh")


class Pool(ReservationResource):
    """A pool of hosts that the project may use; it has only a name."""

    resource_key = "pool"
    resources_key = "pools"
    base_path = "/pools"
    allow_list = True

    _query_mapping = resource.QueryParameters(include_pagination_defaults=False)


class Site(ReservationResource):
    """A site behind a gateway."""

    resource_key = "site"
    resources_key = "sites"
    base_path = "/sites"
    allow_fetch = allow_list = True

    _query_mapping = resource.QueryParameters(include_pagination_defaults=False)

    name = Body("name", alternate_id=True)
    #: answering, failing, paused or unknown
    state = Body("state")
    last_answer_at = Body("last_answer_at")
    #: Since when it does not answer; None if it does
    unreachable_since = Body("unreachable_since")
    #: Number of live leases there: those of the project or, for users who may list hosts, all
    leases = Body("leases", type=int)
    #: What the site says of itself, as in ``SiteDescription``
    verbs = Body("verbs", type=list)
    speed = Body("speed", type=float)
    capacity = Body("capacity", type=dict)
    load = Body("load", type=dict)


class FloatingIP(ReservationResource):
    """A floating IP address of the pool."""

    resource_key = "floatingip"
    resources_key = "floatingips"
    base_path = "/floatingips"
    allow_create = allow_fetch = allow_delete = allow_list = True

    floating_network_id = Body("floating_network_id")
    subnet_id = Body("subnet_id")
    floating_ip_address = Body("floating_ip_address")
    is_reservable = Body("reservable", type=bool)
    pool = Body("pool")


class Maintenance(Lease):
    """A time during which hosts are kept free of leases. It is a lease of the pool's administrator."""

    resource_key = "maintenance"
    resources_key = "maintenances"
    base_path = "/maintenances"
    allow_fetch = allow_commit = allow_delete = False

    _query_mapping = resource.QueryParameters(include_pagination_defaults=False)

    #: Names or ids of hosts, in a request
    hosts = Body("hosts", type=list)
