"""A run: one site that runs a workload on a clock of its own (haizea F18)."""

from __future__ import annotations

from collections.abc import Sequence

from lease_scheduler.model.host import Site
from lease_scheduler.simulation.clock import SimulatedClock
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.settings import RunSettings
from lease_scheduler.simulation.site_run import SiteRun, Watcher
from lease_scheduler.simulation.workload import Workload
from lease_scheduler.simulation.world import World


class Run(SiteRun):
    """A simulation of one site alone.

    :param workload: the requests
    :param settings: how to run it
    :param site: the hosts; None for those of the workload
    :raises InvalidValueError: there is no site, or a policy is unknown
    """

    def __init__(self, workload: Workload, settings: RunSettings, site: Site | None = None) -> None:
        super().__init__(workload, settings, SimulatedClock(), site)

    def execute(self, watchers: Sequence[Watcher] = ()) -> RunResult:
        """Run to the end.

        :raises RunFailedError: a lease failed, and the settings say to stop at a failure
        """
        name = self.workload.name
        return World({name: self}).execute(watchers).sites[name]
