"""Options for the terms of a lease, which several commands share."""

from __future__ import annotations

import argparse

from lease_scheduler.client import arguments
from lease_scheduler.model.attributes import (
    Amount,
    Attribute,
    Choice,
    Flag,
    Pairs,
    Part,
    Probability,
    Span,
    Text,
    Whole,
)
from lease_scheduler.model.documents import Document
from lease_scheduler.records.attributes import ATTRIBUTES

KINDS = ("reservation", "immediate", "deadline", "best-effort")
#: Microversion of prices.
PRICES = "1.12"
#: Microversion of counter-offers, prices of changes, and penalties.
NEGOTIATION = "1.15"
#: Microversion of answers to the warning that a lease will be preempted.
READY = "1.29"

#: Microversion of leases that show since when they are idle.
IDLE = "1.21"

#: Microversion of pools.
POOLS = "1.26"

#: Microversion of assured lifetimes.
ASSURANCE = "1.30"
CAPACITY = "1.32"
FORECASTS = "1.33"
#: Microversion of fluid leases.
FLUID = "1.34"
#: Microversion of the yields of fluid leases with fewer hosts.
FEWER_HOSTS = "1.35"
#: Microversion of leases and quotes that show when they are preempted, and by when they end.
INTERRUPTIONS = "1.39"
#: Microversion of budgets.
BUDGETS = "1.41"
#: Microversion of leases that await approval.
APPROVAL = "1.42"
#: Microversion of offers of kinds that have no start in their terms.
HOLDS = "1.45"
#: Microversion of leases that show their site behind a gateway.
SITE_OF_LEASE = "1.49"
#: Microversion of gateways that show their sites, and ask only the site that a request names.
SITES = "1.51"
#: Kinds of leases that may be planned with interruptions.
INTERRUPTED = frozenset({"best-effort", "deadline"})
#: Kinds of leases without a start in their terms.
WITHOUT_START = frozenset({"best-effort", "immediate"})

#: Microversion of availability with and without preemption.
PREEMPTION_ADVICE = "1.17"
#: Microversion of ids that clients choose.
CHOSEN_IDS = "1.18"
#: Microversion of nested resource providers.
GROUPS = "1.24"
#: Microversion of usage by steps of time.
USAGE_HISTORY = "1.14"

#: Microversion of servers that boot from volumes.
_VOLUMES = "1.13"
#: Microversion of nodes whose size may be smaller than asked for, and of quotes and leases that show what was granted.
ELASTIC = "1.23"

#: The name of a lease has an argument of its own.
_NAME = next(each for each in ATTRIBUTES if each.name == "name")
_GIVEN = tuple(each for each in ATTRIBUTES if each.given is not None and each is not _NAME and not each.of_peers)
_CHANGED = tuple(each for each in ATTRIBUTES if each.changed is not None and each is not _NAME)
#: Attributes whose options have other names.
_OPTIONS = {"extras": "extra"}

_DATE = "UTC, as 2030-01-31T12:00, or with an offset, or now"
_DURATION = "as 2h30m, 1d, PT2H30M or seconds"


def add_terms(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a new lease."""
    parser.add_argument("name", metavar="<name>", help="Name of the lease")
    parser.add_argument("--kind", choices=KINDS, help="Kind of the lease (default: reservation)")
    parser.add_argument(
        "--nodes",
        metavar="<key=value,...>",
        type=arguments.node_set,
        action="append",
        help="Equal nodes: count=2,vcpus=4,memory_mb=8192,disk_gb=20,CUSTOM_GPU=1,trait=HW_CPU_X86_AVX512,"
        "group=VGPU:1@CUSTOM_NVIDIA_11,properties=<query>,exclusive=true,per_host=1, or JSON; vcpus=4-8 for as many as "
        "are free, at least 4; repeat for more",
    )
    parser.add_argument(
        "--reservation",
        metavar="<key=value,...>",
        type=arguments.reservation,
        action="append",
        help="Instead of nodes, a reservation as in Blazar: resource_type=physical:host,min=1,max=2, or JSON; "
        "repeat for more",
    )
    add_times(parser)
    add_attributes(parser, *_GIVEN)
    parser.add_argument(
        "--server",
        metavar="<key=value,...>",
        type=arguments.server,
        action="append",
        help="Servers that the service keeps running in the lease: name=web,image=<id>,count=2,node_set=0,network=<id>,"
        "port=<id>,key_name=<name>,security_group=<name>,user_data=<file>, or JSON; repeat for more",
    )


def add_times(parser: argparse.ArgumentParser) -> None:
    """Add the options for the times of a lease."""
    parser.add_argument("--start", metavar="<date>", help=f"Start; for a deadline lease, the earliest start ({_DATE})")
    parser.add_argument("--end", metavar="<date>", help="End")
    parser.add_argument("--duration", metavar="<duration>", help=f"Duration ({_DURATION})")
    parser.add_argument("--deadline", metavar="<date>", help="Date by which the whole duration must be delivered")
    parser.add_argument("--before-end", metavar="<date>", help="When to be notified that the end is near")


def add_changed_attributes(parser: argparse.ArgumentParser) -> None:
    """Add the options for attributes of a lease that can be changed."""
    add_attributes(parser, *_CHANGED)


def add_attributes(parser: argparse.ArgumentParser, *attributes: Attribute) -> None:
    """Add the options for attributes of a lease."""
    for each in attributes:
        option = f"--{_OPTIONS.get(each.name, each.name).replace('_', '-')}"
        match each.kind:
            case Text():
                parser.add_argument(option, dest=each.name, metavar="<text>", help=each.help)
            case Amount():
                parser.add_argument(option, dest=each.name, metavar="<number>", type=arguments.money, help=each.help)
            case Span():
                parser.add_argument(option, dest=each.name, metavar="<duration>", help=each.help)
            case Probability():
                parser.add_argument(
                    option, dest=each.name, metavar="<number>", type=arguments.probability, help=each.help
                )
            case Part():
                parser.add_argument(option, dest=each.name, metavar="<number>", type=arguments.part, help=each.help)
            case Whole():
                parser.add_argument(option, dest=each.name, metavar="<number>", type=arguments.positive, help=each.help)
            case Choice():
                parser.add_argument(option, dest=each.name, choices=each.kind.texts, help=each.help)
            case Pairs():
                parser.add_argument(
                    option,
                    dest=each.name,
                    metavar="<key=value>",
                    type=arguments.key_value,
                    action="append",
                    help=each.help,
                )
            case Flag():
                either = parser.add_mutually_exclusive_group()
                either.add_argument(option, dest=each.name, action="store_const", const=True, help=each.help)
                either.add_argument(
                    option.replace("--", "--not-", 1),
                    dest=each.name,
                    action="store_const",
                    const=False,
                    help=f"The opposite of {option}",
                )


def add_price_of_change(parser: argparse.ArgumentParser) -> None:
    """Add the option for the maximum price of a changed lease."""
    parser.add_argument(
        "--max-price",
        metavar="<number>",
        type=arguments.money,
        help="Maximum price after the change; nothing is changed if the lease would cost more",
    )


#: Key of the body for each option, and the microversion that added it.
_KEYS = {
    "id": ("id", CHOSEN_IDS),
    "kind": ("kind", "1.2"),
    "nodes": ("nodes", "1.2"),
    "reservation": ("reservations", "1.2"),
    "start": ("start_date", "1.2"),
    "end": ("end_date", "1.2"),
    "before_end": ("before_end_date", "1.2"),
    "duration": ("duration", "1.2"),
    "deadline": ("deadline", "1.2"),
    "server": ("servers", "1.3"),
    "hold": ("hold", PRICES),
    "site": ("site", SITES),
    "counter_offers": ("counter_offers", NEGOTIATION),
}


def body_of(parsed: argparse.Namespace) -> Document:
    """Return the body for the options that are given."""
    given = {option: value for option, value in vars(parsed).items() if value is not None}
    body: Document = {key: given[option] for option, (key, _) in _KEYS.items() if option in given}
    for each in (_NAME, *_GIVEN):
        if each.name in given:
            body[each.name] = dict(given[each.name]) if isinstance(each.kind, Pairs) else given[each.name]
    return body


def version_of(body: Document) -> str:
    """Return the lowest microversion that knows all keys of a new lease, and answers with kind and state."""
    from_volumes = [_VOLUMES for server in body.get("servers", ()) if "volume" in server]
    nested = [GROUPS for nodes in body.get("nodes", ()) if "groups" in nodes]
    of_attributes = [each.given for each in _GIVEN if each.name in body and each.given is not None]
    elastic = [ELASTIC for nodes in body.get("nodes", ()) if "least_resources" in nodes]
    by_key = [since for key, since in _KEYS.values() if key in body]
    return later(*by_key, *of_attributes, *from_volumes, *elastic, *nested, "1.2")


def version_of_change(body: Document) -> str:
    """Return the lowest microversion that knows all keys of a change, and answers with kind and state."""
    of_attributes = [each.changed for each in _CHANGED if each.name in body and each.changed is not None]
    return later(*(since for key, since in _KEYS.values() if key in body), *of_attributes, "1.2")


def later(*versions: str) -> str:
    """Return the latest of some microversions."""
    return max(versions, key=lambda version: [int(part) for part in version.split(".")])
