"""Group ``accounting``: what is recorded about simulated runs."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("accounting", title="Accounting of simulated runs")

OPTIONS: list[cfg.Opt] = [
    cfg.ListOpt(
        "probes",
        default=[],
        help="Probes that observe a run: names of entry points in the namespace lease_scheduler.probe. The package "
        "contains ar, best-effort, cpu-utilization, deadline, disk-usage, immediate, lease, lease-extras and price.",
    ),
    cfg.DictOpt(
        "attributes",
        default={},
        help="Attributes that identify the run, as name:value,name:value. They are written into the data file and "
        "into every line of the tables made from it. profile, tracefile, annotationfile and injectfile always have "
        "columns.",
    ),
    cfg.StrOpt("datafile", help="JSON file for the results of the probes. Without it, no such file is written."),
]
