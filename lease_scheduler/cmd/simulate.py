"""``lease-sim run``: run one workload through the engine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lease_scheduler.cmd.lease_progress import lease_progress
from lease_scheduler.cmd.options.loading import load_configuration
from lease_scheduler.cmd.options.simulation import overhead_options, run_settings
from lease_scheduler.cmd.reading import read_with_bar, tell_left_out
from lease_scheduler.haizea.configuration.haizea_conf import HaizeaConf, read_haizea_conf
from lease_scheduler.haizea.simulated_status import SimulatedStatusMessages
from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.simulation.formats.data_file import write_data_file
from lease_scheduler.simulation.formats.lwfa import annotate, read_annotations
from lease_scheduler.simulation.formats.resource_names import parse_site
from lease_scheduler.simulation.injection import inject
from lease_scheduler.simulation.overheads import apply_overheads
from lease_scheduler.simulation.reports.gantt import draw_gantt
from lease_scheduler.simulation.reports.summary import print_summary
from lease_scheduler.simulation.reports.tables import write_results
from lease_scheduler.simulation.result import RunResult
from lease_scheduler.simulation.run import Run
from lease_scheduler.simulation.shipped import shipped_names
from lease_scheduler.simulation.site_run import Watcher
from lease_scheduler.simulation.workload import Workload

#: Hosts of the machine on which the workload BLUE1 was recorded.
_DEFAULT_RESOURCES = "144 CPU:100,Memory:1024"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = commands.add_parser(
        "run",
        help="run a workload and report the results",
        description="Runs a workload through the engine on a simulated cloud. Shipped workloads: "
        + ", ".join(shipped_names()),
    )
    parser.add_argument(
        "workload",
        nargs="?",
        metavar="WORKLOAD",
        help=".swf[.gz], .lwf (XML or ten columns), VMs of Azure or a shipped name; a Haizea configuration may name it",
    )
    parser.add_argument(
        "--inject", action="append", default=[], metavar="FILE", help="merge another workload in; may be repeated"
    )
    parser.add_argument("--annotate", metavar="FILE", help="annotations (LWFA) for the merged workload")
    parser.add_argument("--haizea-conf", metavar="FILE", help="take the options from a configuration file of Haizea")
    parser.add_argument(
        "--config-file",
        action="append",
        default=[],
        metavar="FILE",
        help="options in oslo.config's format; may be repeated",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="GROUP.OPTION=VALUE",
        help="set one option; takes precedence over files",
    )
    parser.add_argument(
        "--output", metavar="DIR", help="where results go: leases.csv, summary.json, gantt.png and more"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress, no summary")
    parser.set_defaults(func=simulate)


def simulate(given: argparse.Namespace) -> int:
    """Run the workload named on the command line."""
    haizea = read_haizea_conf(given.haizea_conf) if given.haizea_conf else None
    overrides = {**(haizea.overrides if haizea else {}), **_assignments(given.set)}
    conf = load_configuration([_readable(path) for path in given.config_file], overrides)
    settings = run_settings(conf)
    data_file = _data_file(conf.accounting.datafile, haizea)
    parts = _parts(given, haizea)
    workload = _workload(given, haizea, [part for _, part in parts])
    workload = replace(workload, site=_site(workload, haizea, conf.simulation.resources))
    workload = apply_overheads(workload, overhead_options(conf))
    run = Run(workload, settings)
    if not given.quiet:
        tell_left_out(*parts)
    result = _run(run, _status_messages(haizea), quiet=given.quiet)
    if given.output:
        _report(result, Path(given.output), quiet=given.quiet)
    if data_file is not None:
        write_data_file(result.accounting, result.workload_name, data_file)
    if not given.quiet:
        print_summary(result)
    return 0


def _data_file(name: str | None, haizea: HaizeaConf | None) -> Path | None:
    """Return the path of the data file, from our options, else from Haizea's configuration; None for no file."""
    path = Path(name) if name else haizea.data_file if haizea is not None else None
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise InvalidValueError("accounting.datafile", f"{path} is no file in a folder that is there; make the folder")
    return path


def _site(workload: Workload, haizea: HaizeaConf | None, resources: str | None) -> Site:
    """Return the hosts: from our options, else from Haizea's configuration, else from the workload."""
    if resources is not None:
        return parse_site(resources)
    if haizea is not None and haizea.site is not None:
        return haizea.site
    return workload.site or parse_site(_DEFAULT_RESOURCES)


def _assignments(texts: list[str]) -> dict[str, str]:
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or "." not in name:
            raise InvalidValueError("--set", f"must be GROUP.OPTION=VALUE, not {text!r}")
        values[name.strip()] = value.strip()
    return values


def _readable(path: str) -> Path:
    if not Path(path).is_file():
        raise InputFileError(path, None, "there is no such file")
    return Path(path)


def _parts(given: argparse.Namespace, haizea: HaizeaConf | None) -> list[tuple[str, Workload]]:
    """Return (name, workload) of the workload and of those to inject, by the command line or Haizea's configuration."""
    name = given.workload or (str(haizea.tracefile) if haizea is not None else None)
    if name is None:
        raise InvalidValueError("WORKLOAD", "name a file or one of " + ", ".join(shipped_names()))
    injected = given.inject or ([str(haizea.injectionfile)] if haizea is not None and haizea.injectionfile else [])
    beginning = haizea.start_time if haizea is not None else None
    return [(each, read_with_bar(each, beginning=beginning, quiet=given.quiet)) for each in (name, *injected)]


def _workload(given: argparse.Namespace, haizea: HaizeaConf | None, parts: Sequence[Workload]) -> Workload:
    """Return the workload with injections and annotations."""
    annotations = given.annotate or (haizea.annotationfile if haizea is not None else None)
    workload, *others = parts
    if others:
        names = " + ".join(part.name for part in parts)
        workload = replace(inject(workload, *others), name=names)
    if annotations:
        workload = annotate(workload, read_annotations(annotations))
    return workload


def _status_messages(haizea: HaizeaConf | None) -> list[Watcher]:
    if haizea is None or haizea.status_message_interval is None:
        return []
    return [SimulatedStatusMessages(haizea.status_message_interval * 60, haizea.start_time)]


def _run(run: Run, watchers: Sequence[Watcher], *, quiet: bool) -> RunResult:
    with lease_progress(run.workload.name, len(run.workload.leases), quiet=quiet) as shown:
        if shown is None:
            return run.execute(watchers)
        return run.execute((*watchers, lambda site: shown(site.ended(), site.clock.now())))


def _report(result: RunResult, directory: Path, *, quiet: bool) -> None:
    try:
        written = write_results(result, directory, result.accounting.attributes)
        draw_gantt(result, directory / "gantt.png")
    except OSError as error:
        raise InputFileError(str(directory), None, f"results cannot be written: {error.strerror}") from error
    if not quiet:
        print("Results: " + ", ".join(str(path) for path in (*written, directory / "gantt.png")), file=sys.stderr)
