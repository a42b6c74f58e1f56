"""The site of the unbalanced scenario: two hosts, seven fluid leases of a node each, and a watch of what they need."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from types import SimpleNamespace
from typing import Any, cast

from lease_scheduler.agent.protocol import CPU_WEIGHT
from lease_scheduler.cloud.facts import LeaseServer, Power
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.engine.relocation_options import RelocationOptions
from lease_scheduler.model.host import Site
from lease_scheduler.model.kinds import LeaseKind, PreemptionMode
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.upkeep.fluid_needs import NeedsWatch
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: A host is 100 CPUs, so a VM may need any per cent of it. Four VMs fill the memory (dfrs F73).
CPUS = 100
_VM = Resources({VCPU: CPUS, MEMORY_MB: 25})


class UnbalancedSite:
    """A real engine with a simulated plan of seven VMs: the first, third, fifth and last are on host 0.

    It is the driver and the source of needs of its watch; ``cpus`` is for subclasses to implement.

    :param names: of the VMs, which are those of their leases
    :param phase: seconds between two measurements
    :param duration: seconds that leases may run
    :param moves: whether VMs are moved
    """

    is_prompt = True

    def __init__(self, names: Sequence[str], phase: int, duration: int, *, moves: bool) -> None:
        node_set = NodeSet(1, _VM).made_fluid(0.01)
        terms: dict[str, Any] = {"min_yield": 0.01, "preemptible": True, "preemption_mode": PreemptionMode.MIGRATE}
        leases = tuple(
            WorkloadLease(LeaseRequest(name, LeaseKind.BEST_EFFORT, (node_set,), 0, duration=duration, **terms))
            for name in names
        )
        settings = RunSettings(
            policies={"fractional": "max-min", "relocation": "even-yields" if moves else "none"},
            engine=EngineOptions(relocation=RelocationOptions(3 * phase, 2, 3 * phase)),
            check_invariants=True,
        )
        host = Resources({VCPU: CPUS, MEMORY_MB: 100})
        self.names = tuple(names)
        self.run = Run(Workload("unbalanced", leases, Site.homogeneous(2, host)), settings)
        self.until(0)
        assert [self.host(name) for name in names] == [0, 1, 0, 1, 0, 1, 0]
        # What the watch needs of a site.
        self.lock = RLock()
        self.options = SimpleNamespace(needs_interval=phase)
        self.records = SimpleNamespace(
            hosts={n: SimpleNamespace(name=each.name, vcpus=CPUS) for n, each in enumerate(self.run.engine.site.hosts)}
        )
        self.engine, self.driver = self.run.engine, self
        self.watch = NeedsWatch(cast(SiteTransactions, self), self, gap=lambda: 3)

    @property
    def work(self) -> Any:
        leases = {lease.lease_id: lease for lease in self.run.engine.live_leases()}
        documents = dict.fromkeys(leases, SimpleNamespace(project_id="project"))
        return SimpleNamespace(leases=leases, documents=documents, now=self.run.clock.now())

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield
        self.run.engine.step()

    @property
    def usage(self) -> Any:
        return self

    def servers_of(self, leases: Collection[Any]) -> Mapping[str, list[LeaseServer]]:
        return {each.lease_id: [LeaseServer(each.lease_id, Power.ON, CPUS)] for each in leases}

    def cpus(self, servers: Collection[str]) -> Mapping[str, float]:
        """Return how many CPUs VMs have used since the last call; those that were not there then are left out."""
        raise NotImplementedError

    def host(self, name: str) -> int:
        """Return the host of a VM."""
        return self.work.leases[name].holdings[0].assignment[0]  # type: ignore[no-any-return]

    def weights(self) -> dict[str, int]:
        """Return the weights of the VMs, as the engine sends them to agents."""
        leases = self.work.leases
        return {name: max(1, round(CPU_WEIGHT * CPUS * leases[name].progress.share)) for name in self.names}

    def until(self, instant: int) -> None:
        """Let the engine do what is due until an instant."""
        run = self.run
        while (event := run.next_instant()) is not None and event <= instant:
            run.clock.set(max(run.clock.now(), event))
            run.step()
        run.clock.set(instant)
