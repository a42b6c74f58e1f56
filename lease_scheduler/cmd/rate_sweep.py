"""``lease-sim rate-sweep``: compute what a workload would earn at many rates, without scheduling (haizea F89)."""

from __future__ import annotations

import argparse

import numpy as np

from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.pricing.adaptive import Adaptive
from lease_scheduler.simulation.formats.files import replace_file
from lease_scheduler.simulation.formats.lwfa import annotate, read_annotations
from lease_scheduler.simulation.rate_sweep import RATES, adaptive_rate, median_rate, sweep_rates
from lease_scheduler.simulation.reports.tables import ratesweep_csv
from lease_scheduler.simulation.shipped import load_workload

#: Attributes with the distributions of the annotations, as in Haizea's files of the pricing experiments.
_LAWS = ("tau", "delta", "mu")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the sub-command to the parser."""
    parser = commands.add_parser(
        "rate-sweep",
        help="compute what a workload earns at each of many rates",
        description=f"For rates of {RATES[0]:.2f} to {RATES[-1]:.2f} by the node-hour: what is earned, what is lost by "
        "asking too little and what because users turn it down, if every lease could be had. What users would pay "
        "stands in the attribute simul_userrate of leases. Prints where the policy 'adaptive' would end.",
    )
    parser.add_argument("workload", help="SWF or LWF file, plain or gzip, or a shipped one")
    parser.add_argument("--annotations", metavar="FILE", help="annotations (LWFA) to apply")
    parser.add_argument("--output", metavar="FILE", required=True, help="CSV file to write")
    parser.add_argument("--rate", metavar="MONEY", default="1.0", help="initial rate of 'adaptive' (1.0)")
    parser.add_argument("--up", metavar="FACTOR", default="1.5", help="its pricing_up (1.5)")
    parser.add_argument("--down", metavar="FACTOR", default="0.5", help="its pricing_down (0.5)")
    parser.add_argument("--percentile", metavar="SHARE", default="0.5", help="its pricing_percentile (0.5)")
    parser.add_argument("--resolution", metavar="SHARE", default="0.001", help="its pricing_resolution (0.001)")
    parser.set_defaults(func=rate_sweep)


def rate_sweep(given: argparse.Namespace) -> int:
    """Sweep the rates for the workload named on the command line."""
    policy = Adaptive(
        PolicyOptions(
            {
                f"pricing_{name}": str(getattr(given, name))
                for name in ("rate", "up", "down", "percentile", "resolution")
            }
        )
    )
    workload = load_workload(given.workload)
    if given.annotations is not None:
        workload = annotate(workload, read_annotations(given.annotations))
    swept = sweep_rates(workload)
    files = {"tracefile": workload.name, **({"annotationfile": given.annotations} if given.annotations else {})}
    laws = {name: workload.attributes[name] for name in _LAWS if name in workload.attributes}
    replace_file(given.output, ratesweep_csv(swept, {**files, **laws}).encode())
    rates = {
        "median of the requests": median_rate(workload),
        "where adaptive ends": adaptive_rate(workload, policy),
        "what earns most": swept.best_rate,
    }
    print(f"{given.output}: {len(swept.rates)} rates, {len(workload.leases)} leases")
    for name, rate in rates.items():
        (earned,) = sweep_rates(workload, np.array([rate])).earned
        print(f"{name}: {rate:.2f}, earns {earned:.2%} of what users would pay")
    return 0
