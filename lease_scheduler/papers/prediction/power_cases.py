"""The runs of chapter 3 of Pucher 2016: registration, production traces, and planning of capacity."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from lease_scheduler.papers.prediction import requests
from lease_scheduler.papers.prediction.power_cloud import PowerCloud, PowerResult, PowerSettings
from lease_scheduler.papers.prediction.requests import DAY, TRACES, Request
from lease_scheduler.papers.replications import block_name
from lease_scheduler.prediction.hot_spare import Burst, SpareRules

#: Law -> generator, and length of the registration in seconds.
LAWS: Mapping[str, tuple[Callable[[int], list[Request]], int]] = MappingProxyType(
    {"exponential": (requests.exponential, 36_305), "log-normal": (requests.log_normal, 35_646)}
)
REGISTRATION_SEEDS = range(50)
#: The registration cluster: nodes and cores of each.
_REGISTRATION = (6, 4)
#: Seconds that a node of the registration cluster takes to wake; the dissertation does not say.
_WAKE = 120
#: The same for planning (sections 3.4.3 and 3.4.4).
_LONG_WAKE = 600
_PRODUCTION_EPOCH = 1000

#: The trace that is cut down (figures 3.3 and 3.4): constant load on 31 nodes.
CUT_DOWN = "DS6"
MOST_REMOVED = 12

SWEEP_NODES = (3, 4, 5, 7, 9, 12, 15, 19)
SWEEP_MU = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
#: Least share of the requests that a cell of the sweep must accept, and least share that must not wait.
ACCEPTANCE, RESPONSIVENESS = 0.99, 0.95


@dataclass(frozen=True)
class RegistrationCase:
    """Registration: generated requests on six nodes of four cores.

    :ivar law: a key of ``LAWS``
    :ivar saves_power: whether nodes are put to sleep
    :ivar seed: seed of the requests
    """

    law: str
    saves_power: bool
    seed: int
    cost_s: ClassVar[float] = 0.02

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"registration {self.law} {'asleep' if self.saves_power else 'awake'} seed={self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        generate, end = LAWS[self.law]
        rules = SpareRules(burst=Burst.NET, active_only=False)
        settings = PowerSettings(rules, 300, _WAKE) if self.saves_power else None
        return _figures(PowerCloud(*_REGISTRATION, settings).run(generate(self.seed), end))


@dataclass(frozen=True)
class ProductionCase:
    """A recorded cloud.

    :ivar trace: a key of ``TRACES``
    :ivar saves_power: whether nodes are put to sleep
    :ivar removed: number of recorded nodes that are taken away
    :ivar wake_seconds: seconds that a node takes to wake
    :ivar detects_changes: whether the history of bursts is cut where they change, as the service does
    """

    trace: str
    saves_power: bool
    removed: int = 0
    wake_seconds: int = _WAKE
    detects_changes: bool = False
    cost_s: ClassVar[float] = 0.3

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        how = f"asleep wake={self.wake_seconds}" if self.saves_power else "awake"
        return f"{self.trace} -{self.removed} {how}{' changes' if self.detects_changes else ''}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        trace = TRACES[self.trace]
        recorded = requests.recorded(self.trace)
        end = max(each.arrival + each.seconds for each in recorded)
        rules = SpareRules(detect_changes=self.detects_changes)
        settings = PowerSettings(rules, _PRODUCTION_EPOCH, self.wake_seconds) if self.saves_power else None
        return _figures(PowerCloud(trace.nodes - self.removed, trace.cores, settings).run(recorded, end))


@dataclass(frozen=True)
class SweepCase:
    """A cell of the capacity sweep, without and with nodes that are put to sleep.

    :ivar nodes: number of nodes of eight cores
    :ivar mu: parameter mu of the log-normal times between arrivals
    :ivar days: length in days
    :ivar seed: seed of the requests
    """

    nodes: int
    mu: float
    days: int = 60
    seed: int = 1
    cost_s: ClassVar[float] = 4.0

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"sweep nodes={self.nodes} mu={self.mu} days={self.days}{block_name(self.seed)}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        asked = requests.sweep(self.seed, self.mu, self.days)
        most = int((1 - ACCEPTANCE) * len(asked))
        rules = SpareRules(burst=Burst.NET)
        found: dict[str, Any] = {"requests": len(asked)}
        for name, settings in (("base", None), ("saving", PowerSettings(rules, _PRODUCTION_EPOCH, _LONG_WAKE))):
            result = PowerCloud(self.nodes, 8, settings).run(asked, self.days * DAY, most)
            if result is None:
                break
            found[f"{name}_efficiency"] = result.efficiency
            found[f"{name}_acceptance"] = result.acceptance
            found[f"{name}_responsiveness"] = result.responsiveness
        return found


def registration(*, seeds: range) -> list[RegistrationCase]:
    """Return the runs of both registrations."""
    return [RegistrationCase(law, saves, seed) for law in LAWS for saves in (False, True) for seed in seeds]


def production() -> list[ProductionCase]:
    """Return the runs of figure 3.2 on production traces, and those with the change points of the service."""
    return [
        case
        for trace in ("DS2", "DS3", "DS5")
        for case in (
            ProductionCase(trace, False),
            ProductionCase(trace, True),
            ProductionCase(trace, True, detects_changes=True),
        )
    ]


def cut_down() -> list[ProductionCase]:
    """Return the runs of figures 3.3 and 3.4."""
    return [
        ProductionCase(CUT_DOWN, saves, removed, _LONG_WAKE)
        for removed in range(MOST_REMOVED + 1)
        for saves in (False, True)
    ]


def sweep(seed: int = 1) -> list[SweepCase]:
    """Return the cells of figure 3.5."""
    return [SweepCase(nodes, mu, seed=seed) for nodes in SWEEP_NODES for mu in SWEEP_MU]


def _figures(result: PowerResult | None) -> dict[str, Any]:
    assert result is not None
    return {
        "acceptance": result.acceptance,
        "responsiveness": result.responsiveness,
        "efficiency": result.efficiency,
        "utilisation": list(result.utilisation),
        "uptime": list(result.uptime),
    }
