"""Options of the engine service."""

from __future__ import annotations

from oslo_config import cfg

from lease_scheduler.cmd.clouds.loader import configured_cloud
from lease_scheduler.cmd.meters import idle_options
from lease_scheduler.cmd.options.approval import approval_rules
from lease_scheduler.cmd.options.engine import engine_options
from lease_scheduler.cmd.options.subscriptions import subscription_options
from lease_scheduler.conf.values import flow_weights, watts
from lease_scheduler.engine.options import EngineOptions
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.prediction.bounds import check_probability
from lease_scheduler.service.options import ServiceOptions
from lease_scheduler.service.requests.enforcement.bounds import Bounds


def service_options(conf: cfg.ConfigOpts) -> ServiceOptions:
    """Return the options of the engine service."""
    group = conf.engine
    return ServiceOptions(
        engine=live_engine_options(conf),
        workers=group.workers,
        reconcile_interval=group.reconcile_interval,
        minutes_before_end=group.minutes_before_end,
        minutes_before_start=group.minutes_before_start,
        before_end=conf.blazar.before_end,
        preemption_warning=group.preemption_warning,
        announce_horizon=group.announce_horizon,
        guest_assurances=_guest_assurances(conf),
        quote_lifetime=conf.service.quote_lifetime,
        counter_offers=conf.service.counter_offers,
        replacement_offers=conf.service.replacement_offers,
        fallback_image_mb=conf.image_transfer.fallback_size,
        bounds=_bounds(conf),
        approval=approval_rules(conf),
        idle=idle_options(conf),
        needs_interval=conf.needs.interval,
        subscriptions=subscription_options(conf),
        maximum_feeds=conf.service.max_feeds,
        watts=watts(conf),
        flow_weights=flow_weights(conf),
        flow_donor_property=conf.scheduling.flow_donor_property,
    )


def live_engine_options(conf: cfg.ConfigOpts) -> EngineOptions:
    """Return the options of the engine of a real site, or of one of its pools."""
    return engine_options(
        conf,
        preparation_time=configured_cloud(conf).preparation_time,
        # The service explains refusals itself, with alternatives as values.
        explain_refusals=False,
        keeps_saved_work=True,
    )


def _guest_assurances(conf: cfg.ConfigOpts) -> tuple[float, ...]:
    found = tuple(conf.engine.guest_assurances)
    for each in found:
        check_probability("engine.guest_assurances", each)
    if len(set(found)) != len(found):
        raise InvalidValueError("engine.guest_assurances", "must name each probability once")
    return found


def _bounds(conf: cfg.ConfigOpts) -> Bounds:
    group = conf.enforcement
    if group.max_duration == 0:
        raise InvalidValueError("enforcement.max_duration", "must be -1 for no bound, or at least 1 s")
    return Bounds(
        max_duration=group.max_duration,
        max_lead_time=group.max_lead_time,
        max_held_offers=group.max_held_offers,
        max_unaccepted_time=group.max_unaccepted_time,
        exempt=frozenset(group.exempt_project_ids),
    )
