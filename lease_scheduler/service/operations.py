"""All operations of a site that requests can ask for."""

from __future__ import annotations

from lease_scheduler.rpc.interface import Methods, methods_of
from lease_scheduler.service.requests.approvals import Approvals
from lease_scheduler.service.requests.budgets import BudgetReport
from lease_scheduler.service.requests.enforcement import Enforcement
from lease_scheduler.service.requests.feeds import FeedKeeper
from lease_scheduler.service.requests.fewer_hosts import FewerHostsReport
from lease_scheduler.service.requests.flows import FlowKeeper
from lease_scheduler.service.requests.forecasts import ForecastReport
from lease_scheduler.service.requests.inspection import Inspection
from lease_scheduler.service.requests.leases import Leases
from lease_scheduler.service.requests.negotiations import Negotiations
from lease_scheduler.service.requests.offers import Offers
from lease_scheduler.service.requests.peers import PeerKeeper
from lease_scheduler.service.requests.pool import PoolKeeper
from lease_scheduler.service.requests.quotes import Quotes
from lease_scheduler.service.requests.series import SeriesKeeper
from lease_scheduler.service.requests.subscriptions import SubscriptionKeeper
from lease_scheduler.service.requests.uninstall import Uninstall
from lease_scheduler.service.site_engine import SiteEngine


def operations(engine: SiteEngine, enforcement: Enforcement, pool: PoolKeeper) -> Methods:
    """Return the methods that answer requests, by name.

    :param engine: the engine that they ask
    :param enforcement: asks the filters
    :param pool: registers hosts
    """
    plan = engine.plan
    leases, quotes = Leases(plan, enforcement), Quotes(plan, enforcement)
    series = SeriesKeeper(plan, leases)
    return methods_of(
        leases,
        quotes,
        Offers(plan, enforcement),
        Approvals(plan),
        Negotiations(plan, leases, quotes),
        pool,
        series,
        SubscriptionKeeper(plan),
        FeedKeeper(plan),
        FlowKeeper(plan),
        PeerKeeper(plan),
        ForecastReport(plan),
        BudgetReport(plan, enforcement),
        FewerHostsReport(plan),
        Uninstall(engine, leases, pool, series),
        Inspection(engine),
    )
