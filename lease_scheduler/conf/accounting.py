"""Group ``accounting``: what is written down of simulated runs."""

from __future__ import annotations

from oslo_config import cfg

GROUP = cfg.OptGroup("accounting", title="Accounting of simulated runs")

OPTIONS: list[cfg.Opt] = [
    cfg.ListOpt(
        "probes",
        default=[],
        help="What looks at a run: names of probes (entry points lease_scheduler.probe). Shipped are ar, best-effort, "
        "cpu-utilization, deadline, disk-usage, immediate, lease, lease-extras and price.",
    ),
    cfg.DictOpt(
        "attributes",
        default={},
        help="What says which run it was, as name:value,name:value. It is written into the data file and stands in "
        "every line that is made of it; profile, tracefile, annotationfile and injectfile have columns in any case.",
    ),
    cfg.StrOpt("datafile", help="File that what the probes wrote down goes to, as JSON; none without this."),
]
