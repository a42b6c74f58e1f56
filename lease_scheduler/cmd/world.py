"""``lease-sim world``: run several sites and gateways on one clock."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from lease_scheduler.cmd.lease_progress import lease_progress
from lease_scheduler.cmd.options.loading import load_configuration
from lease_scheduler.cmd.options.simulation import overhead_options, run_settings
from lease_scheduler.cmd.reading import read_with_bar, tell_left_out
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.loader import load_policies
from lease_scheduler.simulation.grid.grid import Grid, GridResult
from lease_scheduler.simulation.grid.reports import print_summary, write_files
from lease_scheduler.simulation.grid.spec import GatewaySpec, GridSpec, SiteSpec
from lease_scheduler.simulation.grid.world_file import SiteSection, WorldFile, read_world
from lease_scheduler.simulation.overheads import apply_overheads
from lease_scheduler.simulation.settings import StopWhen
from lease_scheduler.simulation.site_run import SiteRun
from lease_scheduler.simulation.workload import Workload

_NONE = Workload("no requests", ())


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = commands.add_parser(
        "world",
        help="run sites and gateways, each with its workload",
        description="Runs the sites and gateways that a file describes on one clock. Gateways negotiate and route as "
        "live ones do.",
    )
    parser.add_argument("file", metavar="FILE", help="description of the world (INI)")
    parser.add_argument("--seed", type=int, metavar="S", help="seed of all that is random, in place of the file's")
    parser.add_argument(
        "--output", metavar="DIR", help="where results go: requests.csv, summary.json and a folder for each site"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress, no summary")
    parser.set_defaults(func=world)


def world(given: argparse.Namespace) -> int:
    """Run the world named on the command line."""
    if given.seed is not None and given.seed < 0:
        raise InvalidValueError("--seed", f"must be at least 0, not {given.seed}")
    described = read_world(given.file)
    read: dict[str, Workload] = {}
    spec = _spec(described, read, quiet=given.quiet)
    if given.seed is not None:
        spec = replace(spec, seed=given.seed)
    workloads = [*(each.workload for each in spec.sites.values()), *(each.workload for each in spec.gateways)]
    requests = sum(len(each.leases) for each in workloads)
    grid = spec.make()
    if not given.quiet:
        tell_left_out(*read.items())
    result = _run(grid, given.file, requests, quiet=given.quiet)
    if given.output:
        written = write_files(result, given.output)
        if not given.quiet:
            print("Results: " + ", ".join(str(path) for path in written), file=sys.stderr)
    if not given.quiet:
        print_summary(result, Console())
    return 0


def _spec(described: WorldFile, read: dict[str, Workload], *, quiet: bool) -> GridSpec:
    """Return the world with the workloads that it names.

    :param read: where workloads are put as they are read, by name
    """

    def workload(name: str | None) -> Workload:
        if name is None:
            return _NONE
        if name not in read:
            read[name] = read_with_bar(name, quiet=quiet)
        return read[name]

    sites = {
        name: _site(described, name, section, workload(section.workload)) for name, section in described.sites.items()
    }
    gateways = tuple(
        GatewaySpec(section.members, section.settings, section.policies, workload(section.workload))
        for section in described.gateways.values()
    )
    return GridSpec(sites, gateways, described.seed)


def _site(described: WorldFile, name: str, section: SiteSection, workload: Workload) -> SiteSpec:
    place = f"site {name}"
    try:
        conf = load_configuration(section.config_files, section.overrides)
        settings = run_settings(conf)
        load_policies(settings.policies, PolicyOptions(settings.policy_options))
    except InvalidValueError as error:
        option = "set" if error.field in section.overrides or not section.config_files else "config-file"
        raise described.file.error(place, option, str(error)) from error
    if settings.stop_when is not StopWhen.ALL_LEASES_DONE:
        message = "simulation.stop_when: must be all-leases-done, as gateways ask until the end of the world"
        raise described.file.error(place, "set" if section.overrides else "config-file", message)
    hosts = section.hosts or workload.site
    if hosts is None:
        message = "is missing, and the workload names no hosts; write e.g. hosts = 4 CPU:100,Memory:1024"
        raise described.file.error(place, "hosts", message)
    own = apply_overheads(workload, overhead_options(conf))
    return SiteSpec(own, settings, hosts, section.speed, section.can_hold)


def _run(grid: Grid, name: str, requests: int, *, quiet: bool) -> GridResult:
    with lease_progress(Path(name).name, requests, quiet=quiet) as shown:
        if shown is None:
            return grid.execute()
        ended: dict[int, int] = {}

        def show(site: SiteRun) -> None:
            ended[id(site)] = site.ended()
            shown(sum(ended.values()), site.clock.now())

        return grid.execute([show])
