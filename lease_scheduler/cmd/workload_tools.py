"""Sub-commands that make, change and describe workload files: convert, inject, annotate, generate and stats."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterable, Mapping

from rich import box
from rich.console import Console
from rich.table import Table

from lease_scheduler.cmd.reading import read_with_bar, tell_left_out
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.simulation.formats.azure import AzureOptions
from lease_scheduler.simulation.formats.lwf import read_site, write_lwf
from lease_scheduler.simulation.formats.lwfa import Annotations, annotate, read_annotations, write_annotations
from lease_scheduler.simulation.formats.swf import SwfOptions
from lease_scheduler.simulation.formats.swf_writer import write_swf
from lease_scheduler.simulation.formats.times import parse_duration
from lease_scheduler.simulation.generators.annotations import generate_annotations, generate_positional_annotations
from lease_scheduler.simulation.generators.configuration import GeneratorConfiguration, read_generator_configuration
from lease_scheduler.simulation.generators.reservations import generate_reservations, preset_by_name
from lease_scheduler.simulation.injection import inject
from lease_scheduler.simulation.shipped import SHIPPED_SEED, shipped_names
from lease_scheduler.simulation.statistics import QUANTILES, Share, Spread, WorkloadStatistics, describe
from lease_scheduler.simulation.workload import Workload

_DAY = 86_400
_FORMATS = "SWF, LWF, older file of Haizea or VMs of Azure, plain or compressed, or a shipped one: "
_WORKLOAD = _FORMATS + ", ".join(shipped_names())
_OUTPUT = "file to write: SWF if its name ends in .swf, else LWF; gzip with .gz behind that"

#: Value of --memory: the memory that each job requested.
_REQUESTED = "requested"


def add_parsers(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-commands. Each sets ``func``, a function that takes the arguments and returns the exit status.

    It raises ``InputFileError`` or ``InvalidValueError`` for errors that the user can correct.
    """
    _add_convert(subparsers)
    _add_inject(subparsers)
    _add_annotate(subparsers)
    _add_generate(subparsers)
    _add_stats(subparsers)


def _add_convert(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "convert", help="turn a log or an old workload file into LWF, or a workload into SWF"
    )
    parser.add_argument("input", help=_WORKLOAD)
    parser.add_argument("--output", required=True, help=_OUTPUT)
    parser.add_argument("--site", metavar="FILE", help="the hosts, as the <site> of an LWF in a file of its own")
    parser.add_argument("--stats", action="store_true", help="describe the workload, too")
    _add_log_options(parser)
    parser.set_defaults(func=_convert)


def _add_inject(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("inject", help="merge workloads, e.g. reservations into a log")
    parser.add_argument("base", help=_WORKLOAD)
    parser.add_argument("injected", nargs="+", metavar="FILE", help="workload to merge into it, as above")
    parser.add_argument("--output", required=True, help=_OUTPUT)
    parser.set_defaults(func=_inject)


def _add_annotate(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("annotate", help="apply starts, deadlines, images and rates to a workload")
    parser.add_argument("workload", nargs="?", help=_WORKLOAD)
    parser.add_argument(
        "--count", type=_whole_number, metavar="N", help="instead of a workload: make N annotations for any workload"
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--annotations", metavar="FILE", help="annotations (LWFA)")
    source.add_argument("--generate", metavar="CONF", help="generator configuration to draw annotations from")
    _add_seed(parser)
    parser.add_argument("--annotations-only", action="store_true", help="write the annotations (LWFA), no workload")
    parser.add_argument("--output", required=True, help=_OUTPUT)
    parser.set_defaults(func=_annotate)


def _add_generate(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("generate", help="make a workload of advance reservations")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--preset",
        metavar="NAME",
        help="T10, T20, T30, or U<5..30 %%>_N<small|medium|large>_D<1..4>h, e.g. U20_Nmedium_D3h",
    )
    source.add_argument("--conf", metavar="FILE", help="generator configuration")
    _add_seed(parser)
    parser.add_argument("--output", required=True, help=_OUTPUT)
    parser.set_defaults(func=_generate)


def _add_stats(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("stats", help="describe a workload")
    parser.add_argument("workload", help=_WORKLOAD)
    parser.add_argument("--annotations", metavar="FILE", help="annotations (LWFA) to apply first")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON instead of tables")
    form.add_argument("--brief", action="store_true", help="leave out the classes of sizes and durations")
    _add_log_options(parser)
    parser.set_defaults(func=_stats)


def _add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed",
        type=_whole_number,
        help=f"seed of all random numbers, before any seed of the configuration (default {SHIPPED_SEED})",
    )


def _add_log_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which part of a log is kept")
    group.add_argument("--begin", type=_seconds, default=0, metavar="TIME", help="[DD:]HH:MM:SS or seconds; becomes 0")
    group.add_argument("--length", type=_seconds, metavar="TIME", help="keep what arrives this long after --begin")
    group = parser.add_argument_group("how VMs of Azure become leases")
    group.add_argument("--sample", type=float, default=1.0, metavar="SHARE", help="keep this share of the batches")
    group.add_argument("--seed", type=_whole_number, default=1, metavar="N", help="of that choice and of the durations")
    group = parser.add_argument_group("how the jobs of an SWF log become leases")
    group.add_argument("--queues", type=_queues, metavar="N,N...", help="keep jobs of these queues")
    group.add_argument("--scale", type=_whole_number, default=1, metavar="N", help="processors per node (default 1)")
    group.add_argument(
        "--memory",
        type=_memory,
        default=1024,
        metavar="MB",
        help=f"of each node (default 1024), or the word {_REQUESTED} for what each job says",
    )
    group.add_argument(
        "--nodes", type=_whole_number, metavar="N", help="hosts of the site (default: as the header of the log says)"
    )
    group.add_argument(
        "--without-requested-time",
        choices=("use-run-time", "skip"),
        default="use-run-time",
        help="what becomes of jobs without a requested time: they last as long as they ran, or are left out",
    )
    group.add_argument(
        "--preemptible", action=argparse.BooleanOptionalAction, default=True, help="whether leases may be interrupted"
    )


def _swf_options(arguments: argparse.Namespace) -> SwfOptions:
    return SwfOptions(
        begin=arguments.begin,
        length=arguments.length,
        queues=arguments.queues,
        scale=arguments.scale,
        memory_mb=None if arguments.memory == _REQUESTED else arguments.memory,
        nodes=arguments.nodes,
        preemptible=arguments.preemptible,
        without_requested_time=arguments.without_requested_time,
    )


def _azure_options(arguments: argparse.Namespace) -> AzureOptions:
    return AzureOptions(arguments.begin, arguments.length, arguments.sample, arguments.seed)


def _convert(arguments: argparse.Namespace) -> int:
    read = workload = read_with_bar(arguments.input, _swf_options(arguments), _azure_options(arguments))
    if arguments.site is not None:
        if arguments.nodes is not None:
            raise InvalidValueError("--nodes", "does not go with --site, which says how many there are")
        workload = dataclasses.replace(workload, site=read_site(arguments.site))
    _write(workload, arguments.output)
    tell_left_out((arguments.input, read))
    if arguments.stats:
        _print_tables(describe(workload, arguments.length), Console(), brief=True)
    return 0


def _inject(arguments: argparse.Namespace) -> int:
    parts = [(name, read_with_bar(name)) for name in (arguments.base, *arguments.injected)]
    _write(inject(*(part for _, part in parts)), arguments.output)
    tell_left_out(*parts)
    return 0


def _annotate(arguments: argparse.Namespace) -> int:
    if (arguments.workload is None) == (arguments.count is None):
        raise InvalidValueError("WORKLOAD", "name a workload, or else say --count")
    if arguments.count is not None and (arguments.generate is None or not arguments.annotations_only):
        raise InvalidValueError("--count", "goes with --generate and --annotations-only")
    workload = None if arguments.workload is None else read_with_bar(arguments.workload)
    annotations = _annotations(arguments, workload)
    if workload is None or arguments.annotations_only:
        write_annotations(annotations, arguments.output)
        print(f"{arguments.output}: {len(annotations.entries)} annotations")
    else:
        _write(annotate(workload, annotations), arguments.output)
    if workload is not None:
        tell_left_out((arguments.workload, workload))
    return 0


def _annotations(arguments: argparse.Namespace, workload: Workload | None) -> Annotations:
    if arguments.annotations is not None:
        if arguments.seed is not None:
            raise InvalidValueError("--seed", "goes with --generate only; leave it out with --annotations")
        return read_annotations(arguments.annotations)
    configuration, seed = _configuration(arguments.generate, arguments.seed)
    if configuration.annotations.is_empty:
        raise InvalidValueError("--generate", f"{arguments.generate} has no section that annotates leases")
    if workload is None:
        return generate_positional_annotations(configuration.annotations, arguments.count, seed, configuration.seeds)
    return generate_annotations(configuration.annotations, workload, seed, configuration.seeds)


def _generate(arguments: argparse.Namespace) -> int:
    if arguments.preset is not None:
        seed = SHIPPED_SEED if arguments.seed is None else arguments.seed
        workload = generate_reservations(preset_by_name(arguments.preset), seed)
    else:
        configuration, seed = _configuration(arguments.conf, arguments.seed)
        workload = configuration.generate(seed)
    _write(workload, arguments.output)
    return 0


def _configuration(path: str, seed: int | None) -> tuple[GeneratorConfiguration, int]:
    configuration = read_generator_configuration(path)
    if seed is None:
        return configuration, SHIPPED_SEED
    return dataclasses.replace(configuration, seeds={}), seed


def _write(workload: Workload, output: str) -> None:
    if output.removesuffix(".gz").endswith(".swf"):
        write_swf(workload, output)
    else:
        write_lwf(workload, output)
    print(f"{output}: {len(workload.leases)} leases")


def _stats(arguments: argparse.Namespace) -> int:
    read = workload = read_with_bar(arguments.workload, _swf_options(arguments), _azure_options(arguments))
    if arguments.annotations is not None:
        workload = annotate(workload, read_annotations(arguments.annotations))
    statistics = describe(workload, arguments.length)
    tell_left_out((arguments.workload, read))
    if arguments.json:
        json.dump({**dataclasses.asdict(statistics), "quantile_levels": QUANTILES}, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        _print_tables(statistics, Console(), brief=arguments.brief)
    return 0


def _print_tables(statistics: WorkloadStatistics, console: Console, *, brief: bool) -> None:
    console.print(_overview(statistics))
    sizes = {
        "nodes": statistics.nodes,
        "requested": statistics.requested,
        "real": statistics.actual,
        "gap": statistics.interarrival,
        "wait (log)": statistics.recorded_wait,
        "slowdown (log)": statistics.recorded_slowdown,
    }
    terms = {
        "start delay": statistics.start_delay,
        "deadline slack": statistics.deadline_slack,
        "user rate": statistics.user_rate,
    }
    for title, named in (("Spread (times in s)", sizes), ("Terms (times in s)", terms)):
        spreads = {name: spread for name, spread in named.items() if spread is not None}
        if spreads:
            console.print(_spreads(title, spreads))
    if brief:
        return
    console.print(_classes("Nodes", statistics.node_classes, statistics.leases))
    console.print(_classes("Requested duration", statistics.duration_classes, statistics.leases))


def _overview(statistics: WorkloadStatistics) -> Table:
    table = Table("figure", "value", title=f"Workload {statistics.name}", box=box.SIMPLE)
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in statistics.kinds.items())
    table.add_row("leases", f"{statistics.leases:,} ({kinds})")
    table.add_row("preemptible", f"{statistics.preemptible:,}")
    table.add_row("known users", f"{statistics.users:,}")
    table.add_row("first, last submission (s)", f"{statistics.first_submission:,}, {statistics.last_submission:,}")
    table.add_row("at most 4 nodes", f"{statistics.at_most_4_nodes:.2%}")
    table.add_row("at most 1 hour", f"{statistics.at_most_1_hour:.2%}")
    table.add_row("longer in the log than requested", f"{statistics.overruns:,}")
    load = statistics.load
    if load is None:
        table.add_row("load", "unknown: the workload names no site (for a log: --nodes)")
    else:
        table.add_row(f"load of {load.hosts:,} hosts in {load.window / _DAY:g} days", f"{load.full:.2%}")
        table.add_row("load, cut at requests and window", f"{load.clipped:.2%}")
        table.add_row("load without ramp-up", f"{load.without_ramp_up:.2%}")
    return table


def _spreads(title: str, spreads: Mapping[str, Spread]) -> Table:
    table = Table("", title=title, box=box.SIMPLE)
    for name in spreads:
        table.add_column(name, justify="right")
    table.add_row("mean", *(_figure(spread.mean) for spread in spreads.values()))
    table.add_row("minimum", *(_figure(spread.minimum) for spread in spreads.values()))
    for index, level in enumerate(QUANTILES):
        table.add_row(f"{level:.0%}", *(_figure(spread.quantiles[index]) for spread in spreads.values()))
    table.add_row("maximum", *(_figure(spread.maximum) for spread in spreads.values()))
    return table


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def _classes(title: str, shares: Iterable[Share], leases: int) -> Table:
    table = Table(title=title, box=box.SIMPLE)
    table.add_column("class")
    table.add_column("leases", justify="right")
    table.add_column("share", justify="right")
    for share in shares:
        table.add_row(share.label, f"{share.count:,}", f"{share.count / leases:.1%}")
    return table


def _seconds(text: str) -> int:
    try:
        return parse_duration(text, "time")
    except InvalidValueError as error:
        raise argparse.ArgumentTypeError(error.problem) from error


def _whole_number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 0, not {text!r}")
    return int(text)


def _memory(text: str) -> int | str:
    return text if text == _REQUESTED else _whole_number(text)


def _queues(text: str) -> frozenset[int]:
    return frozenset(_whole_number(part.strip()) for part in text.split(","))
