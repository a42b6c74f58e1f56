"""How the leases of a site are planned: by one set of policies, or by one for each pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from oslo_config import cfg

from lease_scheduler.cmd.clouds.loader import configured_cloud
from lease_scheduler.cmd.options.pools import conf_of_pool, host_patterns, naming
from lease_scheduler.cmd.options.service import live_engine_options
from lease_scheduler.cmd.policies import Policies
from lease_scheduler.conf.values import ahead_options, live_planning_options
from lease_scheduler.model.host import Site
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.base import Learnt
from lease_scheduler.service.policies import PoolPlanning, SitePolicies


class SitePlanning:
    """The configured policies of a site and of its pools.

    :param conf: the configuration; read again at each ``replace``
    :raises InvalidValueError: an option is wrong, or a policy does not exist; the error names the pool
    :ivar policies: the policies of a site that has only one pool
    :ivar pools: how the leases of each pool are planned, in the configured order; empty if the site has only one
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        #: By pool, which is empty if the site has only one.
        self._policies = {"": Policies(conf)}
        self.policies = _site_policies(conf, self._policies[""])
        self.pools: dict[str, PoolPlanning] = {}
        for pool in conf.pools.names:
            with naming(pool):
                own = conf_of_pool(conf, pool)
                self._policies[pool] = Policies(own)
                self.pools[pool] = PoolPlanning(
                    _site_policies(own, self._policies[pool]), live_engine_options(own), host_patterns(conf, pool)
                )

    def replace(self, learnt: Mapping[tuple[str, str, str], Mapping[str, Learnt]]) -> None:
        """Replace all policies by those that are configured now.

        :param learnt: what policies have learnt, by (pool, family, name); the new ones continue with it
        :raises InvalidValueError: as for the class
        """
        for pool, policies in self._policies.items():
            policies.replace({(family, name): of for (where, family, name), of in learnt.items() if where == pool})


def _site_policies(conf: cfg.ConfigOpts, policies: Policies) -> SitePolicies:
    return SitePolicies(
        make_planner(conf, policies),
        policies.admission,
        policies.make_pricing,
        policies.penalty,
        policies.power,
        policies.assurance,
        policies.relocation,
        policies.fractional,
    )


def planning_of_site(conf: cfg.ConfigOpts) -> PlanningOptions:
    """Return the options of the planner of a real site on its cloud."""
    options = live_planning_options(conf)
    # Victims must have left a host before the service begins to prepare it for the next lease.
    return replace(options, suspend_buffer=max(options.suspend_buffer, configured_cloud(conf).preparation_time))


def make_planner(conf: cfg.ConfigOpts, policies: Policies) -> Callable[[Site], Planner]:
    """Return a function that makes planners with the configured options."""
    options = planning_of_site(conf)
    deadline_preemption = conf.scheduling.deadline_placement == "deadline"
    transfers = ahead_options(conf)
    return lambda site: Planner(
        site,
        options,
        policies.host_selection,
        policies.preemption,
        deadline_preemption=deadline_preemption,
        transfers=transfers,
        mapper=policies.mapper,
        queueing=policies.queueing,
        duration=policies.duration,
    )
