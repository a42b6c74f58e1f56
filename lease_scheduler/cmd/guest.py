"""``lease-scheduler-guest``: lets the nodes of a Slurm cluster come and go as leases."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openstack
from keystoneauth1.exceptions import ClientException
from openstack.exceptions import SDKException
from oslo_config import cfg
from oslo_log import log

from lease_scheduler.cmd.guest_configuration import PROGRAM, PROJECT, SHOW, check, read
from lease_scheduler.cmd.signals import EndingSignals
from lease_scheduler.guest.errors import GuestError, WrongSettingError
from lease_scheduler.guest.handlers import ScriptHandlers, WebhookHandlers
from lease_scheduler.guest.interfaces import Handlers
from lease_scheduler.guest.loading import load_controller
from lease_scheduler.guest.members import Membership
from lease_scheduler.guest.nodes import Margins
from lease_scheduler.guest.pool import HandlerPool
from lease_scheduler.guest.records import Records, only_guest
from lease_scheduler.guest.rounds import Pauses, Rounds, Terms
from lease_scheduler.guest.site import SdkSite
from lease_scheduler.guest.slurm.queue import Slurm
from lease_scheduler.guest.values import Limits

LOG = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run until a signal ends the program."""
    conf = cfg.ConfigOpts()
    conf.register_cli_opt(SHOW)
    log.register_options(conf)
    try:
        read(sys.argv[1:] if arguments is None else arguments, conf)
        check(conf)
        log.setup(conf, PROJECT)
        _run(conf)
    except (cfg.Error, GuestError, ValueError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        raise SystemExit(2) from error


def _run(conf: cfg.ConfigOpts) -> None:
    database = Path(conf.guest.database)
    if conf.show:
        _show(Records(database))
        return
    with only_guest(database):
        records, pool = Records(database), HandlerPool(conf.guest.handlers)
        rounds = _rounds(conf, records, pool)
        signals = EndingSignals()
        print(f"leases of at most {conf.guest.nodes} nodes, controller {conf.guest.controller}", flush=True)
        rounds.round()
        while not signals.wait(conf.guest.interval):
            rounds.round()
        pool.stop()
        records.close()


def _rounds(conf: cfg.ConfigOpts, records: Records, pool: HandlerPool) -> Rounds:
    group = conf.guest
    limits = Limits(group.nodes, group.term, group.setup_time, group.lookahead, group.renewable)
    controller = load_controller(group.controller, limits)
    queue, site = Slurm(group.partitions, group.slurm_time), _site(conf)
    margins = Margins(group.drain_margin, group.requeue_margin, group.force_after)
    membership = Membership(records, queue, site, _handlers(conf), pool, margins)
    pauses = Pauses(group.refusal_pause)
    return Rounds(records, queue, site, controller, membership, _terms(conf), pauses, lambda: int(time.time()))


def _site(conf: cfg.ConfigOpts) -> SdkSite:
    """Return the site; no connection is made yet.

    :raises WrongSettingError: clouds.yaml has no such cloud, or its entry is wrong
    """
    try:
        return SdkSite(openstack.connect(cloud=conf.guest.cloud, api_timeout=conf.guest.site_time))
    except (SDKException, ClientException) as error:
        raise WrongSettingError("guest.cloud", f"{error}; see clouds.yaml") from error


def _handlers(conf: cfg.ConfigOpts) -> Handlers:
    group = conf.guest
    if group.handler_script:
        return ScriptHandlers(group.handler_script, group.handler_time)
    return WebhookHandlers(group.handler_url, group.handler_secret or "", group.handler_time)


def _terms(conf: cfg.ConfigOpts) -> Terms:
    group = conf.guest
    try:
        further: Any = json.loads(group.lease_attributes)
    except ValueError as error:
        raise WrongSettingError("guest.lease_attributes", f"is not JSON: {error}") from error
    if not isinstance(further, dict):
        raise WrongSettingError("guest.lease_attributes", 'must be a JSON object, such as {"pool": "gpu"}')
    for name in ("id", "duration", "nodes", "kind", "name"):
        if name in further:
            raise WrongSettingError("guest.lease_attributes", f"must not have {name}, which the guest decides")
    # Requeued jobs need nothing of what a server had, so the servers of a preempted lease need not be kept.
    mode = {"preemption_mode": "delete"} if group.kind == "best-effort" else {}
    return Terms(
        {"name": group.lease_name, "kind": group.kind, **mode, **further}, {"resources": dict(group.resources)}
    )


def _show(records: Records) -> None:
    """Print leases and nodes, one per line, and the mean set-up time."""
    for lease in records.leases():
        job = "" if lease.job is None else f" for job {lease.job}"
        print(f"lease {lease.id}: {lease.units} nodes for {lease.term} s{job}, {lease.stage.value}")
    for node in records.nodes():
        print(f"node {node.name}: {node.state.value}" + (f" with lease {node.lease_id}" if node.lease_id else ""))
    setups = records.setups()
    if setups:
        print(f"set-up: {sum(setups) / len(setups):.0f} s on average of {len(setups)}")
    records.close()
