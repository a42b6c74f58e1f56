"""Check, by its configuration, whether a nova-scheduler applies the filter and the weigher: no API of Nova tells.

Run it where nova-scheduler runs, with its Python and its configuration files::

    python3 -m lease_scheduler.nova.check --config-file /etc/nova/nova.conf

The exit status is 0 if it does, and 1 if it does not or the configuration cannot be read. A nova-scheduler that has not
been restarted since the last change of its files may still run without them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import nova.conf
from nova.scheduler import filters, weights
from oslo_config import cfg

from lease_scheduler.nova import options
from lease_scheduler.nova.lease_filter import LeaseFilter
from lease_scheduler.nova.lease_weigher import LeaseWeigher


def problems(group: Any) -> list[str]:
    """Return what a configuration lacks, in lines for operators.

    :param group: Nova's group ``filter_scheduler``
    :raises ImportError: a filter or weigher cannot be loaded, and so nova-scheduler cannot be started
    """
    available = filters.HostFilterHandler().get_matching_classes(group.available_filters)
    by_name = {each.__name__: each for each in available}
    found = []
    if not any(issubclass(each, LeaseFilter) for each in available):
        found.append(
            "[filter_scheduler] available_filters lacks lease_scheduler.nova.lease_filter.LeaseFilter: "
            "any server may come to hosts of leases"
        )
    if not any(issubclass(by_name.get(name, object), LeaseFilter) for name in group.enabled_filters):
        found.append("[filter_scheduler] enabled_filters lacks LeaseFilter: any server may come to hosts of leases")
    weighers = weights.HostWeightHandler().get_matching_classes(group.weight_classes)
    if not any(issubclass(each, LeaseWeigher) for each in weighers):
        found.append(
            "[filter_scheduler] weight_classes lacks lease_scheduler.nova.lease_weigher.LeaseWeigher: "
            "servers of managed leases may not get their planned hosts"
        )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the configuration that the arguments name, or else the one that nova-scheduler finds by itself."""
    conf = nova.conf.CONF
    try:
        conf(
            sys.argv[1:] if arguments is None else list(arguments), project="nova", prog="nova-scheduler", version="any"
        )
        lines = problems(conf.filter_scheduler)
        freepool = options.register(conf).freepool
    except (cfg.Error, ValueError, ImportError) as error:
        lines = [f"nova-scheduler cannot use this configuration: {error}"]
    for line in lines:
        print(line, file=sys.stderr)
    if not lines:
        print(f"LeaseFilter and LeaseWeigher are loaded; the pool is the aggregate {freepool}")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
