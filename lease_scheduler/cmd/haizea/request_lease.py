"""``haizea-request-lease``: request leases by XML, by options, or by OpenNebula templates (haizea F21, F22)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from lease_scheduler.cmd.haizea.clients import client_parser, with_refusals
from lease_scheduler.haizea.frontend.caller import call
from lease_scheduler.haizea.frontend.lease_xml import MAXIMUM_SIZE, WrittenLease, write_lease
from lease_scheduler.haizea.frontend.templates import cpu_units, leases_of, parse_template
from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.service.core.clock import RealClock
from lease_scheduler.simulation.formats.resource_names import parse_count
from lease_scheduler.simulation.formats.times import parse_duration, parse_moment

_WORDS = {"now": LeaseKind.IMMEDIATE, "best_effort": LeaseKind.BEST_EFFORT}

#: Options of a request without a file, and whether each of them is required.
_TERMS = {
    "start": True,
    "duration": True,
    "numnodes": True,
    "cpu": True,
    "mem": True,
    "preemptible": False,
    "vmimage": False,
    "vmimagesize": False,
}


@with_refusals
def main(arguments: Sequence[str] | None = None) -> int:
    """Request leases, and print their ids."""
    given = _parser().parse_args(arguments)
    for text in _requests(given):
        number = call(given.server, "create_lease", text)
        print("Lease submitted correctly.")
        print(f"Lease ID: {number}", flush=True)
    return 0


def _requests(given: argparse.Namespace) -> list[str]:
    """Return the requests as XML. All files are read before the first request is submitted."""
    named = [f"--{name}" for name in _TERMS if getattr(given, name) is not None]
    files = ["--file"] * (given.file is not None) + ["--template"] * (given.template is not None)
    if len(files) + bool(named) > 1:
        both = (*files, *named[:1])
        raise InvalidValueError(both[0], f"goes without {both[1]}; say in one way what is wanted")
    if given.file is not None:
        return [_content(given.file)]
    if given.template is not None:
        templates = [parse_template(_content(path), str(path)) for path in given.template]
        return [write_lease(lease) for lease in leases_of(templates, RealClock().now())]
    missing = [f"--{name}" for name, is_needed in _TERMS.items() if is_needed and getattr(given, name) is None]
    if missing:
        raise InvalidValueError(missing[0], "is needed, or --file or --template")
    return [write_lease(_lease(given))]


def _lease(given: argparse.Namespace) -> WrittenLease:
    kind, start = _WORDS.get(given.start.lower()), None
    if kind is None:
        kind, start = LeaseKind.RESERVATION, parse_moment(given.start, "--start", RealClock().now())
    if given.vmimagesize is not None and given.vmimage is None:
        raise InvalidValueError("--vmimagesize", "goes with --vmimage; name the image")
    size = 0 if given.vmimagesize is None else parse_count(given.vmimagesize, "--vmimagesize")
    resources = Resources({VCPU: cpu_units(given.cpu, "--cpu"), MEMORY_MB: parse_count(given.mem, "--mem", least=1)})
    duration = parse_duration(given.duration, "--duration")
    if duration < 1:
        raise InvalidValueError("--duration", "must be at least a second")
    return WrittenLease(
        kind=kind,
        nodes=(NodeSet(parse_count(given.numnodes, "--numnodes", least=1), resources),),
        preemptible=bool(given.preemptible),
        duration=duration,
        start=start,
        software=None if given.vmimage is None else DiskImage(given.vmimage, size),
    )


def _content(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAXIMUM_SIZE + 1)
        if len(content) > MAXIMUM_SIZE:
            raise InputFileError(str(path), None, f"has more than {MAXIMUM_SIZE} bytes")
        return content.decode()
    except OSError as error:
        raise InputFileError(str(path), None, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputFileError(str(path), None, f"is not UTF-8 text ({error.reason})") from error


def _parser() -> argparse.ArgumentParser:
    parser = client_parser("haizea-request-lease", "Asks for a lease.")
    parser.add_argument("-f", "--file", type=Path, metavar="FILE", help="the lease in XML")
    parser.add_argument(
        "--template",
        type=Path,
        metavar="FILE",
        nargs="+",
        help="templates of VMs as in OpenNebula; a VM without a section HAIZEA starts now and has no end",
    )
    parser.add_argument(
        "-t", "--start", help="+HH:MM:SS from now, a date and time (UTC without an offset), now, or best_effort"
    )
    parser.add_argument("-d", "--duration", help="[DD:]HH:MM:SS, or unlimited")
    parser.add_argument("-n", "--numnodes", metavar="COUNT", help="nodes")
    parser.add_argument("--preemptible", action="store_true", default=None, help="the lease may be interrupted")
    parser.add_argument(
        "--non-preemptible",
        action="store_false",
        default=None,
        dest="preemptible",
        help="the lease may not be interrupted",
    )
    parser.add_argument("-c", "--cpu", metavar="CPUS", help="CPUs of a node; 0.5 is half of one")
    parser.add_argument("-m", "--mem", metavar="MB", help="memory of a node")
    parser.add_argument("-i", "--vmimage", metavar="ID", help="disk image")
    parser.add_argument("-z", "--vmimagesize", metavar="MB", help="size of the disk image")
    return parser
