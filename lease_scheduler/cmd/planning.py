"""Configured planning of a site: by one set of policies, or by one for each pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from oslo_config import cfg

from lease_scheduler.cmd.clouds.loader import configured_cloud
from lease_scheduler.cmd.options.pools import conf_of_pool, host_patterns, naming
from lease_scheduler.cmd.options.service import live_engine_options
from lease_scheduler.cmd.policies import configured_policies
from lease_scheduler.conf.values import ahead_options, live_planning_options
from lease_scheduler.model.host import Site
from lease_scheduler.plan.interfaces import PlannerPolicies
from lease_scheduler.plan.options import PlanningOptions
from lease_scheduler.plan.planner import Planner
from lease_scheduler.policy.policy_set import PolicySet
from lease_scheduler.service.core.policies import PoolPlanning, SitePolicies


class SitePlanning:
    """The configured policies of a site and of its pools.

    :param conf: configuration, whose present values are read whenever policies are made
    :raises InvalidValueError: an option is wrong, or a policy does not exist; the error names the pool
    :ivar policies: policies of a site that is not divided
    :ivar pools: planning of each pool, in the configured order; empty if the site is not divided
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.policies = SitePolicies(lambda: configured_policies(conf), make_planner(conf))
        self.pools = {pool: _pool_planning(conf, pool) for pool in conf.pools.names}
        self.check()

    def check(self) -> None:
        """Refuse policies that do not exist, and options that they do not accept.

        :raises InvalidValueError: as for the class
        """
        for each in (self.policies, *(pool.policies for pool in self.pools.values())):
            each.make()


def _pool_planning(conf: cfg.ConfigOpts, pool: str) -> PoolPlanning:
    own = conf_of_pool(conf, pool)

    def make() -> PolicySet:
        with naming(pool):
            return configured_policies(own)

    with naming(pool):
        return PoolPlanning(SitePolicies(make, make_planner(own)), live_engine_options(own), host_patterns(conf, pool))


def planning_of_site(conf: cfg.ConfigOpts) -> PlanningOptions:
    """Return the options of the planner of a real site, with the preparation time of its cloud."""
    options = live_planning_options(conf)
    # Victims must leave a host before the service begins to prepare it for the next lease.
    return replace(options, suspend_buffer=max(options.suspend_buffer, configured_cloud(conf).preparation_time))


def make_planner(conf: cfg.ConfigOpts) -> Callable[[Site, PlannerPolicies], Planner]:
    """Return a function that makes planners with the configured options."""
    options = planning_of_site(conf)
    deadline_preemption = conf.scheduling.deadline_placement == "deadline"
    transfers = ahead_options(conf)
    return lambda site, policies: Planner(
        site, options, policies, deadline_preemption=deadline_preemption, transfers=transfers
    )
