"""Metrics of the state of a site, which is looked up when metrics are requested."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.occupation import occupation
from lease_scheduler.model.power import PowerState, Watts
from lease_scheduler.model.progress import stretch
from lease_scheduler.model.resources import FLOATING_IP
from lease_scheduler.model.states import QUEUED_STATES
from lease_scheduler.policy.queueing.report import FlowReport
from lease_scheduler.prediction.coverage import Covered
from lease_scheduler.records.documents import LeaseDocument
from lease_scheduler.records.intents import Intent
from lease_scheduler.records.pool import FloatingIpRecord, HostRecord
from lease_scheduler.service.core.metrics.labels import LOCAL, ORIGIN

_Labels = TypeVar("_Labels", bound=tuple[str, ...])


@dataclass(frozen=True)
class Observation:
    """The state of a site at an instant, as values that do not change.

    :ivar leases: live leases
    :ivar documents: their documents, by lease id
    :ivar orders: intents that the cloud has not carried out yet
    :ivar flows: flows among which each pool is shared
    :ivar pools: names of the pools; only None if the site has only one
    :ivar price_rates: money per node and hour at which leases are offered, for pools whose leases have prices
    :ivar forecasts: how often forecasts came true, by pool and name
    :ivar watts: power that hosts take, unless their properties say something else
    """

    now: int
    leases: tuple[Lease, ...]
    documents: Mapping[str, LeaseDocument]
    orders: tuple[Intent, ...]
    hosts: tuple[HostRecord, ...]
    floating_ips: tuple[FloatingIpRecord, ...]
    site: Site
    pools: tuple[str | None, ...]
    price_rates: Mapping[str | None, float]
    flows: Mapping[str | None, Sequence[FlowReport]] = field(default_factory=dict)
    watts: Watts = field(default_factory=Watts)
    forecasts: Mapping[str | None, Mapping[str, Covered]] = field(default_factory=dict)

    def of_pool(self, pool: str) -> Observation:
        """Return the part of the state that belongs to a pool.

        It has no orders: their leases may have ended, so their pools are not known.
        """
        leases = tuple(lease for lease in self.leases if lease.request.pool == pool)
        return replace(
            self,
            leases=leases,
            orders=(),
            hosts=tuple(host for host in self.hosts if host.pool == pool),
            floating_ips=tuple(address for address in self.floating_ips if address.pool == pool),
            pools=(pool,),
            price_rates={pool: self.price_rates[pool]} if pool in self.price_rates else {},
            flows={pool: self.flows.get(pool, ())},
            forecasts={pool: self.forecasts.get(pool, {})},
        )


class StateMetrics(Collector):
    """Gauges of the site while this engine leads. At other times there are none.

    :param per_project: whether there are also gauges for each project
    """

    def __init__(self, *, per_project: bool = False) -> None:
        self._per_project = per_project
        self._amounts = _Amounts()
        #: Returns the present state, or None if it is not known. Set while this engine leads.
        self.look: Callable[[], Observation | None] = lambda: None

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges."""
        seen = self.look()
        if seen is None:
            return
        held = self._amounts.held(seen)
        if None in seen.pools:
            yield from self._gauges(seen, held)
            return
        of_pools = {pool: self._gauges(seen.of_pool(pool), held) for pool in seen.pools if pool is not None}
        yield from _by_pool(of_pools)
        yield from _orders(seen.orders, seen.now)

    def _gauges(self, seen: Observation, held: Mapping[str, Mapping[str, int]]) -> Iterator[Metric]:
        """Yield the gauges of a site or of one of its pools."""
        yield from _leases(seen.leases)
        yield from _resources(seen, held)
        yield from _hosts(seen.hosts)
        yield from _powers(seen)
        yield from _fluid(seen)
        if None in seen.pools:
            yield from _orders(seen.orders, seen.now)
        for rate in seen.price_rates.values():
            yield GaugeMetricFamily(
                "lease_scheduler_price_rate",
                "Money per node and hour at which leases are offered to an unknown project",
                rate,
            )
        for covered in seen.forecasts.values():
            yield from _forecasts(covered)
        if self._per_project:
            yield from _projects(seen, held)
            yield from _flows([flow for flows in seen.flows.values() for flow in flows])


class _Amounts:
    """Cache of the amounts that leases hold. They are computed again only if request, holding or site have changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[LeaseRequest, Holding, Site, Mapping[str, int]]] = {}

    def held(self, seen: Observation) -> dict[str, Mapping[str, int]]:
        """Return lease id -> resource class -> amount, for leases that hold something at the instant."""
        known = {}
        for lease in seen.leases:
            first = lease.holdings[0] if lease.holdings else None
            if first is not None and (lease.active_since is not None or first.start <= seen.now < first.end):
                before = self._known.get(lease.lease_id)
                # Compare identities: to compare values would take as long as to compute the amounts.
                if before is None or any(
                    a is not b for a, b in zip(before, (lease.request, first, seen.site), strict=False)
                ):
                    before = (lease.request, first, seen.site, _occupied(lease.request, first, seen.site))
                known[lease.lease_id] = before
        self._known = known
        return {lease_id: entry[3] for lease_id, entry in known.items()}


def _occupied(request: LeaseRequest, reservation: Holding, site: Site) -> dict[str, int]:
    nodes = [(node_set.count, node_set.needs) for node_set in request.nodes]
    return occupation(nodes, [site.hosts[number].whole_capacity for number in reservation.assignment])[1]


def _leases(leases: Iterable[Lease]) -> Iterator[Metric]:
    found = Counter((lease.kind.value, lease.state.value, lease.request.origin or LOCAL) for lease in leases)
    yield _labelled("lease_scheduler_leases", "Leases that are not over", ["kind", "state", ORIGIN], found)
    queue = sum(lease.state in QUEUED_STATES for lease in leases)
    yield GaugeMetricFamily("lease_scheduler_queue_length", "Leases that wait in the queue for their turn", queue)


def _resources(seen: Observation, held_by: Mapping[str, Mapping[str, int]]) -> Iterator[Metric]:
    capacity, in_service = Counter[str](), Counter[str]()
    for host in seen.hosts:
        if host.reservable:
            capacity.update(host.whole_capacity)
            if host.out_until is None:
                in_service.update(host.whole_capacity)
    addresses = sum(address.reservable for address in seen.floating_ips)
    if addresses:
        capacity[FLOATING_IP] = in_service[FLOATING_IP] = addresses
    held, in_use = Counter[str](), Counter[str]()
    for lease in seen.leases:
        amounts = held_by.get(lease.lease_id, {})
        held.update(amounts)
        if lease.active_since is not None:
            in_use.update(amounts)
    classes = sorted({*capacity, *held})
    yield _by_class("capacity", "Capacity of all hosts that leases may use", classes, capacity)
    yield _by_class("held", "What leases hold at present", classes, held)
    yield _by_class("in_use", "What running leases hold at present", classes, in_use)
    free = {name: max(0, in_service[name] - held[name]) for name in classes}
    yield _by_class("free", "Capacity of the hosts in service that no lease holds", classes, free)
    shares = {name: in_use[name] / capacity[name] for name in classes if capacity[name]}
    yield _by_class("utilization_ratio", "Share of the capacity that running leases hold", sorted(shares), shares)


def _by_pool(of_pools: Mapping[str, Iterable[Metric]]) -> Iterable[Metric]:
    """Merge the gauges of pools into gauges with the label ``pool``, and return them."""
    found: dict[str, Metric] = {}
    for pool, gauges in of_pools.items():
        for gauge in gauges:
            whole = found.setdefault(gauge.name, Metric(gauge.name, gauge.documentation, gauge.type))
            for sample in gauge.samples:
                whole.add_sample(sample.name, {**sample.labels, "pool": pool}, sample.value)
    return found.values()


def _by_class(name: str, help_text: str, classes: Iterable[str], values: Mapping[str, float]) -> Metric:
    amounts = {(resource_class,): values[resource_class] for resource_class in classes}
    return _labelled(f"lease_scheduler_resource_{name}", help_text, ["resource_class"], amounts)


def _hosts(hosts: Iterable[HostRecord]) -> Iterator[Metric]:
    found = {("in_service",): 0, ("out_of_service",): 0, ("not_reservable",): 0}
    for host in hosts:
        where = "out_of_service" if host.out_until is not None else "in_service"
        found[where if host.reservable else "not_reservable",] += 1
    yield _labelled("lease_scheduler_hosts", "Compute hosts of the pool", ["status"], found)


def _forecasts(found: Mapping[str, Covered]) -> Iterator[Metric]:
    told = (
        ("lease_scheduler_forecasts_judged", "Forecasts of which it is known whether they held", "count"),
        ("lease_scheduler_forecast_held_ratio", "Share of the judged forecasts that held", "held"),
        ("lease_scheduler_forecast_asked_ratio", "Share of the judged forecasts that should have held", "asked"),
        ("lease_scheduler_forecast_since_timestamp_seconds", "When the first of them was judged", "since"),
    )
    for name, help_text, of in told:
        values = {(forecast,): value for forecast, each in found.items() if (value := getattr(each, of)) is not None}
        yield _labelled(name, help_text, ["forecast"], values)


def _powers(seen: Observation) -> Iterator[Metric]:
    known = [(host, host.power) for host in seen.hosts if host.power is not None]
    states = Counter((power.state.value,) for _, power in known)
    states["awake",] += len(seen.hosts) - len(known)
    found = {(state.value,): states[state.value,] for state in PowerState}
    yield _labelled("lease_scheduler_host_powers", "Compute hosts of the pool, awake or asleep", ["state"], found)
    saved = sum(seen.watts.of(host.properties).saved_wh(power.seconds_asleep(seen.now)) for host, power in known)
    yield GaugeMetricFamily(
        "lease_scheduler_energy_saved_joules", "Energy that hosts of the pool have saved by sleeping", 3600 * saved
    )


def _orders(orders: Iterable[Intent], now: int) -> Iterator[Metric]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for order in orders:
        if order.operation is None:
            found["discard"].append(now)
        else:
            found[order.operation.kind.value].append(order.operation.begun)
    counts = {(kind,): len(begun) for kind, begun in found.items()}
    yield _labelled("lease_scheduler_orders", "Orders that the cloud has not carried out yet", ["kind"], counts)
    ages = {(kind,): max(0, now - min(begun)) for kind, begun in found.items() if kind != "discard"}
    yield _labelled("lease_scheduler_order_oldest_age_seconds", "Age of the oldest of them", ["kind"], ages)


def _fluid(seen: Observation) -> Iterator[Metric]:
    """Yield gauges of how fluid leases share CPU, or nothing while none runs."""
    running = [lease for lease in seen.leases if lease.progress is not None and lease.active_since is not None]
    yields, stretches = [], []
    for lease in running:
        assert lease.progress is not None
        yields.append(lease.progress.part)
        so_far = stretch(lease.request.submitted, seen.now, lease.progress.virtual_at(seen.now))
        if so_far is not None:
            stretches.append(so_far)
    if not running:
        return
    yield GaugeMetricFamily("lease_scheduler_fluid_leases", "Fluid leases that run", len(running))
    parts = {("least",): min(yields), ("mean",): sum(yields) / len(yields)}
    yield _labelled("lease_scheduler_fluid_yield", "Part of their VCPU that they get", ["statistic"], parts)
    if stretches:
        yield GaugeMetricFamily(
            "lease_scheduler_fluid_stretch",
            "How much longer they have taken than with all their VCPU, at most",
            max(stretches),
        )


def _projects(seen: Observation, held_by: Mapping[str, Mapping[str, int]]) -> Iterator[Metric]:
    leases = Counter[tuple[str, str, str]]()
    held, in_use = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for lease in seen.leases:
        project_id = seen.documents[lease.lease_id].project_id
        leases[project_id, lease.kind.value, lease.request.origin or LOCAL] += 1
        for name, amount in held_by.get(lease.lease_id, {}).items():
            held[project_id, name] += amount
            if lease.active_since is not None:
                in_use[project_id, name] += amount
    yield _labelled(
        "lease_scheduler_project_leases",
        "Leases of a project that are not over",
        ["project_id", "kind", ORIGIN],
        leases,
    )
    yield _labelled(
        "lease_scheduler_project_resource_held",
        "What leases of a project hold at present",
        ["project_id", "resource_class"],
        held,
    )
    yield _labelled(
        "lease_scheduler_project_resource_in_use",
        "What running leases of a project hold at present",
        ["project_id", "resource_class"],
        in_use,
    )


def _flows(flows: Iterable[FlowReport]) -> Iterator[Metric]:
    values: dict[str, tuple[str, Callable[[FlowReport], float]]] = {
        "weight": ("Weight of a flow among which the site is shared", lambda flow: flow.weight),
        "share_ratio": ("Share of the site that a flow is to have now", lambda flow: flow.share),
        "owed_host_seconds": (
            "Host-seconds by which a flow is behind the one that is ahead of all others",
            lambda flow: flow.behind,
        ),
        "queued_leases": ("Queued leases of a flow", lambda flow: flow.queued),
    }
    found = list(flows)
    for name, (help_text, value) in values.items():
        yield _labelled(
            f"lease_scheduler_flow_{name}", help_text, ["flow"], {(flow.name,): value(flow) for flow in found}
        )


def _labelled(name: str, help_text: str, labels: list[str], values: Mapping[_Labels, float]) -> Metric:
    family = GaugeMetricFamily(name, help_text, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family
