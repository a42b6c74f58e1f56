"""Options that say what a lease is to be, for all commands that ask for one."""

from __future__ import annotations

import argparse

from lease_scheduler.client import arguments
from lease_scheduler.model.documents import Document

KINDS = ("reservation", "immediate", "deadline", "best-effort")
PREEMPTION_MODES = ("shelve", "suspend", "stop", "delete", "migrate", "none")
ON_END = ("delete", "shelve", "snapshot", "keep")
#: The microversion that brought prices.
PRICES = "1.12"
#: That of counter-offers, prices of changes, and penalties.
NEGOTIATION = "1.15"

#: That of availability with and without preemption.
PREEMPTION_ADVICE = "1.17"
#: That of usage by steps of time.
USAGE_HISTORY = "1.14"

#: That of servers which boot from volumes.
_VOLUMES = "1.13"

_DATE = "UTC, as 2030-01-31T12:00, or with an offset, or now"
_DURATION = "as 2h30m, 1d, PT2H30M or seconds"


def add_terms(parser: argparse.ArgumentParser) -> None:
    """The options of a new lease."""
    parser.add_argument("name", metavar="<name>", help="Name of the lease")
    parser.add_argument("--kind", choices=KINDS, help="Kind of the lease (default: reservation)")
    parser.add_argument(
        "--nodes",
        metavar="<key=value,...>",
        type=arguments.node_set,
        action="append",
        help="Equal nodes: count=2,vcpus=4,memory_mb=8192,disk_gb=20,CUSTOM_GPU=1,trait=HW_CPU_X86_AVX512,"
        "properties=<query>,exclusive=true,per_host=1, or JSON; repeat for more",
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
    add_conduct(parser)
    parser.add_argument(
        "--max-price",
        metavar="<number>",
        type=arguments.money,
        help="Maximum price, if leases have prices; a lease that costs more is refused",
    )
    parser.add_argument(
        "--server",
        metavar="<key=value,...>",
        type=arguments.server,
        action="append",
        help="Servers that the service keeps running in the lease: name=web,image=<id>,count=2,node_set=0,network=<id>,"
        "port=<id>,key_name=<name>,security_group=<name>,user_data=<file>, or JSON; repeat for more",
    )


def add_times(parser: argparse.ArgumentParser) -> None:
    """When a lease is."""
    parser.add_argument("--start", metavar="<date>", help=f"Start; for a deadline lease, the earliest start ({_DATE})")
    parser.add_argument("--end", metavar="<date>", help="End")
    parser.add_argument("--duration", metavar="<duration>", help=f"Duration ({_DURATION})")
    parser.add_argument("--deadline", metavar="<date>", help="Date by which the whole duration must be delivered")
    parser.add_argument("--before-end", metavar="<date>", help="When to be notified that the end is near")


def add_conduct(parser: argparse.ArgumentParser) -> None:
    """How a lease is dealt with."""
    preemptible = parser.add_mutually_exclusive_group()
    preemptible.add_argument(
        "--preemptible",
        action="store_const",
        const=True,
        dest="preemptible",
        help="The lease may be interrupted for others",
    )
    preemptible.add_argument(
        "--not-preemptible",
        action="store_const",
        const=False,
        dest="preemptible",
        help="The lease may not be interrupted",
    )
    parser.add_argument(
        "--preemption-mode", choices=PREEMPTION_MODES, help="What happens to its servers when it is interrupted"
    )
    parser.add_argument("--on-end", choices=ON_END, help="What happens to its servers at the end (default: delete)")
    parser.add_argument(
        "--extra",
        metavar="<key=value>",
        type=arguments.key_value,
        action="append",
        help="Attribute to store with the lease; repeat for more",
    )


def add_price_of_change(parser: argparse.ArgumentParser) -> None:
    """What a lease may cost when it is changed."""
    parser.add_argument(
        "--max-price",
        metavar="<number>",
        type=arguments.money,
        help="Maximum price after the change; nothing is changed if the lease would cost more",
    )


#: Option -> key of the body, and the microversion that brought it.
_KEYS = {
    "name": ("name", "1.2"),
    "kind": ("kind", "1.2"),
    "nodes": ("nodes", "1.2"),
    "reservation": ("reservations", "1.2"),
    "start": ("start_date", "1.2"),
    "end": ("end_date", "1.2"),
    "before_end": ("before_end_date", "1.2"),
    "duration": ("duration", "1.2"),
    "deadline": ("deadline", "1.2"),
    "preemptible": ("preemptible", "1.2"),
    "preemption_mode": ("preemption_mode", "1.2"),
    "on_end": ("on_end", "1.3"),
    "server": ("servers", "1.3"),
    "max_price": ("max_price", PRICES),
    "hold": ("hold", PRICES),
    "counter_offers": ("counter_offers", NEGOTIATION),
}


def body_of(parsed: argparse.Namespace) -> Document:
    """The body that the options make; what is not given is not sent."""
    given = {option: value for option, value in vars(parsed).items() if option in _KEYS and value is not None}
    body: Document = {_KEYS[option][0]: value for option, value in given.items()}
    if getattr(parsed, "extra", None):
        body["extras"] = dict(parsed.extra)
    return body


def version_of(body: Document) -> str:
    """The lowest microversion that knows all keys of a body, and answers with kind and state."""
    of_key = dict(_KEYS.values())
    from_volumes = [_VOLUMES for server in body.get("servers", ()) if "volume" in server]
    return later(*(of_key.get(key, "1.2") for key in body), *from_volumes, "1.2")


def later(*versions: str) -> str:
    """The last one of microversions."""
    return max(versions, key=lambda version: [int(part) for part in version.split(".")])
