"""``lease-scheduler-manage calibrate``: measure how long Nova takes to suspend and resume servers (haizea F94)."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keystoneauth1.exceptions import ClientException as SessionError
from novaclient.exceptions import ClientException
from oslo_config import cfg
from rich.console import Console
from rich.progress import Progress

from lease_scheduler.calibration import findings, premises, report, servers
from lease_scheduler.calibration.accuracy import Accuracy, accuracies
from lease_scheduler.calibration.findings import Option, Size
from lease_scheduler.calibration.rounds import Round, is_hopeless, measure, rounds
from lease_scheduler.calibration.samples import PAIRS, Batch, MeasuredOperation
from lease_scheduler.calibration.servers import Kind, Servers
from lease_scheduler.calibration.times import ChosenTimes, NotifiedTimes, RecordedTimes, Times
from lease_scheduler.cloud.nova.api.notifications import NotificationListener
from lease_scheduler.cmd.clouds.nova import ConfiguredNova
from lease_scheduler.cmd.messaging import complete, listening_transport
from lease_scheduler.conf.values import planning_options
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.resources import DISK_GB, MEMORY_MB, VCPU, Resources
from lease_scheduler.plan.options import ShelvedSize

_WAYS = {way.value: way for way in PAIRS}

#: Seconds to wait for the broker.
_BROKER_LIMIT = 15.0

_WIDTH = 118

#: Exit status if some samples failed, or if the time model exceeds a bound of --check.
_IMPERFECT = 1


def add_to(commands: Any) -> None:
    """Add the command to the sub-commands of a parser (the result of ``add_subparsers``)."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "calibrate",
        help="measure how long servers take to be suspended, shelved and so on, for the options of the time model",
        description="Boots servers of its own on the hosts named, in the project of [nova], does everything with them "
        "that leases need, and deletes them. The exit status is 0 if all went well, 1 if some samples failed or a "
        "bound of --check is exceeded, 2 if it is refused.",
    )
    what = parser.add_argument_group("what is measured")
    what.add_argument("--flavor", metavar="NAME", help="id or name of the flavor to copy for the servers")
    what.add_argument("--image", metavar="NAME", help="id or name of their image")
    what.add_argument("--hosts", nargs="+", default=[], metavar="HOST", help="compute hosts")
    what.add_argument("--aggregate", metavar="NAME", help="host aggregate whose hosts are used, too")
    what.add_argument("--network", metavar="ID", help="network of the servers; default: none")
    what.add_argument(
        "--ways", nargs="+", choices=list(_WAYS), default=list(_WAYS), help="how servers are put away; default: all"
    )
    what.add_argument("--repetitions", type=int, default=25, metavar="N", help="number of single servers; default: 25")
    what.add_argument(
        "--at-once",
        type=int,
        nargs="*",
        default=[2],
        metavar="K",
        help="servers at the same time, on one host and each on its own, to see whether they take turns; default: 2",
    )
    what.add_argument(
        "--group-repetitions", type=int, default=5, metavar="N", help="repetitions of each group; default: 5"
    )
    what.add_argument(
        "--limit", type=float, default=600.0, metavar="SECONDS", help="maximum duration of one operation; default: 600"
    )
    what.add_argument("--busy-hosts", action="store_true", help="also use hosts that have servers or leases")
    out = parser.add_argument_group("what comes of it")
    out.add_argument(
        "--shelved-size",
        choices=[each.value for each in ShelvedSize],
        help="what the duration of shelving depends on; default: [scheduling] shelved_size",
    )
    out.add_argument("--output", type=Path, metavar="FILE", help="write the options to a file for oslo.config")
    out.add_argument("--json", type=Path, metavar="FILE", help="write every sample")
    out.add_argument(
        "--check", action="store_true", help="compare with the predictions of the time model, with the options in force"
    )
    out.add_argument("--clean", action="store_true", help="only remove what a killed run has left behind")
    parser.set_defaults(run=_run)


@dataclass(frozen=True)
class _Site:
    """The cloud to measure, and the flavor and image of its test servers.

    :ivar hosts: names of compute services
    """

    nova: Any
    hosts: Sequence[str]
    flavor: Any
    image: str


def _run(conf: cfg.ConfigOpts, options: argparse.Namespace) -> None:
    if not (conf.nova.auth_type or conf.nova.auth_section):
        raise InvalidValueError("nova.auth_type", "is needed to log in to Nova")
    try:
        nova = ConfiguredNova(conf).connection().nova
        if options.clean:
            found, flavors = servers.clean(nova, options.limit)
            print(f"{found} servers and {flavors} flavors were removed")
            return
        _check(options)
        status = _calibrate(conf, options, _look(nova, options))
    except (ClientException, SessionError) as error:
        raise InvalidValueError("nova", f"does not answer as it should: {error}") from error
    if status:
        raise SystemExit(status)


def _check(options: argparse.Namespace) -> None:
    """Check the arguments.

    :raises InvalidValueError: an argument is missing or has a bad value; the error names the first one
    """
    for name in ("flavor", "image"):
        if getattr(options, name) is None:
            raise InvalidValueError(f"--{name}", "is needed")
    if not options.hosts and options.aggregate is None:
        raise InvalidValueError("--hosts", "is needed, or --aggregate")
    for flag, value, least in (
        ("--repetitions", options.repetitions, 2),
        ("--group-repetitions", options.group_repetitions, 1),
        ("--at-once", min(options.at_once, default=2), 2),
        ("--limit", options.limit, 1),
    ):
        if not value >= least:
            raise InvalidValueError(flag, f"must be at least {least}")
    for flag, path in (("--output", options.output), ("--json", options.json)):
        if path is not None and (path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK)):
            raise InvalidValueError(flag, f"{path} cannot be written")


def _look(nova: Any, options: argparse.Namespace) -> _Site:
    hosts = premises.services(nova, options.hosts, options.aggregate)
    flavor = premises.find_flavor(nova, options.flavor)
    image = premises.find_image(nova, options.image)
    premises.check_left(nova)
    if not options.busy_hosts:
        premises.check_free(nova, hosts)
    premises.check_quota(nova, flavor, max(options.at_once, default=1))
    return _Site(nova, hosts, flavor, image)


def _calibrate(conf: cfg.ConfigOpts, options: argparse.Namespace, site: _Site) -> int:
    size = _size(conf, options, site.flavor)
    planned = rounds(site.hosts, options.repetitions, sorted(set(options.at_once)), options.group_repetitions)
    begun = time.time()
    with _times(conf, site.nova) as times:
        batches = _measure(options, site, times, planned)
    setting = report.Setting(begun, site.flavor.name, size, options.image, site.hosts, times.name)
    found = findings.options(batches, size)
    checks = accuracies(batches, _needs(site.flavor), planning_options(conf)) if options.check else []
    _tell(batches, size, checks, found)
    _write(options.output, report.configuration(setting, found))
    _write(options.json, report.document(setting, batches, found, checks))
    failed = any(sample.problem for batch in batches for sample in batch.samples)
    return _IMPERFECT if failed or not all(each.is_kept for each in checks) else 0


def _size(conf: cfg.ConfigOpts, options: argparse.Namespace, flavor: Any) -> Size:
    shelved = ShelvedSize(options.shelved_size or conf.scheduling.shelved_size)
    if shelved is ShelvedSize.DISK and not flavor.disk and MeasuredOperation.SHELVE.value in options.ways:
        raise InvalidValueError("--flavor", "has no disk, on which [scheduling] shelved_size = disk makes times depend")
    return Size(flavor.ram, flavor.disk * 1024, shelved)


def _needs(flavor: Any) -> Resources:
    return Resources({VCPU: flavor.vcpus, MEMORY_MB: flavor.ram, DISK_GB: flavor.disk})


@contextmanager
def _times(conf: cfg.ConfigOpts, nova: Any) -> Iterator[Times]:
    """Yield the source of measured times: Nova's notifications if a broker answers, otherwise Nova's records."""
    topics = conf.nova.notification_topics
    if not topics:
        yield RecordedTimes(nova)
        return
    complete(conf)
    listener = NotificationListener(
        lambda: listening_transport(conf, conf.nova.notification_transport_url),
        conf.nova.notification_exchange,
        topics,
        # Its own queue, so that it takes no notifications away from an engine.
        f"lease-scheduler-calibration.{uuid.uuid4()}",
        queue_ttl=60.0,
    )
    notified = NotifiedTimes()
    listener.start_with(notified)
    try:
        if listener.is_listening(_BROKER_LIMIT):
            yield ChosenTimes(notified, RecordedTimes(nova))
        else:
            _say("no broker answers, so times are exact to the second only; see [nova] notification_transport_url")
            yield RecordedTimes(nova)
    finally:
        listener.stop()


def _measure(options: argparse.Namespace, site: _Site, times: Times, planned: Sequence[Round]) -> list[Batch]:
    """Carry out all rounds, and remove the servers and flavors that they made."""
    batches: list[Batch] = []
    with _terminable():
        try:
            kind = Kind(site.image, servers.make_flavor(site.nova, site.flavor).id, options.network)
            ways = [_WAYS[name] for name in _WAYS if name in options.ways]
            ours = Servers(site.nova, times, options.limit)
            console = Console(stderr=True)
            with Progress(console=console, disable=not console.is_terminal) as progress:
                task = progress.add_task("", total=len(planned))
                for number, each in enumerate(planned, start=1):
                    progress.update(task, description=each.in_words)
                    if not console.is_terminal:
                        _say(f"{number} of {len(planned)}: {each.in_words}")
                    measure(ours, kind, each, ways, _keeper(batches))
                    progress.advance(task)
                    if is_hopeless(batches):
                        _say("no server boots; the rest is left out")
                        break
        finally:
            _say("what was made is removed")
            servers.clean(site.nova, options.limit)
    return batches


def _keeper(batches: list[Batch]) -> Callable[[Batch], None]:
    def keep(batch: Batch) -> None:
        batches.append(batch)
        for sample in batch.samples:
            if sample.problem:
                _say(f"failed on {sample.host}: {sample.problem}")

    return keep


@contextmanager
def _terminable() -> Iterator[None]:
    """Make a termination signal end the program with an exception, as Ctrl-C does, so that it cleans up."""

    def end(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except KeyboardInterrupt:
        raise SystemExit(128 + signal.SIGINT) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _tell(batches: Sequence[Batch], size: Size, checks: Sequence[Accuracy], found: Sequence[Option]) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    console.print(report.single(batches, size))
    groups = report.at_once(batches)
    if groups is not None:
        console.print(groups)
    if checks:
        console.print(report.accuracy(checks))
    for option in found:
        print(f"[{option.group}] {option.name} = {option.value}")


def _write(path: Path | None, content: str) -> None:
    if path is not None:
        path.write_text(content)
        print(f"written: {path}")


def _say(text: str) -> None:
    print(text, file=sys.stderr)
