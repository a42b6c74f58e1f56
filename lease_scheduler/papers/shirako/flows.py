"""Three flows that share a site for a month (Grit 2007, section 5.7, figures 5.5 to 5.11; shirako E6-E12)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from lease_scheduler.policy.queueing.winks.shares import ShareLimit, WhenIdle, WinksOptions
from lease_scheduler.simulation.generators.flows import FlowLoad
from lease_scheduler.simulation.shares.run import SharesRun

HOSTS = 100

#: Ticks of ten minutes in which requests arrive.
TICKS = 4_000
TICKS_PER_DAY = 144

#: Flow -> its share. The second one asks for several hosts at once, from figure 5.7 on.
SHARES = {"50 %": 0.5, "30 %": 0.3, "20 %": 0.2}
FIRST, WIDE, LAST = SHARES

#: Bounds of the queue of a flow in node-ticks, which the dissertation does not give.
SHORT_QUEUE, LONG_QUEUE = 10_000, 40_000

#: Length of the window of figures 5.8 to 5.11.
WINDOW = 200

#: In ticks, for lines of figures.
INTERVAL = 100


@dataclass(frozen=True)
class _Figure:
    """The set-up of a figure.

    :ivar units: bounds of the durations of requests of one host
    :ivar wide: bounds of the durations and of the widths of requests of the second flow; None if these are like others
    :ivar window: window in ticks
    :ivar limit: which requests may not exceed the share of their flow in a window
    :ivar queue: bound of the queues
    :ivar times: when the first flow asks; None for all the time
    :ivar drain: ticks after the end of the arrivals
    :ivar keeps_too_costly: as in ``SharesRun``
    """

    units: tuple[int, int]
    wide: tuple[tuple[int, int], tuple[int, int]] | None = None
    window: int = WINDOW
    limit: ShareLimit = ShareLimit.WIDE
    queue: int = LONG_QUEUE
    times: tuple[tuple[int, int], ...] | None = None
    drain: int = 0
    keeps_too_costly: bool = False


_ALL = (10, 200)
_AS_OTHERS = (_ALL, (4, 64))


def _window(ticks: int) -> _Figure:
    """Return figure 5.9 with another window; requests that cost more than its share stay in the queue."""
    return _Figure(_ALL, _AS_OTHERS, ticks, keeps_too_costly=True)


FIGURES = {
    "5.5": _Figure(_ALL, window=0, queue=SHORT_QUEUE),
    "5.6": _Figure(_ALL, window=0, queue=SHORT_QUEUE, times=((500, 1_000), (2_500, 3_000))),
    "5.7": _Figure(_ALL, _AS_OTHERS, window=0, drain=1_500),
    "5.8": _Figure(_ALL, _AS_OTHERS, limit=ShareLimit.NONE),
    "5.9": _Figure(_ALL, _AS_OTHERS),
    "5.9, w = 50": _window(50),
    "5.9, w = 100": _window(100),
    "5.9, w = 400": _window(400),
    "5.10 (a)": _Figure((5, 100), ((5, 100), (30, 60))),
    "5.10 (b)": _Figure((100, 300), ((5, 100), (30, 60))),
    "5.10 (c)": _Figure((300, 500), ((5, 100), (30, 60))),
    "5.11 (a)": _Figure((100, 300), ((5, 100), (2, 20))),
    "5.11 (b)": _Figure((100, 300), ((5, 100), (2, 50))),
    "5.11 (c)": _Figure((100, 300), ((5, 100), (2, 80))),
}

#: Intervals in ticks whose shares are reported: in figure 5.6, when the first flow does not ask, when it asks for the
#: first and the second time; and the first quarter of the run.
PARTS = {"off": (1_500, 2_400), "on": (650, 1_000), "on again": (2_650, 3_000), "start": (0, 1_000)}


@dataclass(frozen=True)
class FlowsCase:
    """A month of three flows.

    :ivar figure: a key of ``FIGURES``
    :ivar seed: seed of the requests
    """

    figure: str
    seed: int
    cost_s: ClassVar[float] = 0.2

    @property
    def name(self) -> str:
        """See ``campaigns.case.Case``."""
        return f"flows {self.figure} seed {self.seed}"

    def run(self) -> dict[str, Any]:
        """See ``campaigns.case.Case``."""
        setup = FIGURES[self.figure]
        run = SharesRun(
            _loads(setup),
            HOSTS,
            TICKS,
            WinksOptions(setup.window, setup.limit, when_idle=WhenIdle.STRICT),
            bound=setup.queue,
            seed=self.seed,
            drain=setup.drain,
            keeps_too_costly=setup.keeps_too_costly,
        )
        result = run.execute()
        found: dict[str, Any] = {"efficiency": result.efficiency()}
        for name, share in result.shares().items():
            found[f"share {name}"] = share
        for part, bounds in PARTS.items():
            for name, share in result.shares(*bounds).items():
                found[f"{part} {name}"] = share
        for flow in result.flows:
            found[f"wait {flow.name}"] = flow.mean_wait(1_500, TICKS)
            found[f"left {flow.name}"] = flow.queued_cost
        for name, values in result.shares_over_time(INTERVAL).items():
            found[f"over time {name}"] = [round(float(value), 4) for value in values]
        return found


def _loads(setup: _Figure) -> list[FlowLoad]:
    loads = []
    for name, share in SHARES.items():
        if name == WIDE and setup.wide is not None:
            loads.append(FlowLoad(name, share, setup.wide[0], setup.wide[1]))
        else:
            loads.append(FlowLoad(name, share, setup.units, times=setup.times if name == FIRST else None))
    return loads
