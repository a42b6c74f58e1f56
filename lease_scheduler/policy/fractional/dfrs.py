"""On-line algorithms decide where fluid leases run, and which are paused or moved (Stillwell 2010, section 5.2)."""

from __future__ import annotations

import logging

import numpy as np

from lease_scheduler.fractional.arrays import Floats
from lease_scheduler.fractional.online.decide import decide, rules_of
from lease_scheduler.fractional.online.decisions import Jobs
from lease_scheduler.fractional.online.fluid import average_scaled_yields, fair_scaled_yields
from lease_scheduler.fractional.online.names import Algorithm, Periodic, Sharing, parse
from lease_scheduler.fractional.online.system import add_up, new_system
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.fractional.base import FluidLeases, FluidNodes, FractionalPolicy, Occasion

LOG = logging.getLogger(__name__)

#: The best algorithm of table 5.2, and the period of all of them.
_BEST, _PERIOD = "GreedyPM*/per/OPT=MIN/MVT=600", 600


class Dfrs(FractionalPolicy):
    """An on-line algorithm by its name; option ``fractional_algorithm``, and ``fractional_period`` in seconds.

    :raises InvalidValueError: there is no such algorithm, or it is for simulations only
    """

    places = True

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._algorithm = _algorithm(options.get("fractional_algorithm", _BEST))
        period = options.integer("fractional_period", _PERIOD)
        if period < 1:
            raise InvalidValueError("policy option fractional_period", f"must be at least 1 s, not {period}")
        self.period = None if self._algorithm.periodic is Periodic.NOTHING else period
        self.horizon = period
        self._rules = rules_of(self._algorithm, period)
        # What has to be compiled is compiled now, not while leases wait.
        self.hosts(_no_leases(), Occasion(0, 0, False, False))

    def scaled_yields(self, nodes: FluidNodes) -> Floats:
        """See ``FractionalPolicy.scaled_yields``."""
        given = nodes.free, nodes.hosts, nodes.leases, nodes.needs, nodes.count
        if self._algorithm.sharing is Sharing.AVERAGE:
            try:
                return average_scaled_yields(*given)
            except ArithmeticError as error:
                # Leases must keep running, so they share fairly instead.
                LOG.warning("fluid leases share CPU fairly until the next change: %s", error)
        return fair_scaled_yields(*given)

    def hosts(self, leases: FluidLeases, occasion: Occasion) -> list[list[int] | None]:
        """See ``FractionalPolicy.hosts``."""
        jobs = Jobs(leases.cpu, leases.memory, leases.first)
        system = new_system(jobs, leases.release, leases.others_load, leases.others_held)
        system.virtual[:] = leases.virtual
        system.place[:] = leases.hosts
        system.is_running[:] = leases.is_running
        system.stays[:] = leases.stays
        present = np.arange(len(leases.release))
        add_up(system, present)
        now, submitted, has_ended, is_period = occasion
        decide(self._rules, system, float(now), present, submitted, has_ended, is_period)
        nodes, first = system.place.tolist(), leases.first.tolist()
        return [
            nodes[first[number] : first[number + 1]] if runs else None
            for number, runs in enumerate(system.is_running.tolist())
        ]


def _no_leases() -> FluidLeases:
    none, tasks, flags = np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.bool_)
    first = np.zeros(1, np.int64)
    return FluidLeases(none, none, first, none, none, tasks, flags, flags, np.zeros(1), np.zeros(1))


def _algorithm(name: str) -> Algorithm:
    try:
        algorithm = parse(name)
    except InvalidValueError as error:
        raise InvalidValueError("policy option fractional_algorithm", error.problem) from None
    if algorithm.periodic is Periodic.STRETCH:
        raise InvalidValueError(
            "policy option fractional_algorithm",
            f"{name} is for simulations only, because leases do not carry the stretch that it aims at; take one with"
            f" /per in place of /stretch-per, such as {_BEST}",
        )
    return algorithm
