"""``lease-scheduler-manage uninstall``: remove from a cloud everything that the service made there."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from oslo_config import cfg

from lease_scheduler.cmd.election import engine_leads
from lease_scheduler.cmd.operator import LOOK_LIMIT, OPERATOR
from lease_scheduler.cmd.own_engine import engine_at_rest, own_engine
from lease_scheduler.cmd.wiring import engine_client
from lease_scheduler.model.errors import EngineUnavailableError, InvalidValueError, RefusedError
from lease_scheduler.service.requests.uninstall import lines, list_all, refuse_live_leases, refuse_mistakes

#: Real seconds between two checks of the progress.
_PAUSE = 1.0

GoOn = Callable[[], dict[str, Any]]


def add_to(commands: Any) -> None:
    """Add the command to the sub-commands of a parser (the result of ``add_subparsers``)."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "uninstall",
        help="give all hosts back and remove what was made in the cloud for leases",
        description="Can be repeated, for example after it was killed. The exit status is 0 when nothing is left.",
    )
    parser.add_argument("--dry-run", action="store_true", help="only print what would end and be removed")
    parser.add_argument(
        "--end-leases",
        action="store_true",
        help="have leases end that are not over: each server goes as at the end of its lease; without it, live leases"
        " are a reason to refuse",
    )
    parser.add_argument(
        "--keep-providers",
        action="store_true",
        help="leave the empty resource providers of slots, so that no nova-compute has to be reloaded",
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=3_600,
        metavar="SECONDS",
        help="maximum time (default: 3600); the next call continues",
    )
    parser.set_defaults(run=_run)


def _run(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    leads = engine_leads(conf)
    if options.dry_run:
        try:
            found = _list(conf, leads=leads)
        except RefusedError as error:
            raise InvalidValueError("uninstall", error.message) from error
        for line in lines(found):
            print(line)
        print("nothing was changed")
        return
    if not leads:
        _refuse(conf, end_leases=options.end_leases)
    with _going_on(conf, options, leads=leads) as go_on:
        answer = _until_over(go_on, options.limit)
    if answer["reload"]:
        print(
            "reload nova-compute (SIGHUP), so that it forgets providers that are gone: " + ", ".join(answer["reload"])
        )
    print("nothing is left in the cloud" + ("; stop the engines now" if leads else ""))


def _list(conf: cfg.ConfigOpts, *, leads: bool) -> dict[str, Any]:
    if leads:
        return engine_client(conf, LOOK_LIMIT).list_installed(OPERATOR)
    with engine_at_rest(conf) as engine:
        return list_all(engine.plan)


def _refuse(conf: cfg.ConfigOpts, *, end_leases: bool) -> None:
    """Refuse the command, if necessary, before this process starts an engine, which would carry out what is due.

    :raises InvalidValueError: there are live leases, or the service's own objects in the cloud cannot be identified
    """
    with engine_at_rest(conf) as engine:
        try:
            refuse_mistakes(engine.plan)
            if not end_leases:
                refuse_live_leases(engine.plan)
        except RefusedError as error:
            raise InvalidValueError("uninstall", error.message) from error


@contextmanager
def _going_on(conf: cfg.ConfigOpts, options: argparse.Namespace, *, leads: bool) -> Iterator[GoOn]:
    """Yield a function that continues the uninstallation, in the engine that leads or else in this process."""
    arguments = {"end_leases": options.end_leases, "keep_providers": options.keep_providers}
    if leads:
        client = engine_client(conf, LOOK_LIMIT)
        yield lambda: client.uninstall(OPERATOR, **arguments)
        return
    with own_engine(conf) as methods:
        yield lambda: methods["uninstall"](OPERATOR, **arguments)


def _until_over(go_on: GoOn, limit: float) -> dict[str, Any]:
    end = time.monotonic() + limit
    said = ""
    while True:
        try:
            answer = go_on()
        except RefusedError as error:
            raise InvalidValueError("uninstall", error.message) from error
        if answer["is_over"]:
            return answer
        now = ", ".join(f"{name.replace('_', ' ')}: {answer[name]}" for name in ("leases", "operations", "left_over"))
        if now != said:
            print(f"left: {now}", flush=True)
            said = now
        if time.monotonic() > end:
            raise EngineUnavailableError(f"not over after {limit:.0f} s; left: {now}; run it again to go on")
        time.sleep(_PAUSE)
